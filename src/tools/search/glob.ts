import { stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { buildTool } from '../../tool/build.js';
import { ToolFailure } from '../../tool/errors.js';
import { globArguments, rootedPattern, rootFrom } from './pattern.js';
import { newestFirst, readable, searchPlace, searchTraits, shownPath } from './place.js';
import { fileNames } from './records.js';
import { runRipgrep } from './ripgrep.js';

const inputSchema = z.strictObject({
  pattern: z.string().min(1).describe('Glob pattern, such as "**/*.ts" or "src/**/*.{js,jsx}"'),
  path: z.string().optional().describe('Directory to search; default is the working directory'),
});

export interface GlobOutput {
  /** Most recently changed first. */
  readonly filenames: readonly string[];
  readonly numFiles: number;
  readonly truncated: boolean;
  readonly notes: readonly string[];
}

const MAX_FILES = 100;
/** Repositories' own stores: never what is searched for, and large. */
export const EXCLUDED = ['!**/.git/**', '!**/.svn/**', '!**/.hg/**', '!**/.jj/**'];

/** Finds files by name. */
export function globTool() {
  return buildTool({
    ...searchTraits<z.output<typeof inputSchema>>('Glob'),
    name: 'Glob',
    description: 'Find files by a glob pattern',
    prompt:
      'Finds files by a glob pattern, hidden and git-ignored ones too, the most recently changed first, at most 100. A pattern without a slash matches at any depth.',
    inputSchema,
    searchHint: 'find files by name pattern list directory',
    async call(input, context) {
      const { env, cwd } = context;
      const rooted = rootedPattern(input.pattern);
      const pattern = rooted?.pattern ?? input.pattern.replace(/^(?:\.\/)+/, '');
      const place = await searchPlace(rooted === undefined ? input.path : rootFrom(rooted.root, input.path, cwd, env), context);
      if (place.file !== undefined) throw new ToolFailure(`${input.path} is a file, not a directory to search in. Use Read to see it.`);
      const args = globArguments(EXCLUDED);
      if (env.CLAUDE_CODE_GLOB_HIDDEN !== 'false') args.push('--hidden');
      if (env.CLAUDE_CODE_GLOB_NO_IGNORE !== 'false') args.push('--no-ignore');
      const seconds = Number(env.CLAUDE_CODE_GLOB_TIMEOUT_SECONDS);
      const timeoutMs = Math.min(seconds > 0 ? seconds : 20, 86_400) * 1000;
      const search = (patterns: readonly string[]) =>
        runRipgrep({ args: [...patterns, ...args], cwd: place.directory, signal: context.signal, timeoutMs });
      const asClass = await search(['--files', '--null', '--glob', pattern]);
      // `app/[id]/page.tsx` names a directory as often as a class of characters: where the class finds nothing, the directory is meant.
      const literal = /\[[^\]]*\]/.test(pattern) && asClass.stdout === '' ? pattern.replace(/[[\]]/g, '\\$&') : undefined;
      const found = literal === undefined ? asClass : await search(['--files', '--null', '--glob', literal]);
      const mayRead = readable(context);
      const files = fileNames(found.stdout)
        .map((file) => path.resolve(place.directory, file))
        .filter(mayRead);
      const sorted = await newestFirst(files);
      const notes = [
        ...(found.truncated ? ['The search took too long; more files may match.'] : []),
        ...(files.length === 0 ? await directoryNote(path.join(place.directory, pattern), input.pattern, mayRead) : []),
        ...(literal !== undefined && files.length > 0 ? ['(The brackets in the pattern were taken for themselves.)'] : []),
      ];
      const output: GlobOutput = {
        filenames: sorted.slice(0, MAX_FILES).map((file) => shownPath(file, context.cwd)),
        numFiles: files.length,
        truncated: files.length > MAX_FILES || found.truncated,
        notes: [...notes, ...found.warnings],
      };
      return { data: output };
    },
    mapToolResultToToolResultBlockParam(output) {
      if (output.filenames.length === 0) return { content: ['No files found', ...output.notes].join('\n') };
      const more = output.numFiles - output.filenames.length;
      const cut = more > 0 ? [`(${more} more files match; use a narrower pattern or path)`] : [];
      return { content: [...output.filenames, ...cut, ...output.notes].join('\n') };
    },
    renderToolResultMessage: (output) => ({ title: `${output.numFiles} files`, body: output.filenames.join('\n') }),
  });
}

/** A pattern that names a directory finds nothing, since only files are found: that is said. */
async function directoryNote(named: string, pattern: string, mayRead: (absolute: string) => boolean): Promise<readonly string[]> {
  const isDirectory = await stat(named).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  const inside = `${pattern.replace(/\/+$/, '')}/**`;
  return isDirectory && mayRead(path.resolve(named)) ? [`${pattern} is a directory; the pattern for the files in it is ${inside}`] : [];
}
