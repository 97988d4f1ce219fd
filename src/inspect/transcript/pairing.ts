import type { JsonValue } from '../../json.js';
import { isLooseBlock, isServerToolResult, isServerToolUse, isToolResult, type LooseBlock, textField } from '../../messages/blocks.js';
import type { Line } from './lines.js';

/** A call as the file has it. */
export interface RecordedCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly line: Line;
  /** Undefined when no line of the file holds it. */
  result: RecordedResult | undefined;
}
export interface RecordedResult {
  readonly block: LooseBlock;
  readonly line: Line;
}

/** All calls of a transcript and what is left over. */
export interface Pairing {
  /** In order of the file, each id once. */
  readonly calls: ReadonlyMap<string, RecordedCall>;
  /** Results whose call is not in the file. */
  readonly orphans: readonly RecordedResult[];
  /** Blocks that repeat a call or a result; the first one counts. */
  readonly repeatedCalls: number;
  readonly repeatedResults: number;
}

/**
 * Pairs calls and results by their id alone, wherever they stand: blocks of one answer stand on several lines, results of parallel
 * calls hang off different parents, and a fork or resume writes lines once more. The lines' calls have been told apart.
 */
export function pairCalls(lines: readonly Line[]): Pairing {
  const calls = new Map<string, RecordedCall>();
  const results = new Map<string, RecordedResult>();
  let repeatedCalls = 0;
  let repeatedResults = 0;
  for (const line of lines) {
    for (const [index, block] of blocksOn(line).entries()) {
      if (isCall(block)) {
        const id = textField(block, 'id') || placeId(line, index);
        if (calls.has(id)) repeatedCalls++;
        else calls.set(id, { id, name: textField(block, 'name') || 'unnamed tool', input: block.input, line, result: undefined });
      } else if (isResult(block)) {
        const id = textField(block, 'tool_use_id');
        if (results.has(id)) repeatedResults++;
        else results.set(id, { block, line });
      }
    }
  }
  const orphans: RecordedResult[] = [];
  for (const [id, result] of results) {
    const call = calls.get(id);
    if (call) call.result = result;
    else orphans.push(result);
  }
  return { calls, orphans, repeatedCalls, repeatedResults };
}

/** Sixgates' own transcripts may hold a result in the journal, when its line could not be written with it. */
function blocksOn({ type, entry, blocks }: Line): readonly LooseBlock[] {
  return type === 'call.outcome' && isLooseBlock(entry.result) ? [entry.result] : blocks;
}

/** A call of this client or of the API's own servers. */
export const isCall = (block: LooseBlock): boolean => block.type === 'tool_use' || isServerToolUse(block);
export const isResult = (block: LooseBlock): boolean => isToolResult(block) || isServerToolResult(block);

/** The calls that a line holds and that are told where it stands. */
export function callsOn(line: Line, calls: ReadonlyMap<string, RecordedCall>): RecordedCall[] {
  return line.blocks.flatMap((block, index) => {
    const call = isCall(block) ? calls.get(textField(block, 'id') || placeId(line, index)) : undefined;
    return call?.line === line ? [call] : [];
  });
}

/** What stands for the id of a call that has none. */
const placeId = (line: Line, index: number): string => `${line.file.name ?? 'line'}:${line.number}:${index}`;

/** The text of a result's content, blocks that are no text left out. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const parts: readonly JsonValue[] = content;
  return parts
    .flatMap((part) => (typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? [part.text] : []))
    .join('\n');
}
