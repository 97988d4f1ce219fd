import { concat, defer, from, type Observable } from 'rxjs';
import type { Actor } from 'xstate';
import type { SessionMachine } from '../../machines/session.js';
import type { DebugGate } from '../inspect/gate/debugGate.js';
import type { McpServerStatus } from '../mcp/servers.js';
import type { ContentBlockParam, MessageParam } from '../messages/types.js';
import type { PermissionAnswer, PermissionMode, PermissionRule, PermissionUpdate } from '../permissions/types.js';
import type { AbortReason } from '../tool/call.js';
import type { BackgroundTaskInfo, PersonAnswers } from '../tool/types.js';
import type { AgentSession } from './agentSessions.js';
import { type AssembledSession, assembleSession } from './assemble.js';
import type { SessionOptions } from './options.js';
import type { AnswerReceipt, PermissionPrompt, PersonPrompt } from './questions.js';
import { type Sending, send } from './sending.js';
import { copySession } from './stored.js';
import type { SessionUpdate, SessionUsage } from './updates.js';

/** One conversation with a model and its tools. */
export interface Session {
  /** `createSession({ resume: id })` goes on with a stored one. */
  readonly id: string;
  /** The XState actor: the root of everything that runs for this session. */
  readonly actor: Actor<SessionMachine>;
  /** The gate it was created with, for an inspector to pause it. */
  readonly gate?: DebugGate;
  /** Everything that happens, as it happens, for any number of listeners. Late ones hear `session.started` first. */
  readonly updates$: Observable<SessionUpdate>;
  /** File of the transcript; null for a session in memory. */
  readonly transcriptPath: string | null;
  /** Where results that are too large for the model are kept, absolute. */
  readonly resultsDir: string;
  /** Working directory of the next call, absolute: shell commands may change it. */
  readonly cwd: string;
  /** The permission mode that holds now. */
  readonly mode: PermissionMode;
  /** Id of the model that is asked. */
  readonly model: string;
  /** All permission rules in force, each with the file and line, or the answer, it came from. */
  readonly rules: readonly PermissionRule[];
  /** Tokens so far, subagents included. */
  readonly usage: SessionUsage;
  /** The history as the next request would carry it. */
  readonly messages: readonly MessageParam[];
  /** What in settings, hooks and tools has no effect or was left out, in words. */
  readonly warnings: readonly string[];

  /**
   * Gives the model a prompt. Iterate the result for typed updates up to the end of the query that answers it, or await its
   * `done`. A prompt sent while a query runs waits, and goes with that query's next request.
   *
   * @throws when the session is closed, the prompt is empty or holds a block that the API does not take, or it cannot be written down.
   */
  send(prompt: string | readonly ContentBlockParam[]): Sending;
  /**
   * Tells the model something when it next speaks; starts a query of its own when the session is idle. Returns the notification's id.
   *
   * @throws when the session is closed, or the text is blank.
   */
  notify(text: string): string;
  /** The MCP servers of this session, with what became of each. */
  readonly servers: readonly McpServerStatus[];
  /** Connects an MCP server anew that has failed; resolves when it is connected or has failed again. Rejects for an unknown name. */
  restartServer(name: string): Promise<McpServerStatus>;
  /** Background tasks of this session, running and ended. */
  readonly tasks: readonly BackgroundTaskInfo[];
  /** Stops a background task; resolves when everything it started is gone. Rejects for an unknown id. */
  stopTask(id: string): Promise<BackgroundTaskInfo>;
  /**
   * Puts a summary in place of older history, once the session is idle. `instructions` say what the summary must keep. Resolves with
   * whether anything was summarised; the history is unchanged if not.
   */
  compact(instructions?: string): Promise<boolean>;
  /** Stops the running query. Every open call gets its result; resolves when the session is idle. */
  interrupt(reason?: AbortReason): Promise<void>;

  /** Permission questions that wait for an answer, oldest first. */
  readonly openPermissions: readonly PermissionPrompt[];
  /** Questions of tools (AskUserQuestion) that wait for an answer, oldest first. */
  readonly openQuestions: readonly PersonPrompt[];
  /** Answers a permission question. The digest must be that of the input that was shown; anything else is refused. */
  answer(callId: string, inputDigest: string, answer: PermissionAnswer): AnswerReceipt;
  /** Answers a tool's questions, by question text. Refused when the call is no longer asking. */
  answerQuestion(callId: string, answers: PersonAnswers): AnswerReceipt;
  /**
   * Tells of each subagent that is at work, and of each that starts from now on, before its actor does. Agents of agents are told of by
   * the agent that starts them. Returns how to stop listening.
   */
  onAgent(listener: (agent: AgentSession) => void): () => void;
  /** Changes rules, mode or directories; returns what could not be applied. */
  updatePermissions(updates: readonly PermissionUpdate[]): readonly string[];
  /** Changes the permission mode; returns what could not be applied. It holds from the next decision on. */
  setMode(mode: PermissionMode): readonly string[];

