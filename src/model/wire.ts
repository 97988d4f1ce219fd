import { isJsonObject } from '../json.js';
import { messageOf } from '../tool/errors.js';

/** One server-sent event of a response: what the assembler may be given, or why it may not. */
export type WireEvent =
  | { readonly kind: 'event'; readonly event: unknown }
  /** Comments, keep-alives, an `event:` line without data. */
  | { readonly kind: 'empty' }
  /** Data that is no JSON. It may have been any delta, so nothing after it can be trusted. */
  | { readonly kind: 'garbled'; readonly reason: string };

/** Reads one server-sent event. The JSON's own `type` counts, since gateways lose or rewrite the `event:` line; but what is named `error` is one. */
export function readWireEvent(name: string | null, data: string): WireEvent {
  const text = data.trim();
  // `[DONE]` ends the streams of other vendors; some gateways append it.
  if (text === '' || text === '[DONE]') return { kind: 'empty' };
  try {
    const event: unknown = JSON.parse(text);
    return { kind: 'event', event: name === 'error' ? asError(event) : event };
  } catch (error) {
    if (name === 'error') return { kind: 'event', event: { type: 'error', error: { message: text } } };
    if (name === 'ping') return { kind: 'empty' };
    return { kind: 'garbled', reason: messageOf(error) };
  }
}

/** What an event named `error` carries, in the shape of the API's own. */
function asError(event: unknown): unknown {
  if (!isJsonObject(event)) return { type: 'error', error: event };
  return event.type === 'error' ? event : { type: 'error', error: event.error ?? event };
}
