import { brokenRunOutcome } from '../../machines/outcome.js';
import type { CallRecord } from './callBook.js';
import { fixResult } from './ports/report.js';
import type { Services } from './services.js';

/**
 * The calls of the last answer, each with its result, in block order. Those that the machines have left without one, because one of them
 * broke, get a result that says so: the last guard of the pairing rule.
 */
export function settledCalls(session: Services, reason: string): readonly CallRecord[] {
  const { calls, conversation } = session;
  for (const [index, { id, name }] of conversation.openCalls.entries()) {
    if (!calls.find(id)) {
      const input = { kind: 'invalid', reason: 'the call was never admitted' } as const;
      calls.open({ id, name, index, rawInput: '', input }, session.now());
    }
    fixResult(id, brokenRunOutcome('the runtime', reason), session);
  }
  return calls.all().filter(({ result }) => result !== undefined);
}

/**
 * Closes what a broken turn has left open, so that the conversation can go on. Does nothing after a turn that went its way. Throws
 * where the transcript takes no results; the history has them all the same.
 */
export function closeOpenCalls(session: Services, reason: string): void {
  const { conversation } = session;
  if (conversation.openCalls.length === 0) return;
  const records = settledCalls(session, reason);
  const results = records.flatMap(({ result }) => (result ? [result] : []));
  try {
    for (const { isWritten, result } of records) {
      if (!isWritten && result) conversation.writeResult([result.block, ...result.images]);
    }
  } finally {
    conversation.addResults(
      results.map(({ block }) => block),
      results.flatMap(({ images }) => images),
    );
  }
}
