import type { TranscriptLine } from '../messages/entries.js';
import type { JournalEntry } from '../messages/journal.js';
import type { Transcript } from '../messages/transcript.js';
import type { ContentBlockParam } from '../messages/types.js';
import { messageOf } from '../tool/errors.js';
import type { ConversationEntry, WrittenBefore } from './conversation.js';

/** Writes a line of the conversation. It is with the operating system when this returns. */
export function writeEntry(entry: ConversationEntry, transcript: Transcript): void {
  switch (entry.kind) {
    case 'user': {
      const prompt = entry.promptId === undefined ? {} : { promptId: entry.promptId };
      transcript.append({ type: 'user', message: { role: 'user', content: mutable(entry.content) }, ...prompt });
      return;
    }
    case 'assistant':
      transcript.append({
        type: 'assistant',
        message: { id: entry.messageId, role: 'assistant', model: entry.model, content: [entry.block] },
      });
      return;
    case 'attachment':
      transcript.append({ type: 'attachment', attachment: { ...entry.attachment } });
      return;
    case 'discarded':
      transcript.append({ type: 'system', subtype: 'message_discarded', messageId: entry.messageId, content: entry.reason });
      return;
    case 'compacted':
      transcript.appendCompaction(entry.compaction);
  }
}

/** What a transcript holds already under a name or an id that must not be given again. */
export function writtenBefore({ lines, loaded }: Transcript): WrittenBefore {
  return { answers: lines.flatMap(answerNamesOf), calls: loaded?.callIds ?? new Set() };
}

/** The name of the answer that a line is a piece of, as `writeEntry` wrote it. */
function answerNamesOf(line: TranscriptLine): readonly string[] {
  return line.kind === 'chain' && line.entry.type === 'assistant' && line.entry.message.id !== undefined ? [line.entry.message.id] : [];
}

const mutable = (content: string | readonly ContentBlockParam[]): string | ContentBlockParam[] =>
  typeof content === 'string' ? content : [...content];

/** What must be known before it happens: without its line it does not happen. */
const BEFORE_THE_FACT: ReadonlySet<JournalEntry['type']> = new Set<JournalEntry['type']>(['call.started', 'prompt.queued']);

/**
 * Writes journal lines. One that records what has happened already, and cannot be written, takes nothing back: it is told, once for each
 * reason, and only a restart will not know of it. One that has to stand before the fact throws.
 */
export function forgivingJournal(transcript: Transcript, tell: (message: string) => void): (entry: JournalEntry) => void {
  let told: string | undefined;
  return (entry) => {
    try {
      transcript.append(entry);
      told = undefined;
    } catch (error) {
      if (BEFORE_THE_FACT.has(entry.type)) throw error;
      const message = messageOf(error);
      if (message === told) return;
      told = message;
      tell(message);
    }
  };
}
