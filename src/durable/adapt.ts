import { join } from 'node:path';
import type { GateAnswer, ToolEnd } from '../../machines/toolCall.js';
import { INTERRUPTED } from '../messages/resume.js';
import type { ResultStore } from '../results/index.js';
import { safeFileName } from '../results/store.js';
import { runTool } from '../session/ports/tool.js';
import type { CallProvider, Services } from '../session/services.js';
import { messageOf } from '../tool/errors.js';
import { durableModel } from './durableModel.js';
import type { DurableFlow } from './flow.js';
import { isLive } from './live.js';
import { type Post, warnOf } from './post.js';
import type { TaskDesk } from './taskDesk.js';
import type { TaskEnds } from './taskEnds.js';
import { applyToolStep, runToolStep, type ToolStep } from './toolStep.js';

/** Tools that only wait for a person or for a session of their own: what they wait for is written down, so they are not. */
const INLINE: ReadonlySet<string> = new Set(['AskUserQuestion', 'Agent']);

export interface AdaptOptions {
  /** The session on Restate: that of a subagent is its main session. Messages go to it. */
  readonly sessionId: string;
  readonly flow: DurableFlow;
  readonly desk: TaskDesk;
  readonly post: Post;
  readonly tasks: TaskEnds;
}

/** Puts the durable world in place of this process's, for a session or one of its subagents. */
export function adaptServices(services: Services, options: AdaptOptions): void {
  const { sessionId, flow, post } = options;
  const { hooks, results, decide, classify, notify, spendOn } = services;
  if (services.agent === undefined) Object.assign(services.model, { client: durableModel(services.model.client, flow) });
  Object.assign(services, {
    clock: flow.clock,
    results: durableResults(results, flow),
    decide:
      decide &&
      ((...[question, input, signal]: Parameters<typeof decide>) =>
        flow.step(question.id, () => decide(question, input, signal), { signal })),
    classify:
      classify &&
      ((...[question, input, signal]: Parameters<typeof classify>) =>
        flow.step(question.id, () => classify(question, input, signal), { signal })),
  });
  const run = hooks.run;
  hooks.run = async (request, { signal, onRun, onStart }) => {
    const result = await flow.step(request.id, (live) => run(request, { signal: live, ...(onStart ? { onStart } : {}) }), { signal });
    if (!isLive()) for (const one of result.runs) onRun?.(one);
    return result;
  };
  // What a hook asks the model is part of the hook's answer, which is read from the journal everywhere but here: counted here alone, two
  // attempts would come to different sums.
  services.spendOn = (usage) => {
    if (!isLive()) spendOn(usage);
  };
  services.notify = (text, id) => {
    if (!isLive()) return notify(text, id);
    // A background hook has spoken: what it says comes back as a message, in its place in the journal.
    const own = id ?? flow.newId();
    post(sessionId, { type: 'notify', text }, own).catch(warnOf('A notification'));
    return own;
  };
  services.provider = createProvider(services, options);
}

function createProvider(services: Services, { sessionId, flow, desk, tasks }: AdaptOptions): CallProvider {
  /** The attempt in which a call's facts were gathered, and after how many answers. */
  const gathered = new Map<string, { readonly attempt: string; readonly deliveries: number }>();

  const own = services.sessionId;
  const allow = (callId: string): string => {
    desk.allow(own, callId, flow.attempt);
    return flow.attempt;
  };

  /** The attempt that may begin the call. Where something stood between the decision and its facts, that is written down anew. */
  const beginner = async (callId: string, signal: AbortSignal): Promise<string> => {
    const facts = gathered.get(callId);
    gathered.delete(callId);
    if (facts?.deliveries === flow.deliveries) return facts.attempt;
    return flow.step(`begin:${callId}`, async () => allow(callId), { signal });
  };

  return {
    watch: (answer) => flow.watch(answer),
    ask: (id, work, signal) => flow.step(id, work, { signal }),
    gather: (callId, work, answer) => {
      const written = flow.step(`facts:${callId}`, async () => ({ facts: work(), attempt: allow(callId) }), { ofPort: false });
      written.then(
        ({ facts, attempt }) => {
          gathered.set(callId, { attempt, deliveries: flow.deliveries });
          answer(facts);
        },
        (error: unknown) => answer(broken(error)),
      );
    },
    call: async (record, signal) => {
      const tool = record.tool;
      if (tool === undefined || INLINE.has(tool.name)) {
        flow.inlineCalls++;
        return runTool(record, services, signal).finally(() => {
          flow.inlineCalls--;
        });
      }
      const { id } = record.call;
      services.journal({ type: 'call.started', callId: id, tool: tool.name });
      const by = tool.idempotent ? undefined : await beginner(id, signal);
      // The work runs only where the journal has no answer. What another process was to begin may have happened there.
      const work = async (live: AbortSignal): Promise<ToolStep> =>
        by === undefined || desk.begin(own, id, by) ? runToolStep(runTool, record, services, live, { desk, sessionId }) : UNKNOWN;
      const step = await flow.step(`tool:${id}`, work, { signal });
      applyToolStep(step, record, services);
      for (const task of step.tasks) tasks.adopt(task, id, services);
      return step.end;
    },
  };
}

const UNKNOWN: ToolStep = {
  end: { kind: 'failed', durationMs: 0, message: INTERRUPTED },
  output: { error: { message: INTERRUPTED, partialOutput: null } },
  changes: null,
  files: [],
  tasks: [],
} satisfies { end: ToolEnd } & ToolStep;

const broken = (error: unknown): GateAnswer => ({
  type: 'gate.broke',
  gate: 'gathering permission facts',
  reason: messageOf(error),
});

/** Files are written by whoever does the step; where they are is known to every attempt. */
function durableResults(store: ResultStore, flow: DurableFlow): ResultStore {
  return {
    dir: store.dir,
    put: (name, data) => {
      if (isLive()) return store.put(name, data);
      const saved = flow.step(`save:${name}`, async () => (await store.put(name, data).done) ?? null);
      return {
        path: join(store.dir, safeFileName(name)),
        done: saved.then(
          (failure) => failure ?? undefined,
          (error: unknown) => String(error),
        ),
      };
    },
    flush: () => store.flush(),
  };
}
