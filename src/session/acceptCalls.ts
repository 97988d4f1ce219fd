import { isClientToolUse } from '../messages/blocks.js';
import { acceptableCall, createIdMap } from '../messages/toolIds.js';
import { assistantBlock, looseBlock } from '../model/shapes.js';
import type { ModelDelta, ModelStreamEvent } from '../model/types.js';

/** The events of one answer, with calls under ids and names that the API takes back. */
export interface CallAcceptor {
  event(event: ModelStreamEvent): ModelStreamEvent;
  delta(delta: ModelDelta): ModelDelta;
}

/**
 * Gateways and other models name calls as they like, and count ids anew in every answer. A call gets an id that is acceptable and in no
 * earlier answer (`isTaken`); the same id twice in one answer stays the same id. The name stays as it is where a tool is looked up by it.
 */
export function createCallAcceptor(isTaken: (id: string) => boolean): CallAcceptor {
  const idOf = createIdMap(isTaken);
  return {
    event: (event) => {
      if (event.type !== 'block.completed' || event.toolUse === undefined) return event;
      const block = looseBlock(event.block);
      const id = idOf(event.toolUse.id);
      const accepted = isClientToolUse(block) ? acceptableCall(block, id) : block;
      return accepted === block ? event : { ...event, block: assistantBlock(accepted), toolUse: { ...event.toolUse, id } };
    },
    delta: (delta) => (delta.type === 'input' ? { ...delta, id: idOf(delta.id) } : delta),
  };
}
