import { assembleStream } from '../../model/assemble.js';
import type { ModelStreamEvent } from '../../model/types.js';
import { ScriptError } from '../script/errors.js';
import { parseSse } from '../script/sse.js';

/** The message that a stream of events adds up to, as the API answers a request without `stream`. Strings are raw server-sent events. */
export function foldMessage(events: readonly unknown[]): Record<string, unknown> {
  const assembler = assembleStream();
  const flat = events.flatMap((event) => (typeof event === 'string' ? parseSse(event) : [event]));
  const seen = flat.flatMap((event) => assembler.push(event));
  const ended = seen.find((event) => event.type === 'stream.ended');
  if (ended?.end.kind !== 'complete') throw new ScriptError('a turn without message_stop cannot answer a request without `stream`');
  const { messageId, model, stopReason, stopDetails, usage } = ended.end;
  return {
    id: messageId,
    type: 'message',
    role: 'assistant',
    model,
    content: blocksOf(seen),
    stop_reason: stopReason,
    stop_sequence: null,
    ...(stopDetails === undefined ? {} : { stop_details: stopDetails }),
    usage: usage ?? { input_tokens: 0, output_tokens: 0 },
  };
}

function blocksOf(events: readonly ModelStreamEvent[]): readonly unknown[] {
  const start = events.findLastIndex((event) => event.type === 'message.discarded');
  const completed = events.slice(start + 1).flatMap((event) => (event.type === 'block.completed' ? [event] : []));
  return completed.sort((a, b) => a.index - b.index).map(({ block }) => block);
}
