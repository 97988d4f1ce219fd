import { type AnswerName, isSameAnswer } from './answerName.js';
import { isClientToolUse, isToolResult, type LooseBlock, textField } from './blocks.js';
import type { Note } from './note.js';

/** A message, or a piece of one, in the order in which it was written. */
export interface Piece {
  readonly role: string;
  readonly blocks: readonly LooseBlock[];
  /** The answer that this is a piece of; undefined where nothing tells. */
  readonly answer?: AnswerName | undefined;
  /** Its calls do not count: they neither take an id nor keep one. */
  readonly isDiscarded?: boolean;
  /** The position of the piece that this one was written behind, where that is known. */
  readonly behind?: number | undefined;
}

/** One call under an id that others may have used before it. */
interface Use {
  /** The id under which it is told apart. */
  readonly name: string;
  readonly piece: number;
  readonly answer: AnswerName | undefined;
  readonly isDiscarded: boolean;
  readonly call: LooseBlock;
  result: LooseBlock | undefined;
}

/**
 * Gateways count ids anew in every answer (`call_0`, `call_0`, …), while the API wants them unique in a whole history. Each further call
 * under an id gets one of its own (`call_0_2`), and its result with it; a call that is only told again keeps the id. Gives the blocks of
 * each piece, the very same array where nothing had to change. What is appended later changes nothing that came before.
 */
export function tellCallsApart(pieces: readonly Piece[]): readonly (readonly LooseBlock[])[] {
  const uses = new Map<string, Use[]>();
  const named = new Map<string, Use>();

  const nameCall = (block: LooseBlock, position: number, piece: Piece): LooseBlock => {
    const id = textField(block, 'id');
    if (id === '') return block;
    const before = uses.get(id) ?? [];
    const known = toldBefore(before, block, position, pieces);
    if (known !== undefined) return renamed(block, 'id', known.name);
    const { answer, isDiscarded = false } = piece;
    let name = id;
    if (!isDiscarded) for (let n = before.length + 1; named.has(name); n++) name = `${id}_${n}`;
    const use: Use = { name, piece: position, answer, isDiscarded, call: block, result: undefined };
    before.push(use);
    uses.set(id, before);
    if (!isDiscarded) named.set(name, use);
    return renamed(block, 'id', name);
  };

  const nameResult = (block: LooseBlock, { behind }: Piece): LooseBlock => {
    const id = textField(block, 'tool_use_id');
    const candidates = uses.get(id) ?? [];
    const beside = behind === undefined ? undefined : candidates.findLast(({ piece }) => piece === behind);
    const use = beside ?? candidates.at(-1) ?? named.get(id);
    if (use === undefined) return block;
    use.result ??= block;
    return renamed(block, 'tool_use_id', use.name);
  };

  return pieces.map((piece, position) => {
    const blocks = piece.blocks.map((block) => {
      if (piece.role === 'assistant' && isClientToolUse(block)) return nameCall(block, position, piece);
      return piece.role === 'user' && isToolResult(block) ? nameResult(block, piece) : block;
    });
    return blocks.every((block, at) => block === piece.blocks[at]) ? piece.blocks : blocks;
  });
}

/** The use that a call tells again. Where answers have no names, what happened tells: an open call is not asked for anew, and a pair that comes again as it was is a copy. */
function toldBefore(before: readonly Use[], call: LooseBlock, position: number, pieces: readonly Piece[]): Use | undefined {
  const answer = pieces[position]?.answer;
  const same = before.findLast(
    (use) => use.piece === position || (use.answer !== undefined && answer !== undefined && isSameAnswer(use.answer, answer)),
  );
  const last = before.at(-1);
  if (same !== undefined || last === undefined) return same;
  if (last.isDiscarded || (last.answer !== undefined && answer !== undefined)) return undefined;
  if (last.result === undefined) return last;
  if (JSON.stringify(last.call) !== JSON.stringify(call)) return undefined;
  const next = nextResult(textField(call, 'id'), position, pieces);
  return next === undefined || JSON.stringify(next) === JSON.stringify(last.result) ? last : undefined;
}

function nextResult(id: string, position: number, pieces: readonly Piece[]): LooseBlock | undefined {
  for (let at = position + 1; at < pieces.length; at++) {
    const piece = pieces[at];
    if (piece?.role !== 'user') continue;
    const found = piece.blocks.find((block) => isToolResult(block) && textField(block, 'tool_use_id') === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

function renamed(block: LooseBlock, key: 'id' | 'tool_use_id', name: string): LooseBlock {
  return block[key] === name ? block : { ...block, [key]: name };
}

/** The pieces of a history with an id of its own for each call; each that changed is remarked. */
export function withCallsApart<T extends Piece>(pieces: readonly T[], remark: (note: Note) => void): readonly T[] {
  const apart = tellCallsApart(pieces);
  return pieces.map((piece, index) => {
    const blocks = apart[index] ?? piece.blocks;
    if (blocks === piece.blocks) return piece;
    for (const [at, block] of blocks.entries()) {
      const was = piece.blocks[at];
      if (was === undefined || was === block || !isClientToolUse(block)) continue;
      const [id, name] = [textField(was, 'id'), textField(block, 'id')];
      remark({ code: 'changed', id: name, text: `Another call had the id ${id} before; this one and its result are sent as ${name}.` });
    }
    return { ...piece, blocks };
  });
}
