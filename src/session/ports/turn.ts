import { concat, defer, EMPTY, map, type Observable, of, tap } from 'rxjs';
import { fromEventObservable } from 'xstate';
import type { ExecutorOutput } from '../../../machines/protocol.js';
import type { TurnAddress, TurnPlan } from '../../../machines/turn.js';
import type { ToolResultBlockParam } from '../../messages/types.js';
import { comesBackInTime, type RetryPolicy, retryDelay } from '../../model/retry.js';
import type { ModelDelta, ModelError, ModelStreamEvent, StreamEnd } from '../../model/types.js';
import { fitMessageBudget } from '../../results/index.js';
import type { AbortReason } from '../../tool/call.js';
import { createCallAcceptor } from '../acceptCalls.js';
import { deliverBeside } from '../delivery.js';
import { settledCalls } from '../openCalls.js';
import { asyncPort, services } from '../port.js';
import { buildRequest } from '../request.js';
import type { Services } from '../services.js';

/** A turn begins with an empty book of calls; pool, permissions and request are read when they are needed, never kept. */
export function prepareTurn(session: Services): TurnPlan {
  const { calls, limits, model, resumption } = session;
  calls.begin(resumption?.asked);
  session.announceTools();
  session.resumption = undefined;
  for (const settled of resumption?.settled ?? []) calls.restore(settled, session.now());
  return {
    maxConcurrency: limits.maxConcurrency,
    eager: limits.eager,
    maxAttempts: model.retry.maxRetries + 1,
    resumedCalls: resumption?.calls ?? [],
  };
}

/** The model's answer, block by block. Deltas go round the machines, straight to the updates. */
export const streamModel = fromEventObservable<ModelStreamEvent, TurnAddress & { readonly attempt: number }>(({ input, system }) => {
  const session = services(system);
  const accept = createCallAcceptor((id) => session.conversation.hasCall(id));
  const answer = session.model.client.stream(buildRequest(input, session), (delta) => forwardDelta(accept.delta(delta), session));
  return ending(answer).pipe(map(accept.event), map(worthARetry(session.model.retry)));
});

/** A port of somebody else's may complete without saying how the answer ended. The turn would wait for that for ever. */
const ending = (answer: Observable<ModelStreamEvent>): Observable<ModelStreamEvent> =>
  defer(() => {
    let hasEnded = false;
    return concat(
      answer.pipe(tap((event) => (hasEnded ||= event.type === 'stream.ended'))),
      defer(() => (hasEnded ? EMPTY : of(UNENDED))),
    );
  });

const UNENDED: ModelStreamEvent = {
  type: 'stream.ended',
  end: {
    kind: 'broken',
    error: { type: 'stream_incomplete', message: 'The model port completed without `stream.ended`.', retryable: false },
  },
};

/** Where the API says to come back later than anybody waits, the error is told at once. */
const worthARetry =
  (policy: RetryPolicy) =>
  (event: ModelStreamEvent): ModelStreamEvent => {
    if (event.type !== 'stream.ended' || event.end.kind !== 'broken' || !event.end.error.retryable) return event;
    const { error } = event.end;
    if (comesBackInTime(error, policy)) return event;
    const minutes = Math.ceil((error.retryAfterMs ?? 0) / 60_000);
    return {
      ...event,
      end: { ...event.end, error: { ...error, retryable: false, message: `${error.message} It says to come back in ${minutes} min.` } },
    };
  };

export const waitForRetry = asyncPort<TurnAddress & { readonly attempt: number; readonly error: ModelError | null }, null>(
  ({ attempt, error }, { services: { clock, model, update }, signal }) => {
    const delayMs = retryDelay(attempt, error ?? {}, model.retry);
    if (error) update({ type: 'model.retry', attempt, delayMs, error });
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(null), delayMs);
      signal.addEventListener('abort', () => clock.clearTimeout(timer), { once: true });
    });
  },
);

/** One user message: results in call order, then hook context and notifications, then what the person typed meanwhile. */
export const attachResults = asyncPort<
  TurnAddress & { readonly executed: ExecutorOutput | null; readonly abort: AbortReason | null },
  { readonly preventContinuation: boolean }
>(async ({ queryId, turn, executed, abort }, { services: session, signal }) => {
  const records = settledCalls(session, 'the turn ended without an outcome of the call');
  const stored = records.flatMap((record) => (record.result ? [record.result] : []));
  const stopped = abort ?? executed?.abortReason ?? null;
  if (stored.length === 0 && stopped === null) return { preventContinuation: false };
  const batch = stored.length > 0 && stopped === null ? await runBatchHooks(session, `${queryId}:${turn}`, signal) : undefined;
  const results = await fitMessageBudget(
    stored.map((result) => result.block),
    session.results,
  );
  const unwritten = attempt(() => {
    for (const [n, result] of results.entries()) {
      if (!records[n]?.isWritten) session.conversation.writeResult([result, ...(stored[n]?.images ?? [])]);
    }
  });
  // The history has every result even where the transcript could not take one: the conversation can go on once that is mended.
  session.conversation.addResults(
    results,
    stored.flatMap((result) => result.images),
  );
  if (unwritten) throw unwritten.error;
  for (const text of [
    ...stored.flatMap((result) => result.reminders),
    ...(batch?.additionalContext ?? []),
    ...(batch?.block ? [batch.block.reason] : []),
  ]) {
    session.conversation.addAttachment({ type: 'reminder', text });
  }
  if (stopped !== null) session.conversation.addMark(interruptMark(stored.length > 0));
  else deliverBeside(session);
  return { preventContinuation: batch?.stop !== undefined || batch?.block !== undefined };
});

/** Reports how the stream ended: usage is counted once per request, whatever else became of it. */
export function noteEnd(end: StreamEnd, session: Services): void {
  const usage = end.usage;
  if (usage) {
    session.spendOn(usage);
    session.contextTokens =
      (usage.input_tokens ?? 0) +
      (usage.cache_read_input_tokens ?? 0) +
      (usage.cache_creation_input_tokens ?? 0) +
      (usage.output_tokens ?? 0);
  }
  session.update({
    type: 'model.ended',
    stopReason: end.kind === 'complete' ? end.stopReason : null,
    usage: usage ?? null,
    incomplete: end.kind === 'broken',
  });
}

/** The error of an attempt that failed. */
function attempt(act: () => void): { readonly error: unknown } | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return { error };
  }
}

const interruptMark = (hadCalls: boolean): string =>
  hadCalls ? '[Request interrupted by user for tool use]' : '[Request interrupted by user]';

function runBatchHooks(session: Services, id: string, signal: AbortSignal) {
  if (!session.hooks.isConfigured('PostToolBatch')) return undefined;
  const calls = session.calls.all().map((record) => ({
    tool_name: record.tool?.name ?? record.call.name,
    tool_input: record.observable ?? {},
    tool_use_id: record.call.id,
    tool_response: textOf(record.result?.block),
  }));
  return session.runHooks({ id: `hook:PostToolBatch:${id}`, event: 'PostToolBatch', payload: { tool_calls: calls } }, signal);
}

function textOf(block: ToolResultBlockParam | undefined): string {
  const content = block?.content ?? '';
  return typeof content === 'string' ? content : JSON.stringify(content);
}

function forwardDelta(delta: ModelDelta, session: Services): void {
  switch (delta.type) {
    case 'text':
      session.update({ type: 'text.delta', text: delta.text });
      return;
    case 'thinking':
      session.update({ type: 'thinking.delta', text: delta.text });
      return;
    case 'input':
      session.update({ type: 'input.delta', callId: delta.id, partialJson: delta.partialJson });
  }
}
