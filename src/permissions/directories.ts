import { absolutePath, isInside, type PathBase, type PathForms, type PathFs, pathForms } from './paths.js';

/** The directories whose files need no rule to be read, and in which acceptEdits edits; each in both spellings of a link. */
export class WorkingDirectories {
  private readonly spellings: readonly string[];
  /** Absolute and normalised, links not followed. */
  readonly paths: readonly string[];

  constructor(cwd: string, additional: readonly string[], base: PathBase, fs: PathFs) {
    this.paths = [...new Set([cwd, ...additional].map((directory) => absolutePath(directory, base)))];
    this.spellings = [...new Set(this.paths.flatMap((path) => [path, pathForms(path, fs).target]))];
  }

  /** Both the path as asked for and what it leads to lie inside. */
  contain({ path, target, loops }: PathForms): boolean {
    return !loops && this.holds(path) && (target === path || this.holds(target));
  }

  private holds(path: string): boolean {
    return this.spellings.some((directory) => isInside(directory, path));
  }
}
