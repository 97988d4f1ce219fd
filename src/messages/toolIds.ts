import { isJsonObject, parseJson } from '../json.js';
import { isServerToolId, type LooseBlock, textField } from './blocks.js';

const UNSAFE = /[^a-zA-Z0-9_-]/g;

/**
 * Makes the ids of one history acceptable to the API, the same way for a call and its result. Other programs' ids may hold characters that
 * it refuses; two ids that would collide stay apart, from each other and from those that are `taken`.
 */
export function createIdMap(isTaken: (id: string) => boolean = () => false): (original: string) => string {
  const mapped = new Map<string, string>();
  const taken = new Set<string>();
  return (original) => {
    const known = mapped.get(original);
    if (known !== undefined) return known;
    const safe = original.replace(UNSAFE, '_');
    const base = isServerToolId(safe) && !isServerToolId(original) ? `toolu_${safe}` : safe;
    let id = base;
    for (let n = 2; taken.has(id) || isTaken(id); n++) id = `${base}_${n}`;
    taken.add(id);
    mapped.set(original, id);
    return id;
  };
}

/** The call with acceptable id and name and an object as its input; the block itself when it has them. */
export function acceptableCall(block: LooseBlock, id: string): LooseBlock {
  const name = textField(block, 'name').replace(UNSAFE, '_').slice(0, 128) || 'unknown';
  if (block.id === id && block.name === name && isJsonObject(block.input)) return block;
  return { ...block, id, name, input: acceptableInput(block.input) };
}

/** Other programs write the input as the text that the model wrote. */
function acceptableInput(input: unknown): object {
  const value = typeof input === 'string' ? parseJson(input) : input;
  if (isJsonObject(value)) return value;
  return input === undefined ? {} : { input };
}