  /** Ends the session: stops what runs, gives every call its result, runs SessionEnd hooks, flushes the transcript. */
  close(): Promise<void>;
}

/**
 * Creates a session and starts its actor. Nothing is sent before the first prompt.
 *
 * @throws when options cannot work at all (a session id that is taken by another process, a directory that cannot be written);
 *   faulty settings are warnings.
 */
export function createSession(options: SessionOptions = {}): Session {
  return withGate(sessionFace(assembleSession(options)), options);
}

/**
 * Goes on from a copy of a stored session; the session itself stays as it is. `upTo` is the uuid of the last entry to take over.
 * Background tasks, open questions and what waits to be told belong to the source and do not come along.
 *
 * @throws as `createSession`, and when there is no such session or entry.
 */
export function forkSession({ from, upTo, ...options }: SessionOptions & { readonly from: string; readonly upTo?: string }): Session {
  const resume = copySession(from, { ...options, ...(upTo === undefined ? {} : { upTo }) });
  const { sessionId: _taken, ...rest } = options;
  return withGate(sessionFace(assembleSession({ ...rest, resume }, undefined, 'fork')), rest);
}

const withGate = (face: Session, { gate }: Pick<SessionOptions, 'gate'>): Session => (gate ? Object.assign(face, { gate }) : face);

function sessionFace({ actor, services, servers, updates, transcript, warnings, settled, firstWords }: AssembledSession): Session {
  let closing: Promise<void> | undefined;
  const refuseIfClosed = () => {
    if (closing || isClosed()) throw new Error(`Session ${services.sessionId} is closed; create a new one or resume it.`);
  };
  const isIdle = () => actor.getSnapshot().matches({ conversation: 'idle' });
  const whenIdle = (): Promise<void> =>
    isIdle() || isClosed()
      ? Promise.resolve()
      : new Promise((resolve) => {
          const subscription = actor.subscribe(() => {
            if (!isIdle() && !isClosed()) return;
            subscription.unsubscribe();
            resolve();
          });
        });
  const isClosed = () => actor.getSnapshot().matches({ conversation: 'closed' }) || actor.getSnapshot().status !== 'active';
  return {
    id: services.sessionId,
    actor,
    updates$: defer(() => concat(from(firstWords()), updates)),
    transcriptPath: transcript.path ?? null,
    resultsDir: services.resultsDir,
    warnings,
    get cwd() {
      return services.cwd;
    },
    get mode() {
      return services.permissions.mode;
    },
    get model() {
      return services.model.id;
    },
    get rules() {
      return services.permissions.rules;
    },
    get usage() {
      return services.usage;
    },
    get messages() {
      return [...services.conversation.messages];
    },
    get openPermissions() {
      return services.queue.openPermissions();
    },
    get openQuestions() {
      return services.queue.openQuestions();
    },
    send: (prompt) => {
      refuseIfClosed();
      return send(prompt, services, updates);
    },
    notify: (text) => {
      refuseIfClosed();
      return services.notify(text);
    },
    compact: async (instructions) => {
      for (;;) {
        await whenIdle();
        if (isClosed()) throw new Error(`Session ${services.sessionId} is closed.`);
        let isDone = false;
        const subscription = updates.subscribe((update) => {
          if (update.type === 'session.compacted') isDone = true;
        });
        services.compactionWish = instructions;
        actor.send({ type: 'compaction.asked' });
        const hasBegun = actor.getSnapshot().matches({ conversation: 'compacting' });
        if (hasBegun) await whenIdle();
        subscription.unsubscribe();
        // A query that began in the same moment goes first.
        if (hasBegun) return isDone;
      }
    },
    get servers() {
      return servers.status();
    },
    restartServer: (name) => servers.restart(name),
    get tasks() {
      return services.tasks.list();
    },
    stopTask: (id) => services.tasks.stop(id),
    interrupt: (reason = 'userInterrupt') => {
      if (!isClosed()) actor.send({ type: 'abort', reason });
      return whenIdle();
    },
    answer: (callId, inputDigest, answer) => services.queue.answerPermission(callId, inputDigest, answer),
    answerQuestion: (callId, answers) => services.queue.answerQuestion(callId, answers),
    onAgent: (listener) => services.agentSessions.listen(listener),
    updatePermissions: (updates_) => services.permissions.apply(updates_),
    setMode: (mode) => services.permissions.apply([{ type: 'setMode', mode, destination: 'session' }]),
    close: () => {
      closing ??= (async () => {
        if (!isClosed()) actor.send({ type: 'session.close' });
        await settled;
        actor.stop();
        updates.complete();
      })();
      return closing;
    },
  };
}
