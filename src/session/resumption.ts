import { isJsonObject } from '../json.js';
import type { LoadedTranscript } from '../messages/load.js';
import { normalizeMessagesForAPI } from '../messages/normalize.js';
import { closingResult, type ResumeState } from '../messages/resume.js';
import type { ContentBlockParam, MessageParam, ToolResultBlockParam } from '../messages/types.js';
import type { ToolUseRequest } from '../tool/call.js';

/** A turn that an earlier process left while it waited for a person. */
export interface Resumption {
  /** The history up to the answer whose calls are open. */
  readonly messages: readonly MessageParam[];
  /** Calls that were never begun, to be walked through the gates again; what was asked is asked again. */
  readonly calls: readonly ToolUseRequest[];
  /** Those of them that a person was being asked about. */
  readonly asked: ReadonlySet<string>;
  /** Calls of the same answer that have their result, or get one now because nobody knows what became of them. */
  readonly settled: readonly SettledBefore[];
}
export interface SettledBefore {
  readonly call: ToolUseRequest;
  readonly result: ToolResultBlockParam;
  /** Images beside the results, on the first settled call. */
  readonly images: readonly ContentBlockParam[];
  /** The result stands on the transcript already. */
  readonly isWritten: boolean;
}

/**
 * Whether open calls can be taken up again, and how. Only where a question was open when the process ended, and only while someone can
 * answer: nothing is run just because a session was opened. Taken up are the calls that were asked about, and those that never began
 * (they waited behind the question). A call that had begun is not run again, unless its tool says that running it twice is harmless:
 * its result says that it was interrupted and that its outcome is unknown.
 */
export function planResumption(
  loaded: Pick<LoadedTranscript, 'lines' | 'chain'>,
  { openCalls, parkedApprovals }: ResumeState,
  isIdempotent: (toolName: string) => boolean,
): Resumption | undefined {
  if (parkedApprovals.length === 0) return undefined;
  const messages = normalizeMessagesForAPI(loaded.chain);
  const at = messages.findLastIndex((message) => message.role === 'assistant');
  const answer = messages[at];
  if (answer === undefined || typeof answer.content === 'string') return undefined;
  const asked = answer.content.flatMap((block, index) => (block.type === 'tool_use' ? [requestOf(block, index)] : []));
  const open = new Map(openCalls.map((call) => [call.id, call]));
  // Older open calls would stand before answers that never saw them: such a history is closed, not taken up.
  if (openCalls.some((call) => !asked.some(({ id }) => id === call.id))) return undefined;
  const beside = messages.slice(at + 1).flatMap((message) => (typeof message.content === 'string' ? [] : message.content));
  const results = new Map(beside.flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, block] as const] : [])));
  const images = beside.filter((block) => block.type === 'image' || block.type === 'document');

  const calls: ToolUseRequest[] = [];
  const settled: SettledBefore[] = [];
  for (const call of asked) {
    const left = open.get(call.id);
    if (left !== undefined && (!left.started || (isIdempotent(left.name) && !hasOutcome(loaded, call.id)))) {
      calls.push(call);
      continue;
    }
    const result = left === undefined ? results.get(call.id) : closingResult(loaded, left);
    if (result === undefined) return undefined;
    settled.push({ call, result, images: settled.length === 0 ? images : [], isWritten: left === undefined });
  }
  const parked = new Set(parkedApprovals.map(({ callId }) => callId));
  return calls.length === 0 ? undefined : { messages: messages.slice(0, at + 1), calls, asked: parked, settled };
}

function requestOf(block: { readonly id: string; readonly name: string; readonly input: unknown }, index: number): ToolUseRequest {
  const input = isJsonObject(block.input)
    ? ({ kind: 'object', value: block.input } as const)
    : ({ kind: 'invalid', reason: 'the stored input is not an object' } as const);
  return { id: block.id, name: block.name, index, rawInput: JSON.stringify(block.input) ?? '', input };
}

const hasOutcome = ({ lines }: Pick<LoadedTranscript, 'lines'>, callId: string): boolean =>
  lines.some(({ kind, entry }) => kind === 'journal' && entry.type === 'call.outcome' && entry.callId === callId);
