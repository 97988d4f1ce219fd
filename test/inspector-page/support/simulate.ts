import { createHash } from 'node:crypto';
import { Observable } from 'rxjs';
import { type AnyActorRef, createActor, fromEventObservable, fromPromise } from 'xstate';
import { executorMachine, permissionMachine, queryMachine, sessionMachine, toolCallMachine, turnMachine } from '../../../machines/index.js';
import type { ExecutorOutput } from '../../../machines/protocol.js';
import type { SessionStart } from '../../../machines/session.js';
import type { CallPortInput, GateAnswer, Report, ResolvedTool, ToolEnd } from '../../../machines/toolCall.js';
import type { TurnAddress } from '../../../machines/turn.js';
import type { HookResult } from '../../../src/hooks/types.js';
import type { Breakpoint } from '../../../src/inspect/index.js';
import { DebugGate, type InspectedSystem, inspectFlow } from '../../../src/inspect/index.js';
import type { ModelStreamEvent } from '../../../src/model/types.js';
import type { PermissionAnswer, PermissionDecision, PermissionFacts } from '../../../src/permissions/types.js';
import { quietFacts } from '../../../src/testing/machines.js';
import type { AbortReason } from '../../../src/tool/call.js';
import type { ValidationVerdict } from '../../../src/tool/types.js';
import type { CallScript, TurnScript } from './story.js';
import { VirtualTime } from './virtualTime.js';

const noFacts: PermissionFacts = {
  ...quietFacts,
  modeVerdict: { behavior: 'passthrough', reason: 'Mode default decides nothing by itself' },
};

type AttachInput = TurnAddress & { readonly executed: ExecutorOutput | null; readonly abort: AbortReason | null };

export interface Simulation {
  readonly system: InspectedSystem;
  readonly time: VirtualTime;
  readonly gate: DebugGate;
  readonly root: AnyActorRef;
}

/**
 * Plays scripted turns on the library's own machines with its own adapter: the flow a session would tell, with times of our
 * choosing and no model, tool or person.
 */
