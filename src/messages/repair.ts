import { type AssembleOptions, assemble } from './assemble.js';
import { looseMessage } from './blocks.js';
import type { Note } from './note.js';
import type { MessageParam } from './types.js';

export interface RepairedMessages {
  readonly messages: MessageParam[];
  /** What is not sent, was made up, or was changed. Empty exactly when nothing of substance had to be done. */
  readonly setAside: readonly Note[];
}

/**
 * Turns a history in whatever state into one the Messages API takes: `checkPairing` finds nothing in the output, and repairing the output
 * changes nothing. No call that has a result loses it; a call without one gets an error result right behind it; results without a call are
 * set aside; of duplicates the first counts; messages of one role in a row become one.
 */
export function repairMessages(messages: readonly MessageParam[], options: Partial<AssembleOptions> = {}): RepairedMessages {
  const { messages: repaired, notes } = assemble(messages.map(looseMessage), { trailing: 'prompt', ...options });
  return { messages: repaired, setAside: notes };
}
