import { copyFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ContentBlockParam, MessageParam } from '../messages/types.js';
import type { Session } from '../session/session.js';
import { errorCode, messageOf } from '../tool/errors.js';

/** Results longer than this are cut in Markdown; the transcript has them whole. */
const RESULT_CHARS = 4000;

/** Writes a conversation to a file: the transcript as it is for `*.jsonl`, else Markdown. An existing file is not overwritten. Returns its path. */
export async function exportSession(
  session: Pick<Session, 'id' | 'messages' | 'transcriptPath'>,
  name: string,
  cwd: string,
): Promise<string> {
  const file = resolve(cwd, name === '' ? `sixgates-${session.id.slice(0, 8)}.md` : name);
  try {
    if (!file.endsWith('.jsonl')) await writeFile(file, toMarkdown(session.id, session.messages), { flag: 'wx' });
    else if (session.transcriptPath === null) throw new Error('the session is in memory and has no transcript');
    else await copyFile(session.transcriptPath, file, 1);
    return file;
  } catch (error) {
    const why = errorCode(error) === 'EEXIST' ? 'it exists already' : messageOf(error);
    throw new Error(`${file} was not written: ${why}.`);
  }
}

export function toMarkdown(id: string, messages: readonly MessageParam[]): string {
  const parts = messages.flatMap(({ role, content }) => {
    const blocks: readonly ContentBlockParam[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    return blocks.flatMap((block) => blockText(role, block));
  });
  return `# Session ${id}\n\n${parts.join('\n\n')}\n`;
}

function blockText(role: MessageParam['role'], block: ContentBlockParam): string[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [role === 'user' ? `**You:** ${block.text.trim()}` : block.text.trim()];
    case 'tool_use':
      return [`**${block.name}**\n\n${fenced(JSON.stringify(block.input, null, 2), 'json')}`];
    case 'tool_result': {
      const { content = '' } = block;
      const text =
        typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n');
      const cut = text.length > RESULT_CHARS ? `${text.slice(0, RESULT_CHARS)}\n… ${text.length - RESULT_CHARS} more characters` : text;
      return [`${block.is_error === true ? 'Failed' : 'Result'}:\n\n${fenced(cut, '')}`];
    }
    case 'thinking':
    case 'redacted_thinking':
      return [];
    default:
      return [`(${block.type})`];
  }
}

/** A fence longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
