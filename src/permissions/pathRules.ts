import { posix } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { expandGlob } from './globs.js';
import { absolutePath, isInside, type PathBase, type PathForms, type PathFs, pathForms } from './paths.js';
import type { PermissionRule, RuleMatch } from './types.js';

/** A path rule, compiled: a gitignore pattern below a directory. */
interface PathRule {
  readonly rule: PermissionRule;
  readonly matcher: Ignore;
  /** The pattern as a glob from its directory on, to look for what it covers there; null for one that reaches to any depth. */
  readonly glob: string | null;
}

/** The rules that share a directory, with one joint matcher that answers "none of them" in one pass. */
interface Anchor {
  /** The directory as written and with its links followed. */
  readonly directories: readonly string[];
  readonly joint: Ignore;
  readonly rules: PathRule[];
}

/** A name that no directory has: what stands for "everything inside" when a whole directory is searched. */
const ANY_CHILD = '\u0001';

/**
 * Path rules of one behaviour and access. `//p` is absolute, `~/p` below home, `/p` below the rule's own root, all else
 * below the working directory (Claude Code docs, permissions). A deny or ask rule holds without regard to case and for
 * either spelling of a link; an allow rule must cover both.
 */
export class PathRuleSet {
  private readonly anchors = new Map<string, Anchor>();

  constructor(
    rules: readonly { readonly rule: PermissionRule; readonly pattern: string }[],
    private readonly base: PathBase,
    private readonly fs: PathFs,
    private readonly strict: boolean,
  ) {
    for (const { rule, pattern } of rules) this.add(rule, pattern);
  }

  get isEmpty(): boolean {
    return this.anchors.size === 0;
  }

  /** The first rule that covers the path, in the order in which the rules stand. */
  match(forms: PathForms, wholeDirectory = false): RuleMatch | null {
    if (this.anchors.size === 0) return null;
    if (this.strict) {
      const found = forms.all.map((path) => this.first(this.composed(path), wholeDirectory)).find((match) => match !== null);
      return found ?? null;
    }
    const byPath = this.first(forms.path, wholeDirectory);
    return byPath !== null && (forms.target === forms.path || this.first(forms.target, wholeDirectory) !== null) ? byPath : null;
  }

  /** The first rule that covers something that lies inside the paths now: whoever removes or moves a directory does so to all in it. */
  within(removed: readonly PathForms[]): RuleMatch | null {
    if (removed.length === 0) return null;
    const folded = (path: string): string => (this.anyCase ? path.toLowerCase() : path);
    const directories = new Set(removed.flatMap(({ all }) => all.map(folded)));
    const goesToo = (file: string): boolean =>
      file !== '/' && (directories.has(folded(posix.dirname(file))) || goesToo(posix.dirname(file)));
    for (const anchor of this.anchors.values()) {
      for (const { rule, glob } of anchor.rules) {
        if (glob === null) continue;
        const covered = anchor.directories.flatMap((directory) => expandGlob(posix.join(directory, glob), this.fs));
        const inside = covered.find((file) => goesToo(file) && this.exists(file));
        if (inside !== undefined) return { rule, matched: inside };
      }
    }
    return null;
  }

  private exists(file: string): boolean {
    return this.fs.readdir(posix.dirname(file)).includes(posix.basename(file));
  }

  private first(path: string, wholeDirectory: boolean): RuleMatch | null {
    for (const anchor of this.anchors.values()) {
      for (const directory of anchor.directories) {
        const relative = relativeTo(directory, path, this.anyCase);
        if (relative === null) continue;
        const names = relative === '' ? [ANY_CHILD] : wholeDirectory ? [relative, `${relative}/${ANY_CHILD}`] : [relative];
        const name = names.find((candidate) => anchor.joint.ignores(candidate));
        const found = name === undefined ? undefined : anchor.rules.find(({ matcher }) => matcher.ignores(name));
        if (found !== undefined) return { rule: found.rule, matched: path };
      }
    }
    return null;
  }

