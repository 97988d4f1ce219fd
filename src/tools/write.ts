import { lstat, open } from 'node:fs/promises';
import { z } from 'zod';
import { isApiImageType, sniffMediaType } from '../results/media.js';
import { buildTool } from '../tool/build.js';
import { ToolFailure } from '../tool/errors.js';
import type { FileRecord } from '../tool/types.js';
import { type CurrentFile, changeFile, type FileChange, type FileChangeOptions, MAX_EDIT_BYTES, type PlannedChange } from './fs/change.js';
import { digestOf } from './fs/ledger.js';
import { absolutePath, refusePath, resolveTarget } from './fs/paths.js';
import { decodeText, ENCODING_NAMES, encodeText, lineEndings, type TextFile } from './fs/text-file.js';

const inputSchema = z.strictObject({
  file_path: z.string().describe('Absolute path of the file to write'),
  content: z.string().describe('The whole new content of the file'),
});

const PROMPT = `Writes a file: creates it, with the directories it needs, or replaces its whole content.
- A file that exists must have been read whole with Read in this conversation first. Prefer Edit for changes to it.
- A new file gets exactly the given content. A file that exists keeps its encoding, and CRLF line ends where it has them throughout.`;

/** Creates a file or replaces its whole content. */
export function writeTool(options: FileChangeOptions = {}) {
  return buildTool({
    name: 'Write',
    description: 'Write a file',
    prompt: PROMPT,
    inputSchema,
    searchHint: 'create overwrite save file',
    resourceKeys: (input, cwd) => [`file:${absolutePath(input.file_path, cwd)}`],
    backfillObservableInput: (input, cwd) => ({ ...input, file_path: absolutePath(input.file_path, cwd) }),
    toAutoClassifierInput: (input) => `Write ${input.file_path}: ${input.content}`,
    async validateInput(input, context) {
      const refusal = refusePath(input.file_path);
      if (refusal !== undefined) return { ok: false, message: refusal };
      const real = await resolveTarget(absolutePath(input.file_path, context.cwd, context.env)).catch(() => undefined);
      const exists =
        real !== undefined &&
        (await lstat(real).then(
          // Of a directory or a device the call itself says what it is; reading it first is no way out.
          (stats) => stats.isFile(),
          () => false,
        ));
      if (real === undefined || !exists || context.files.get(real) !== undefined) return { ok: true };
      const unreadable = context.permissions.deniesPath('read', real) === null && (await isUnreadable(real));
      return { ok: false, message: unreadable ? notReadable(input.file_path) : notRead(input.file_path) };
    },
    async call(input, context) {
      const change = await changeFile(input.file_path, context, options, (current, target) => {
        if (current === undefined) return { text: input.content, like: { encoding: 'utf8', bom: false }, notes: [] };
        checkSeen(context.files.get(target.real), current, target.asked);
        return replacement(current.text, input.content);
      });
      return { data: change };
    },
    mapToolResultToToolResultBlockParam: (output: FileChange) => ({
      content: [`${output.filePath} was ${output.type === 'create' ? 'created' : 'overwritten'}.`, ...output.notes].join('\n'),
    }),
    renderToolUseMessage: (input) => ({ title: `Write ${input.file_path}`, body: input.content, format: 'code' }),
    renderToolResultMessage: (output) => ({ title: `Write ${output.filePath}`, body: output.diff, format: 'diff' }),
  });
}

function checkSeen(record: FileRecord | undefined, current: CurrentFile, asked: string): void {
  if (record === undefined) throw new ToolFailure(notRead(asked));
  if (record.partial) throw new ToolFailure(`Only a part of ${asked} was read. Read the whole file before replacing it, or use Edit.`);
  if (record.digest !== digestOf(current.bytes))
    throw new ToolFailure(`${asked} has changed since it was read. Read it again before replacing it.`);
}

/** New content in the form of the old: encoding, byte order mark, line ends. What is kept that was not asked for is said. */
function replacement(old: TextFile | undefined, content: string): PlannedChange {
  if (old === undefined) return { text: content, like: { encoding: 'utf8', bom: false }, notes: [] };
  const notes: string[] = [];
  let text = content;
  const before = lineEndings(old.text);
  if (before === '\r\n' && lineEndings(content) === '\n') {
    text = content.replaceAll('\n', '\r\n');
    notes.push('The file keeps its CRLF line ends.');
  }
  const after = lineEndings(text);
  if (before !== after && before !== 'none' && after !== 'none')
    notes.push(`The file's line ends were ${ENDINGS[before]} and are ${ENDINGS[after]} now, as in the given content.`);
  let like: Pick<TextFile, 'encoding' | 'bom'> = { encoding: old.encoding, bom: old.bom };
  if (old.bom && text.startsWith('\uFEFF')) text = text.slice(1);
  if (old.encoding !== 'utf8' || old.bom) {
    try {
      encodeText(text, like);
      notes.push(`The file keeps its encoding, ${ENCODING_NAMES[old.encoding]}${old.bom ? ' with a byte order mark' : ''}.`);
    } catch {
      like = { encoding: 'utf8', bom: false };
      notes.push(`The new content does not fit ${ENCODING_NAMES[old.encoding]}; the file is UTF-8 now.`);
    }
  }
  return { text, like, notes };
}

const ENDINGS = { '\n': 'LF', '\r\n': 'CRLF', mixed: 'mixed' } as const;

/** True for content that Read does not show, so that to ask for a read first would lead nowhere. */
async function isUnreadable(real: string): Promise<boolean> {
  const handle = await open(real, 'r').catch(() => undefined);
  if (handle === undefined) return false;
  try {
    const { size } = await handle.stat();
    if (size > MAX_EDIT_BYTES) return false;
    const bytes = await handle.readFile();
    const type = sniffMediaType(bytes);
    return decodeText(bytes) === undefined && !isApiImageType(type) && type !== 'application/pdf';
  } finally {
    await handle.close();
  }
}

function notReadable(asked: string): string {
  return `${asked} exists and is a binary file, which Read does not show. It is not overwritten unseen: look at it with a command, and remove it there if it shall be replaced.`;
}

function notRead(asked: string): string {
  return `${asked} exists and has not been read in this conversation. Read it first, then write it.`;
}
