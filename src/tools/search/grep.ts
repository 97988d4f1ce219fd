import path from 'node:path';
import { z } from 'zod';
import { buildTool } from '../../tool/build.js';
import type { ToolContext } from '../../tool/types.js';
import { EXCLUDED } from './glob.js';
import { acrossLineEnds, globArguments, globsOf } from './pattern.js';
import { newestFirst, readable, searchPlace, searchTraits, shownPath } from './place.js';
import { fileNames, ripgrepRecords } from './records.js';
import { runRipgrep } from './ripgrep.js';

const count = z.number().int().nonnegative();
const inputSchema = z.strictObject({
  pattern: z.string().min(1).describe('Regular expression, in the syntax of ripgrep'),
  path: z.string().optional().describe('File or directory to search; default is the working directory'),
  glob: z.string().optional().describe('Only files that match this glob, such as "*.ts" or "*.{ts,tsx}"'),
  type: z.string().optional().describe('Only files of this type, such as js, py, rust'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .default('files_with_matches')
    .describe('Matching lines, files, or counts'),
  '-A': count.optional().describe('Lines to show after each match (content mode)'),
  '-B': count.optional().describe('Lines to show before each match (content mode)'),
  '-C': count.optional().describe('Lines to show before and after each match (content mode)'),
  context: count.optional().describe('The same as -C'),
  '-n': z.boolean().default(true).describe('Show line numbers (content mode)'),
  '-i': z.boolean().default(false).describe('Ignore case'),
  '-o': z.boolean().default(false).describe('Show only the matching part of a line (content mode)'),
  multiline: z.boolean().default(false).describe('Let a pattern span lines; . matches line ends too'),
  head_limit: count.default(250).describe('At most so many lines or files; 0 for all'),
  offset: count.default(0).describe('Skip so many lines or files first'),
});
type GrepInput = z.output<typeof inputSchema>;

export interface GrepOutput {
  readonly mode: GrepInput['output_mode'];
  /** Lines in content mode, files or `file:count` otherwise; what `head_limit` and `offset` left. */
  readonly entries: readonly string[];
  /** Entries before `head_limit` and `offset`. */
  readonly total: number;
  /** All matches, in count mode. */
  readonly matches?: number;
  readonly offset: number;
  readonly notes: readonly string[];
}

/** Searches file contents. */
export function grepTool() {
  return buildTool({
    ...searchTraits<GrepInput>('Grep'),
    name: 'Grep',
    description: 'Search file contents with a regular expression',
    prompt:
      'Searches file contents with ripgrep: regular expressions (escape literal braces), filtered by glob or type. Files that .gitignore names are skipped unless named by path. Shows files by default; output_mode content shows lines, count shows counts.',
    inputSchema,
    searchHint: 'search text regex content find in files',
    call: async (input, context) => ({ data: await grep(input, context) }),
    mapToolResultToToolResultBlockParam: (output) => ({ content: grepText(output) }),
    renderToolResultMessage: (output) => ({
      title: `${output.total} ${output.mode === 'content' ? 'lines' : 'files'}`,
      body: output.entries.join('\n'),
      format: 'code',
    }),
  });
}

async function grep(input: GrepInput, context: ToolContext): Promise<GrepOutput> {
  const place = await searchPlace(input.path, context);
  const run = (args: readonly string[]) => runRipgrep({ args, cwd: place.directory, signal: context.signal, timeoutMs: 60_000 });
  const globs = globsOf(input.glob ?? '');
  const found = await run(ripgrepArguments(input, globs, place.file));
  const absolute = (file: string): string => path.resolve(place.directory, file);
  // A glob that includes outranks .gitignore in ripgrep: what is not ignored is listed without it. A file that was named is searched anyway.
  const mayBeIgnored = place.file === undefined && found.stdout !== '' && globs.some((glob) => !glob.startsWith('!'));
  const listed = mayBeIgnored ? await run(['--files', '--null', '--hidden', ...globArguments(EXCLUDED)]) : undefined;
  const unignored = listed === undefined ? undefined : new Set(fileNames(listed.stdout).map(absolute));
  const mayRead = readable(context);
  const ignored = new Set<string>();
  const isShown = (file: string): boolean => {
    if (!mayRead(file)) return false;
    const isListed = unignored?.has(file) ?? true;
    if (!isListed) ignored.add(file);
    return isListed;
  };
  const isCut = found.truncated || listed?.truncated === true;
  const page = (entries: readonly string[]): Omit<GrepOutput, 'matches'> => ({
    mode: input.output_mode,
    entries: entries.slice(input.offset, input.head_limit === 0 ? undefined : input.offset + input.head_limit),
    total: entries.length,
    offset: input.offset,
    notes: [
      ...(isCut ? ['The search was cut off; there are more matches.'] : []),
      ...(ignored.size > 0 ? [`(left out as git-ignored: ${ignored.size}; give the file or its directory as path to search there)`] : []),
      ...found.warnings,
    ],
  });
  if (input.output_mode === 'files_with_matches') {
    const files = fileNames(found.stdout).map(absolute).filter(isShown);
    const sorted = await newestFirst(files);
    return page(sorted.map((file) => shownPath(file, context.cwd)));
  }
  const shown: string[] = [];
  let matches = 0;
  for (const record of ripgrepRecords(found.stdout)) {
    if (record.type === 'gap') {
      if (shown.at(-1) !== '--' && shown.length > 0) shown.push('--');
      continue;
    }
    const file = absolute(record.file);
    if (!isShown(file)) continue;
    const name = shownPath(file, context.cwd);
    if (record.type === 'binary') {
      shown.push(`${name}: binary file matches; its lines are not shown`);
      continue;
    }
    if (input.output_mode === 'count') matches += Number(record.text);
    shown.push(place.file !== undefined && input.output_mode === 'content' ? record.text : `${name}:${record.text}`);
  }
  if (shown.at(-1) === '--') shown.pop();
  return { ...page(shown), ...(input.output_mode === 'count' ? { matches } : {}) };
}

function ripgrepArguments(input: GrepInput, globs: readonly string[], file: string | undefined): string[] {
  const args = [
    '--color',
    'never',
    '--null',
    '--with-filename',
    '--no-heading',
    '--hidden',
    // `$` also matches before the line end of a CRLF file.
    '--crlf',
    '--max-columns',
    '500',
    '--max-columns-preview',
  ];
  switch (input.output_mode) {
    case 'files_with_matches':
      args.push('--files-with-matches');
      break;
    case 'count':
      args.push('--count-matches');
      break;
    case 'content': {
      args.push(input['-n'] ? '--line-number' : '--no-line-number', '--sort', 'path');
      const around = input['-C'] ?? input.context;
      if (around !== undefined) args.push('--context', String(around));
      if (input['-A'] !== undefined) args.push('--after-context', String(input['-A']));
      if (input['-B'] !== undefined) args.push('--before-context', String(input['-B']));
      if (input['-o']) args.push('--only-matching');
    }
  }
  if (input['-i']) args.push('--ignore-case');
  if (input.multiline) args.push('--multiline', '--multiline-dotall');
  if (input.type !== undefined) args.push('--type', input.type);
  return [
    ...args,
    ...globArguments([...globs, ...EXCLUDED]),
    '--regexp',
    input.multiline ? acrossLineEnds(input.pattern) : input.pattern,
    '--',
    ...(file === undefined ? ['./'] : [file]),
  ];
}

function grepText(output: GrepOutput): string {
  const { entries, total, offset, notes } = output;
  if (total === 0) return [output.mode === 'content' ? 'No matches found' : 'No files found', ...notes].join('\n');
  if (entries.length === 0) return `No entries at this offset (${offset}); there are ${total}.`;
  const end = offset + entries.length;
  const page = entries.length < total ? [`(entries ${offset + 1}-${end} of ${total}; use offset and head_limit for more)`] : [];
  const sum = output.matches === undefined ? [] : [`${output.matches} matches in ${total} files`];
  return [...entries, ...page, ...sum, ...notes].join('\n');
}
