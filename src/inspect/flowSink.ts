import type { HookRun } from '../hooks/types.js';
import type { JsonValue } from '../json.js';
import type { PermissionDecision, PermissionMode } from '../permissions/types.js';
import type { CallOutcome, ToolProgress } from '../tool/call.js';
import { FULL_LIMITS } from './capture.js';
import type { FlowLog } from './flowLog.js';
import { StreamRedactor } from './streamRedactor.js';

/**
 * What a session tells about its domain beside its actors' transitions. A session holds an optional sink and calls it
 * only if present (`sink?.decision(…)`): with no inspector there is none. No method throws.
 */
export interface FlowSink {
  /** A call was allowed or denied. */
  decision(fact: {
    readonly toolUseId: string;
    readonly toolName: string;
    readonly mode: PermissionMode;
    readonly decision: PermissionDecision;
    readonly input?: JsonValue;
  }): void;
  /** A handler of a hook has run. */
  hookRun(run: HookRun, toolUseId?: string): void;
  /** Message texts may be pieces of a stream: a secret cut by a piece's border is still masked. */
  progress(toolUseId: string, progress: ToolProgress): void;
  /** A call's one result. `body` is the block's content. */
  result(fact: { readonly toolUseId: string; readonly toolName: string; readonly outcome: CallOutcome; readonly body: unknown }): void;
  /** A request goes to the model. `body` is what is sent. */
  modelRequest(fact: { readonly requestId: string; readonly agent?: string; readonly model: string; readonly body: unknown }): void;
  /** The answer to a request has ended. */
  modelEnd(fact: {
    readonly requestId: string;
    readonly agent?: string;
    readonly model: string;
    readonly stopReason?: string;
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly error?: string;
    readonly body?: unknown;
  }): void;
  /** A question came up, was answered or was withdrawn. */
  approval(fact: {
    readonly toolUseId: string;
    readonly toolName: string;
    readonly phase: 'asked' | 'answered' | 'withdrawn';
    readonly by?: string;
    readonly behavior?: 'allow' | 'deny';
  }): void;
  /** A remark for whoever looks at the flow. */
  note(level: 'info' | 'warning', text: string): void;
}

/** A sink that writes to a log. */
export function createFlowSink(log: FlowLog): FlowSink {
  const streams = new Map<string, StreamRedactor>();
  const streamOf = (toolUseId: string): StreamRedactor => {
    const known = streams.get(toolUseId);
    if (known) return known;
    const made = new StreamRedactor(log.redactor);
    streams.set(toolUseId, made);
    return made;
  };
  const full = (value: unknown) => log.bodies.put(value, FULL_LIMITS);
  const sink: FlowSink = {
    decision: ({ input, decision, ...rest }) =>
      log.take({ type: 'decision', ...rest, decision: log.plain(decision), ...(input === undefined ? {} : { input: full(input) }) }),
    hookRun: (run, toolUseId) => log.take({ type: 'hook', run: log.plain(run), ...(toolUseId === undefined ? {} : { toolUseId }) }),
    progress(toolUseId, { message, data }) {
      const shown = message === undefined ? '' : streamOf(toolUseId).push(message);
      if (shown === '' && data === undefined) return;
      log.take({
        type: 'progress',
        toolUseId,
        ...(shown === '' ? {} : { message: shown }),
        ...(data === undefined ? {} : { body: log.bodies.put(data) }),
      });
    },
    result({ toolUseId, toolName, outcome, body }) {
      const rest = streams.get(toolUseId)?.flush() ?? '';
      streams.delete(toolUseId);
      if (rest !== '') log.take({ type: 'progress', toolUseId, message: rest });
      const { kind, isError } = outcome;
      log.take({ type: 'result', toolUseId, toolName, outcome: kind, isError, summary: log.text(outcome.summary), body: full(body) });
    },
    modelRequest: ({ body, ...rest }) =>
      log.take({ type: 'model', phase: 'request', ...rest, body: log.bodies.putAnew(body, FULL_LIMITS) }),
    modelEnd: ({ body, error, ...rest }) =>
      log.take({
        type: 'model',
        phase: 'end',
        ...rest,
        ...(error === undefined ? {} : { error: log.text(error) }),
        ...(body === undefined ? {} : { body: full(body) }),
      }),
    approval: (fact) => log.take({ type: 'approval', ...fact }),
    note: (level, text) => log.take({ type: 'note', level, text: log.text(text, 2000) }),
  };
  return guarded(sink, log);
}

/** Each method behind the log's guard, so that a value which cannot be captured harms nobody. */
function guarded(sink: FlowSink, log: FlowLog): FlowSink {
  return {
    decision: (fact) => log.guard(() => sink.decision(fact)),
    hookRun: (run, toolUseId) => log.guard(() => sink.hookRun(run, toolUseId)),
    progress: (toolUseId, progress) => log.guard(() => sink.progress(toolUseId, progress)),
    result: (fact) => log.guard(() => sink.result(fact)),
    modelRequest: (fact) => log.guard(() => sink.modelRequest(fact)),
    modelEnd: (fact) => log.guard(() => sink.modelEnd(fact)),
    approval: (fact) => log.guard(() => sink.approval(fact)),
    note: (level, text) => log.guard(() => sink.note(level, text)),
  };
}
