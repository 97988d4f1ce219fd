import { lstat, readFile } from 'node:fs/promises';
import type { ToolContext } from '../../tool/types.js';
import { MAX_EDIT_BYTES } from '../fs/change.js';
import { digestOf, recordSeen } from '../fs/ledger.js';
import { absolutePath, resolveTarget } from '../fs/paths.js';
import { decodeText } from '../fs/text-file.js';
import type { ShellOutput } from './shell-output.js';
import { member, syntaxOf, wordNodes } from './syntax.js';

/** Commands that show a file whole, and those that show a part of it. */
const WHOLE = new Set(['cat', 'nl', 'bat']);
const PART = new Set(['head', 'tail', 'sed', 'grep', 'rg', 'egrep', 'fgrep']);

export interface FileShown {
  readonly path: string;
  readonly partial: boolean;
}

/**
 * The one file that a command shows, if that is all it does: a single command without pipes or redirections, over a single
 * file given literally (Claude Code docs, tools reference: such a command counts as a read before an edit).
 */
export function fileShownBy(command: string): FileShown | undefined {
  const simple = simpleCommand(command);
  if (simple === undefined) return undefined;
  const [name, ...rest] = simple;
  if (name === undefined || !(WHOLE.has(name) || PART.has(name))) return undefined;
  if (name === 'sed' && !rest.includes('-n')) return undefined;
  const operands: string[] = [];
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? '';
    if (!word.startsWith('-') || word === '-') operands.push(word);
    // `head -n 5 file`: the number belongs to the option.
    else if (/^-[ncABCm]$/.test(word) && /^[+-]?\d+$/.test(rest[index + 1] ?? '')) index++;
  }
  // sed and the greps take their script or pattern first.
  const files = WHOLE.has(name) || name === 'head' || name === 'tail' ? operands : operands.slice(1);
  const [path] = files;
  if (files.length !== 1 || path === undefined || path === '-' || /[*?[{]/.test(path)) return undefined;
  const isWindow = name === 'bat' && rest.some((word) => /^(?:-r|--line-range|-d|--diff)/.test(word));
  return { path, partial: isWindow || !WHOLE.has(name) };
}

/** Records in the session's ledger what a command that succeeded has shown. Never fails: at worst the model must use Read. */
export async function recordShown(
  command: string,
  context: ToolContext,
  output: Pick<ShellOutput, 'stdout' | 'persistedOutputPath'>,
): Promise<void> {
  const shown = fileShownBy(command);
  if (shown === undefined || shown.path.endsWith('.ipynb')) return;
  try {
    const real = await resolveTarget(absolutePath(shown.path, context.cwd, context.env));
    const stats = await lstat(real);
    if (!stats.isFile() || stats.size > MAX_EDIT_BYTES || context.permissions.deniesPath('read', real) !== null) return;
    const bytes = await readFile(real);
    const isCut = output.persistedOutputPath !== undefined;
    // What `cat` printed tells whether the file has changed since.
    if (/^\s*cat\b/.test(command) && !isCut && !isPrinted(bytes, command, output.stdout)) return;
    recordSeen(context.files, real, { digest: digestOf(bytes), partial: shown.partial || isCut });
  } catch {
    // The file has gone; nothing was seen that could be edited.
  }
}

/** True when `cat` printed what the file holds now, its byte order mark included, with or without numbers before the lines. */
function isPrinted(bytes: Buffer, command: string, stdout: string): boolean {
  const file = decodeText(bytes);
  if (file === undefined) return false;
  const printed = /\s(?:-n|--number)\s/.test(command) ? stdout.replaceAll(/^ *\d+\t/gm, '') : stdout;
  return printed === (file.bom ? `\uFEFF${file.text}` : file.text);
}

/** The words of a script that is one simple command with literal words, or undefined. */
function simpleCommand(command: string): string[] | undefined {
  const statements = member(syntaxOf(command), 'commands');
  if (!Array.isArray(statements) || statements.length !== 1) return undefined;
  const [statement] = statements;
  const node = member(statement, 'command');
  const nodes = wordNodes(node);
  if (nodes === undefined || member(statement, 'background') === true) return undefined;
  const prefix = member(node, 'prefix');
  if (Array.isArray(prefix) && prefix.length > 0) return undefined;
  const words = nodes.map((word) => {
    const value = member(word, 'value');
    const text = member(word, 'text');
    return typeof value === 'string' && typeof text === 'string' && !/[$`<>]/.test(text) ? value : undefined;
  });
  return words.every((word) => word !== undefined) ? words : undefined;
}
