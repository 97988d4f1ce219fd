import { basename } from 'node:path';
import { readClaudeTranscript } from '../../messages/sessions.js';
import type { ContentBlockParam, MessageParam } from '../../messages/types.js';
import type { Step, Turn } from '../script/steps.js';
import {
  callOf,
  type RecordedCall,
  type RecordedConversation,
  type RecordedQuery,
  type RecordedResult,
  recordedConversation,
  stepOf,
} from './conversation.js';

/** A transcript's conversations: the main one first, then those of subagents that share the file. */
export interface RecordedTranscript {
  /** The main conversation first. */
  readonly conversations: readonly RecordedConversation[];
}

/**
 * A real session as scripts and fake tools. Reads transcripts of Sixgates and of Claude Code; the file stays as it is.
 *
 * @throws when the file cannot be read, naming it.
 */
export function fromTranscript(path: string): RecordedTranscript {
  const { resume, sidechains } = readClaudeTranscript(path);
  const name = basename(path, '.jsonl');
  return {
    conversations: [
      fromMessages(resume.messages, name),
      ...sidechains.map(({ root, messages }) => fromMessages(messages, `${name}, sidechain ${root}`)),
    ].filter(({ queries }) => queries.length > 0),
  };
}

/** A history as the Messages API has it, as scripts and fake tools. */
export function fromMessages(messages: readonly MessageParam[], name = 'conversation'): RecordedConversation {
  const queries: { prompt: RecordedQuery['prompt']; turns: Turn[] }[] = [];
  const calls: RecordedCall[] = [];
  const results = new Map<string, RecordedResult>();
  let prompt: RecordedQuery['prompt'] | undefined;
  let goesOn = false;
  for (const message of messages) {
    if (message.role === 'user') {
      const blocks = typeof message.content === 'string' ? [] : message.content;
      for (const result of blocks) {
        if (result.type !== 'tool_result') continue;
        results.set(result.tool_use_id, { content: result.content, isError: result.is_error === true });
      }
      const said = typeof message.content === 'string' ? message.content : blocks.filter((block) => block.type !== 'tool_result');
      // What was said beside results went along with the running query.
      if (!goesOn && said.length > 0) prompt = promptOf(said);
      continue;
    }
    if (message.role !== 'assistant') continue;
    const blocks: readonly unknown[] = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
    const turn = blocks.flatMap((block): readonly Step[] => {
      const step = stepOf(block);
      return step === undefined ? [] : [step];
    });
    if (turn.length === 0) continue;
    const asked = blocks.flatMap((block) => callOf(block) ?? []);
    calls.push(...asked);
    if (!goesOn || queries.length === 0) queries.push({ prompt: prompt ?? '(the beginning is not recorded)', turns: [turn] });
    else queries.at(-1)?.turns.push(turn);
    goesOn = asked.length > 0;
    prompt = undefined;
  }
  // A call at the very end was answered by nobody: the query needs one more answer to come to its end.
  if (goesOn)
    queries.at(-1)?.turns.push([{ kind: 'text', text: '(the recording ends here)', pieces: ['(the recording ends here)'], open: false }]);
  return recordedConversation(name, queries, calls, results);
}

const promptOf = (said: string | readonly ContentBlockParam[]): RecordedQuery['prompt'] => {
  if (typeof said === 'string') return said;
  const [only] = said;
  return said.length === 1 && only?.type === 'text' ? only.text : said;
};