export async function simulate(
  turns: readonly TurnScript[],
  options: { readonly name?: string; readonly startedAt?: number; readonly breakpoints?: readonly Breakpoint[] } = {},
): Promise<Simulation> {
  const time = new VirtualTime();
  const startedAt = options.startedAt ?? Date.UTC(2026, 10, 30, 9, 0, 0);
  const gate = new DebugGate({ breakpoints: options.breakpoints ?? [] });
  const calls = new Map<string, CallScript>();
  let system: InspectedSystem | undefined;
  let callNumber = 0;
  const sessions: { readonly turns: readonly TurnScript[]; at: number }[] = [];
  const scriptOf = (callId: string): CallScript => calls.get(callId) ?? { tool: 'Unknown', input: {} };
  const wait = (ms: number): Promise<void> => time.after(ms);
  const later = <Answer>(self: { send(event: Answer): void }, ms: number, answer: Answer): void => {
    void wait(ms).then(() => self.send(answer));
  };

  const permission = permissionMachine.provide({
    actors: {
      askPerson: fromPromise(async ({ input }) => {
        const script = scriptOf(input.callId);
        const question = {
          id: `ask:${input.callId}`,
          toolUseId: input.callId,
          toolName: script.tool,
          title: title(script),
          input: script.input,
          inputDigest: input.inputDigest,
          askedBy: input.cause,
          suggestions: script.facts?.suggestions ?? [],
        };
        const answer = await new Promise<PermissionAnswer>((resolve) => {
          const settle = system?.desk.open(question, (given) => {
            resolve(given);
            return undefined;
          });
          const planned = script.answer;
          if (!planned) return;
          void wait(planned.after).then(() => {
            settle?.('terminal', planned.behavior);
            const source = { type: 'person', surface: 'terminal' } as const;
            resolve(
              planned.behavior === 'allow' ? { behavior: 'allow', source } : { behavior: 'deny', message: 'The user said no.', source },
            );
          });
        });
        return { callId: input.callId, inputDigest: input.inputDigest, answer };
      }),
    },
  });

  const toolCall = toolCallMachine.provide({
    actors: {
      permission,
      validateInput: fromPromise<ValidationVerdict, CallPortInput>(async () => {
        await wait(3);
        return { ok: true };
      }),
      runPreToolUseHooks: fromPromise<HookResult, CallPortInput>(async ({ input }) => {
        const { hooks = [], facts } = scriptOf(input.callId);
        for (const run of hooks) {
          await wait(run.ms);
          system?.sink.hookRun(run, input.callId);
        }
        const verdict = facts?.hook ?? { behavior: 'passthrough' };
        return { runs: hooks, verdict, additionalContext: [], systemMessages: [], notices: [] } satisfies HookResult;
      }),
      callTool: fromPromise<ToolEnd, CallPortInput>(async ({ input, self }) => {
        const script = scriptOf(input.callId);
        const started = time.now;
        const { progress = [], runs = 30 } = script;
        if (script.agent) await runAgent(script.agent, self);
        for (const message of progress) {
          await wait(runs / (progress.length + 1));
          system?.sink.progress(input.callId, { message });
        }
        await wait(script.agent ? 5 : runs / (progress.length + 1));
        const durationMs = time.now - started;
        return script.fails === undefined
          ? { kind: 'succeeded', durationMs, hasModifier: false }
          : { kind: 'failed', durationMs, message: script.fails };
      }),
      reportResult: fromPromise<Report, CallPortInput & { readonly end: ToolEnd; readonly abort: AbortReason | null }>(
        async ({ input }) => {
          await wait(4);
          return { isError: scriptOf(input.callId).fails !== undefined, resultSize: 200, preventContinuation: false };
        },
      ),
    },
    actions: {
      weighCall: ({ context, self }) =>
        later(self, 1, { type: 'call.weighed', safe: scriptOf(context.call.id).safe ?? false, resourceKeys: [] }),
      resolveTool: ({ context, self }) => later(self, 1, { type: 'tool.resolved', tool: toolOf(scriptOf(context.call.id)) }),
      parseInput: ({ context, self }) => {
        const script = scriptOf(context.call.id);
        const answer: GateAnswer =
          script.invalid === undefined ? { type: 'input.accepted' } : { type: 'input.refused', message: script.invalid };
        later(self, 2, answer);
      },
      gatherFacts: ({ context, self }) =>
        later(self, 2, {
          type: 'facts.gathered',
          facts: { ...noFacts, ...scriptOf(context.call.id).facts },
          digest: digest(scriptOf(context.call.id)),
        }),
      mapResult: ({ self }) => self.send({ type: 'result.awaited' }),
      noteDecision: ({ context }, { decision }: { readonly decision: PermissionDecision }) => {
        const script = scriptOf(context.call.id);
        const mode = script.facts?.mode ?? 'default';
        system?.sink.decision({ toolUseId: context.call.id, toolName: script.tool, mode, decision, input: script.input });
      },
      fixResult: ({ context }) => {
        const { outcome, call } = context;
        if (!outcome) return;
        const script = scriptOf(call.id);
        system?.sink.result({
          toolUseId: call.id,
          toolName: script.tool,
          outcome,
          body: script.fails ?? script.output ?? outcome.message ?? '',
        });
      },
    },
  });

  const turn = turnMachine.provide({
    actors: {
      executor: executorMachine.provide({ actors: { toolCall } }),
      streamModel: fromEventObservable<ModelStreamEvent, TurnAddress & { readonly attempt: number }>(({ input }) =>
        stream(currentTurn(), JSON.stringify(input)),
      ),
      attachResults: fromPromise<{ readonly preventContinuation: boolean }, AttachInput>(async () => {
        await wait(2);
        return { preventContinuation: false };
      }),
    },
    actions: {
      prepareTurn: ({ self }) =>
        later(self, 3, { type: 'turn.prepared', plan: { maxConcurrency: 10, eager: 'all', maxAttempts: 3, resumedCalls: [] } }),
    },
  });

  const session = sessionMachine.provide({
    actors: {
      startSession: fromPromise<SessionStart, { readonly sessionId: string }>(async () => {
        await wait(12);
        return { hasPromptHooks: false, hasStopHooks: false, callsWait: false };
      }),
      closeSession: fromPromise(async () => {
        await wait(5);
        return null;
      }),
      query: queryMachine.provide({
        actors: { turn },
        actions: { admitTurn: ({ self }) => later(self, 1, { type: 'turn.admitted', admission: { kind: 'proceed' } }) },
      }),
    },
  });
  const instrumented = gate.instrument(session);

  function currentTurn(): TurnScript {
    const running = sessions.at(-1);
    return running?.turns[running.at++] ?? { thinks: 900, calls: [] };
  }

  /** The answer of the model: a thought, then one block per call, a little apart. */
  function stream(script: TurnScript, requestId: string): Observable<ModelStreamEvent> {
    return new Observable((subscriber) => {
      let closed = false;
      const send = (event: ModelStreamEvent): void => {
        if (!closed) subscriber.next(event);
      };
      const play = async (): Promise<void> => {
        system?.sink.modelRequest({ requestId, model: 'claude-opus-4-6', body: { messages: sessions.length } });
        await wait(script.thinks * 0.6);
        send({ type: 'message.started', messageId: `msg_${requestId.length}`, model: 'claude-opus-4-6' });
        for (const [index, call] of script.calls.entries()) {
          await wait(script.thinks * 0.1);
          const id = `toolu_${String(++callNumber).padStart(3, '0')}`;
          calls.set(id, call);
          const block = { type: 'tool_use' as const, id, name: call.tool, input: call.input, caller: { type: 'direct' as const } };
          const rawInput = JSON.stringify(call.input);
          send({
            type: 'block.completed',
            index,
            block,
            toolUse: { id, name: call.tool, index, rawInput, input: { kind: 'object', value: call.input } },
          });
        }
        await wait(script.thinks * 0.2);
        const stopReason = script.calls.length > 0 ? 'tool_use' : 'end_turn';
        system?.sink.modelEnd({ requestId, model: 'claude-opus-4-6', stopReason, inputTokens: 5200, outputTokens: 310 });
        send({
          type: 'stream.ended',
          end: { kind: 'complete', stopReason, messageId: `msg_${requestId.length}`, model: 'claude-opus-4-6' },
        });
        if (!closed) subscriber.complete();
      };
      void play();
      return () => {
        closed = true;
      };
    });
  }

  async function runAgent(agent: NonNullable<CallScript['agent']>, parent: AnyActorRef): Promise<void> {
    sessions.push({ turns: agent.turns, at: 0 });
    const actor = createActor(instrumented, { id: agent.name, parent, input: sessionInput(agent.name) });
    actor.start();
    const idleAgain = new Promise<void>((resolve) => {
      actor.subscribe((snapshot) => {
        if (snapshot.context.queries > 0 && snapshot.matches({ conversation: 'idle' })) resolve();
      });
    });
    actor.send({ type: 'inbox.changed', waiting: 1, fromPerson: false });
    await wait(20);
    actor.send({ type: 'inbox.changed', waiting: 0, fromPerson: false });
    await idleAgain;
    actor.send({ type: 'session.close' });
    await wait(10);
    sessions.pop();
  }

  sessions.push({ turns, at: 0 });
  const root = createActor(instrumented, { id: 'session', clock: gate.clock, input: sessionInput('main') });
  system = inspectFlow(
    { actor: root, name: options.name ?? 'fix-credit-rounding', gate },
    { now: () => startedAt + time.now, redaction: { env: {}, salt: 'fixed' } },
  );
  root.start();
  root.send({ type: 'inbox.changed', waiting: 1, fromPerson: true });
  await time.play(15);
  root.send({ type: 'inbox.changed', waiting: 0, fromPerson: true });
  return { system, time, gate, root };
}

const toolOf = ({ tool, hooks }: CallScript): ResolvedTool => ({
  toolName: tool,
  hasValidation: true,
  hasOwnPermissions: false,
  hasPreToolUseHooks: (hooks?.length ?? 0) > 0,
  interruptBehavior: 'block',
  cancelsSiblingsOnError: false,
});
const sessionInput = (sessionId: string) => ({ sessionId, limits: { maxTurns: 50, maxStopRounds: 3, maxPauses: 3 }, queriesBefore: 0 });
const digest = (script: CallScript): string => createHash('sha256').update(JSON.stringify(script.input)).digest('hex').slice(0, 16);
const title = ({ input }: CallScript): string => String(input.command ?? input.file_path ?? input.description ?? '');
