import type { Transcript } from '../messages/transcript.js';
import type { ContentBlockParam } from '../messages/types.js';
import type { ConversationEntry } from './conversation.js';

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

const mutable = (content: string | readonly ContentBlockParam[]): string | ContentBlockParam[] =>
  typeof content === 'string' ? content : [...content];
