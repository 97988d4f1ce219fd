import { homedir } from 'node:os';
import { posix } from 'node:path';

/** A path as a call may write it. */
export interface SpelledPath {
  readonly path: string;
  readonly spelling: string;
  readonly links?: Readonly<Record<string, string>>;
}
/** The directories that path patterns speak of. */
export interface PathPlaces {
  /** Working directory, absolute. */
  readonly cwd: string;
  /** Home directory, absolute. */
  readonly home: string;
  /** Where a leading slash of a pattern points. Default: the working directory. */
  readonly root?: string;
}

/** Files, absolute, that a path pattern speaks of. */
export function samplePaths(pattern: string, { cwd, home = homedir(), root = cwd }: PathPlaces): readonly string[] {
  const written = pattern.trim();
  if (written === '' || written === '*' || written === '**') return [posix.join(cwd, 'sample.txt'), posix.join(cwd, 'deep/sample.txt')];
  if (written.startsWith('//')) return samplesBelow('/', written.slice(2));
  if (written === '~' || written.startsWith('~/')) return samplesBelow(home, written.slice(2));
  if (written.startsWith('/')) return samplesBelow(root, written.slice(1));
  const plain = written.replace(/^(?:\.\/)+/, '');
  // Without a slash inside, a pattern speaks of a name at any depth.
  const anyDepth = !plain.replace(/\/\*{1,2}$/, '').includes('/') && plain === written;
  return [...samplesBelow(cwd, plain), ...(anyDepth ? samplesBelow(posix.join(cwd, 'sub'), plain) : [])];
}

function samplesBelow(directory: string, pattern: string): string[] {
  const parts = pattern.split('/').filter((part) => part !== '');
  const last = parts.at(-1);
  if (last === undefined) return [posix.join(directory, 'sample.txt')];
  const name = (part: string): string =>
    part
      .replaceAll(/\*+/g, 'sample')
      .replaceAll('?', 'x')
      .replaceAll(/\[([^\]])[^\]]*\]/g, '$1');
  if (last === '**') {
    const above = fill(parts.slice(0, -1), name);
    return [posix.join(directory, ...above, 'sample.txt'), posix.join(directory, ...above, 'deep/sample.txt')];
  }
  if (last === '*') return [posix.join(directory, ...fill(parts.slice(0, -1), name), 'sample.txt')];
  const shallow = posix.join(
    directory,
    ...fill(
      parts.filter((part) => part !== '**'),
      name,
    ),
  );
  if (!parts.includes('**')) return [shallow];
  return [shallow, posix.join(directory, ...parts.flatMap((part) => (part === '**' ? ['deep'] : [name(part)])))];
}

const fill = (parts: readonly string[], name: (part: string) => string): string[] =>
  parts.flatMap((part) => (part === '**' ? ['deep'] : [name(part)]));

/** Ways to write one file: relative and absolute forms, detours, links of its own and of its directory. */
export function spellPath(file: string, { cwd, home }: PathPlaces): readonly SpelledPath[] {
  const relative = posix.relative(cwd, file);
  const inside = relative !== '' && !relative.startsWith('..');
  const directory = posix.dirname(file);
  const base = posix.basename(file);
  const linkedFile = posix.join(cwd, 'linked-file');
  const linkedDirectory = posix.join(cwd, 'linked-directory');
  const middle = posix.dirname(relative);
  return [
    { path: file, spelling: 'by its absolute path' },
    ...(inside
      ? [
          { path: relative, spelling: 'by its relative path' },
          { path: `./${relative}`, spelling: 'with ./' },
        ]
      : []),
    ...(inside && middle !== '.' ? [{ path: `${middle}/../${relative}`, spelling: 'with a detour through ..' }] : []),
    { path: posix.join(cwd, 'sub') === directory ? `sub/../${relative}` : `sub/../${relative}`, spelling: 'out of a subdirectory' },
    { path: `${directory}//${base}`, spelling: 'with a double slash' },
    { path: `${directory}/./${base}`, spelling: 'with /./' },
    ...(file.startsWith(`${home}/`) ? [{ path: `~/${posix.relative(home, file)}`, spelling: 'with ~' }] : []),
    { path: 'linked-file', spelling: 'through a symbolic link to it', links: { [linkedFile]: file } },
    { path: `linked-directory/${base}`, spelling: 'through a link to its directory', links: { [linkedDirectory]: directory } },
  ];
}

/** Shell commands that read or change a file. */
export function shellAccess(access: 'read' | 'edit', path: string): readonly { readonly command: string; readonly spelling: string }[] {
  const directory = posix.dirname(path);
  const base = posix.basename(path);
  const commands =
    access === 'read'
      ? [`cat ${path}`, `head -n 1 ${path}`, `grep -n x ${path}`, `cat < ${path}`, `cd ${directory} && cat ${base}`, `wc -l ${path} | cat`]
      : [
          `echo x > ${path}`,
          `echo x >> ${path}`,
          `echo x | tee ${path}`,
          `sed -i s/a/b/ ${path}`,
          `cp other.txt ${path}`,
          `mv other.txt ${path}`,
          `rm ${path}`,
          `touch ${path}`,
          `cd ${directory} && touch ${base}`,
        ];
  return commands.map((command) => ({ command, spelling: `by the shell: ${command.split(' ')[0] ?? ''}` }));
}
