import { copyJson, isJsonObject } from '../json.js';
import { isClientToolUse, type LooseBlock, textField } from '../messages/blocks.js';
import { acceptableCall, createIdMap } from '../messages/toolIds.js';
import { assistantBlock, looseBlock } from '../model/shapes.js';
import { acceptToolInput } from '../model/toolInput.js';
import type { ModelDelta, ModelStreamEvent } from '../model/types.js';
import type { ToolUseRequest } from '../tool/call.js';

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
      if (event.type !== 'block.completed') return event;
      const block = looseBlock(event.block);
      const call = event.toolUse ?? callIn(block, event.index);
      if (call === undefined) return event;
      const id = idOf(call.id);
      const accepted = isClientToolUse(block) ? acceptableCall(block, id) : block;
      return {
        ...event,
        block: accepted === block ? event.block : assistantBlock(accepted),
        toolUse: { ...call, id, input: ownInput(call) },
      };
    },
    delta: (delta) => (delta.type === 'input' ? { ...delta, id: idOf(delta.id) } : delta),
  };
}

/** The call in a block that a model port gave without saying so. */
function callIn(block: LooseBlock, index: number): ToolUseRequest | undefined {
  if (!isClientToolUse(block)) return undefined;
  const rawInput = JSON.stringify(block.input) ?? '';
  return { index, id: textField(block, 'id'), name: textField(block, 'name'), rawInput, input: acceptToolInput(block.input) };
}

/** A tool may change the input it is given; the block in the history must stay as it was sent. */
function ownInput({ input }: ToolUseRequest): ToolUseRequest['input'] {
  return input.kind === 'object' && isJsonObject(input.value) ? { ...input, value: copyJson(input.value) } : input;
}
