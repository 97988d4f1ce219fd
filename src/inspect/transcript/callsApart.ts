import type { AnswerName } from '../../messages/answerName.js';
import { type Piece, withCallsApart } from '../../messages/reusedIds.js';
import { type Line, stringAt } from './lines.js';

interface PieceOfLine extends Piece {
  readonly line: Line;
}

/** What names the answer that a line is a piece of; undefined where nothing does. */
export function answerNameOf({ type, entry }: Line): AnswerName | undefined {
  const messageId = type === 'assistant' ? stringAt(entry, 'message', 'id') : undefined;
  return messageId === undefined || messageId === '' ? undefined : { messageId, requestId: stringAt(entry, 'requestId') };
}

/**
 * The lines with an id of its own for each call: gateways count ids anew in every answer, and in every subagent. The session's own lines
 * come first, as when it is loaded to go on with: so its journal speaks of the same ids.
 */
export function linesWithCallsApart(lines: readonly Line[]): { readonly lines: readonly Line[]; readonly renamed: number } {
  const isOwn = ({ file, entry }: Line): boolean => file.name === undefined && entry.isSidechain !== true;
  const order = [...lines.filter(isOwn), ...lines.filter((line) => !isOwn(line))];
  const positions = new Map<string, number>();
  for (const [position, { entry }] of order.entries()) {
    const uuid = stringAt(entry, 'uuid');
    if (uuid !== undefined && !positions.has(uuid)) positions.set(uuid, position);
  }
  const discarded = discardedLines(order);
  const pieces = order.map((line): PieceOfLine => {
    const { type, entry, blocks } = line;
    if (type !== 'assistant') return { line, role: 'user', blocks, behind: positions.get(stringAt(entry, 'parentUuid') ?? '') };
    return { line, role: 'assistant', blocks, answer: answerNameOf(line), isDiscarded: discarded.has(line) };
  });
  let renamed = 0;
  const changed = new Map<Line, Line>();
  for (const { line, blocks } of withCallsApart(pieces, () => renamed++)) {
    if (blocks !== line.blocks) changed.set(line, { ...line, blocks });
  }
  return { lines: lines.map((line) => changed.get(line) ?? line), renamed };
}

/** Answers that were given up: what came later under the same id counts. */
function discardedLines(lines: readonly Line[]): ReadonlySet<Line> {
  const found = new Set<Line>();
  const ids = new Set<string>();
  for (const line of [...lines].reverse()) {
    const { type, entry } = line;
    const id = type === 'system' && entry.subtype === 'message_discarded' ? stringAt(entry, 'messageId') : undefined;
    if (id !== undefined) ids.add(id);
    else if (ids.has(answerNameOf(line)?.messageId ?? '')) found.add(line);
  }
  return found;
}
