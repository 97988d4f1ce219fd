import { isJsonObject } from '../json.js';
import { assemble, type OpenCall } from './assemble.js';
import { looseMessage } from './blocks.js';
import type { Note } from './note.js';
import type { MessageParam } from './types.js';

/** What `repairMessages` may be told. */
export interface RepairOptions {
  /** The text of the result made up for a call that nothing answers. It must depend on nothing but the call. Default: that its outcome is unknown. */
  readonly unanswered?: (call: OpenCall) => string;
  /** What to do with an answer at the end: leave it, as a prompt will follow (`keep`), or close with a prompt to continue. Default `prompt`. */
  readonly trailing?: 'keep' | 'prompt';
}

/** A history that the Messages API takes, and what had to be done for it. */
export interface RepairedMessages {
  /** The history, sendable as it is. */
  readonly messages: MessageParam[];
  /** What is not sent, was made up, or was changed. Empty exactly when nothing of substance had to be done. */
  readonly setAside: readonly Note[];
}

/**
 * Turns a history in whatever state into one the Messages API takes: `checkPairing` finds nothing in the output, and repairing the output
 * changes nothing. No call that has a result loses it; a call without one gets an error result right behind it; results without a call are
 * set aside; of duplicates the first counts; messages of one role in a row become one.
 */
export function repairMessages(messages: readonly MessageParam[], options: RepairOptions = {}): RepairedMessages {
  if (!Array.isArray(messages)) throw new TypeError('repairMessages takes an array of messages, as a request has under `messages`.');
  const given: readonly unknown[] = messages;
  const strangers = given.filter((message) => !isMessage(message));
  const { messages: repaired, notes } = assemble(given.filter(isMessage).map(looseMessage), { trailing: 'prompt', ...options });
  return { messages: repaired, setAside: [...strangers.map(asNote), ...notes] };
}

function isMessage(message: unknown): boolean {
  return isJsonObject(message) && typeof message.role === 'string';
}

function asNote(value: unknown): Note {
  return { code: 'set_aside', block: { type: 'invalid', value }, text: 'Set aside: an entry that is no message, since it has no role.' };
}