  private add(rule: PermissionRule, pattern: string): void {
    const anchored = resolvePattern(pattern, rule, this.base, this.strict);
    const { directory } = anchored;
    const relative = this.composed(anchored.relative);
    const known = this.anchors.get(directory);
    const directories = spellings(directory, this.fs).map((spelling) => this.composed(spelling));
    const anchor = known ?? { directories, joint: this.matcher(), rules: [] };
    if (known === undefined) this.anchors.set(directory, anchor);
    // The path as it is spelled stays protected where its brackets or backslashes make another pattern of it, or none.
    const patterns = this.strict && /[[\]\\]/.test(relative) ? [relative, relative.replace(/[[\]\\]/g, '\\$&')] : [relative];
    anchor.joint.add(patterns);
    anchor.rules.push({ rule, matcher: this.matcher().add(patterns), glob: globOf(relative) });
  }

  /** An accent may be a character of its own or part of the letter, and some file systems take both for one name: so does a rule that restricts. */
  private composed(text: string): string {
    return this.strict ? text.normalize('NFC') : text;
  }

  private matcher(): Ignore {
    return ignore({ ignorecase: this.anyCase });
  }

  private get anyCase(): boolean {
    return this.strict || this.base.platform === 'win32' || this.base.platform === 'darwin';
  }
}

function globOf(relative: string): string | null {
  const glob = relative.replace(/^\*\*\//, '').replace(/\/+$/, '');
  return glob === '' || /\*\*|\\/.test(glob) ? null : glob;
}

function spellings(directory: string, fs: PathFs): string[] {
  const { target } = pathForms(directory, fs);
  return target === directory ? [directory] : [directory, target];
}

function relativeTo(directory: string, path: string, anyCase: boolean): string | null {
  if (isInside(directory, path)) return directory === '/' ? path.slice(1) : path.slice(directory.length + 1);
  if (!anyCase) return null;
  const names = directory.split('/');
  const inside = path.split('/');
  const same = names.every((name, index) => name.toLowerCase() === inside[index]?.toLowerCase());
  return same ? inside.slice(names.length).join('/') : null;
}

interface Anchored {
  readonly directory: string;
  /** A gitignore pattern, on its own line and never a comment or a negation. */
  readonly relative: string;
}

/** `dir/**` speaks of the directory and of everything in it: to a gitignore pattern that is `dir`. */
function resolvePattern(written: string, rule: PermissionRule, base: PathBase, strict: boolean): Anchored {
  const anchored = anchor(written, rule, base, strict);
  const whole = /^(.*[^/*])\/\*\*\/?$/s.exec(anchored.relative)?.[1];
  return whole === undefined ? anchored : { directory: anchored.directory, relative: whole };
}

function anchor(pattern: string, rule: PermissionRule, base: PathBase, strict: boolean): Anchored {
  if (pattern.startsWith('//')) return below('/', pattern);
  if (pattern === '~' || pattern.startsWith('~/')) return below(absolutePath('~', base), pattern.slice(1));
  if (pattern.startsWith('/')) return below(absolutePath(rule.root, base), pattern);
  const plain = pattern.replace(/^(?:\.\/+)+/, '');
  if (plain === '..' || plain.startsWith('../')) return below(absolutePath('.', base), `/${plain}`);
  if (plain === '' || plain === '.' || plain === '**') return below(absolutePath('.', base), '/**');
  const cwd = absolutePath('.', base);
  const isWholeDirectory = /^[^/*]+\/\*\*$/.test(plain);
  if (strict && isWholeDirectory) return { directory: cwd, relative: `**/${plain}` };
  if (!strict && (isWholeDirectory || plain !== pattern)) return below(cwd, `/${plain}`);
  return { directory: cwd, relative: plain.replace(/^[#!]/, '\\$&') };
}

/** Anchors a pattern that starts with a slash; leading `..` climb. */
function below(directory: string, pattern: string): Anchored {
  let base = directory;
  let rest = pattern.replace(/^\/+/, '');
  for (let dots = /^(\.\.?)(?:\/+|$)/.exec(rest); dots !== null; dots = /^(\.\.?)(?:\/+|$)/.exec(rest)) {
    if (dots[1] === '..') base = posix.dirname(base);
    rest = rest.slice(dots[0].length);
  }
  return { directory: base, relative: rest === '' ? '/**' : `/${rest}` };
}
