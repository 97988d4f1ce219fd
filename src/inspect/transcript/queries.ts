import { type AnswerName, isSameAnswer } from '../../messages/answerName.js';
import type { LooseBlock } from '../../messages/blocks.js';
import { answerNameOf } from './callsApart.js';
import { isMessage, type Line } from './lines.js';
import { INTERRUPTION } from './outcome.js';
import { callsOn, contentText, isResult, type RecordedCall } from './pairing.js';

/** One answer of the model: all lines that its name stands on, and the calls in them. */
export interface RecordedTurn {
  readonly lines: Line[];
  readonly calls: RecordedCall[];
}

/** A prompt and the answers up to the next one. */
export interface RecordedQuery {
  /** Undefined where answers stand before any prompt. */
  readonly prompt: Line | undefined;
  /** Lines beside prompt, answers and results: expansions, attachments, notices. */
  readonly others: Line[];
  readonly turns: RecordedTurn[];
}

/** A conversation in the order of its lines. */
export interface RecordedConversation {
  readonly queries: readonly RecordedQuery[];
  /** Lines before the first query, and those that stand for no query: compactions and what is no message at all. */
  readonly others: readonly Line[];
}

/** What a user line is: something a person or program asked, or something beside it. */
export type Said = 'prompt' | 'interrupted' | 'compact_summary' | 'meta' | 'result';

/** Parts a conversation into queries and turns. Lines of one message belong together however far apart they stand. */
export function partQueries(lines: readonly Line[], calls: ReadonlyMap<string, RecordedCall>): RecordedConversation {
  const queries: RecordedQuery[] = [];
  const others: Line[] = [];
  const answers = new Map<string, { readonly answer: AnswerName; readonly turn: RecordedTurn }[]>();
  const queryOf = (prompt: Line | undefined): RecordedQuery => {
    const query: RecordedQuery = { prompt, others: [], turns: [] };
    queries.push(query);
    return query;
  };
  for (const line of lines) {
    const own = callsOn(line, calls);
    if (line.repeated && own.length === 0) continue;
    if (line.type === 'assistant' || own.length > 0) {
      const answer = answerNameOf(line);
      const named = answers.get(answer?.messageId ?? '') ?? [];
      const known = answer && named.findLast((one) => isSameAnswer(one.answer, answer));
      const turn = known?.turn ?? newTurn(queries.at(-1) ?? queryOf(undefined));
      if (answer && !known) {
        named.push({ answer, turn });
        answers.set(answer.messageId, named);
      }
      turn.lines.push(line);
      turn.calls.push(...own);
    } else if (line.type === 'user' && isMessage(line)) {
      const said = saidOn(line);
      if (said === 'prompt') queryOf(line);
      else if (said === 'compact_summary') others.push(line);
      else (queries.at(-1)?.others ?? others).push(line);
    } else if (line.type === 'attachment') (queries.at(-1)?.others ?? others).push(line);
    else others.push(line);
  }
  return { queries, others };
}

function newTurn(query: RecordedQuery): RecordedTurn {
  const turn: RecordedTurn = { lines: [], calls: [] };
  query.turns.push(turn);
  return turn;
}

export function saidOn({ entry, blocks }: Line): Said {
  if (blocks.some(isResult)) return 'result';
  if (entry.isCompactSummary === true) return 'compact_summary';
  if (entry.isMeta === true) return 'meta';
  return INTERRUPTION.test(contentText(blocks)) ? 'interrupted' : 'prompt';
}

/** What of a line that holds a result is no result. */
export const besideResults = (line: Line): readonly LooseBlock[] => line.blocks.filter((block) => !isResult(block));
