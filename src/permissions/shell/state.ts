import type { ParsedScript } from 'unbash';
import type { Stdin } from './derive.js';
import type { ReadContext } from './readings.js';
import type { FileRedirect, OpaquePart, ShellCommand, ShellDirectories, Via } from './types.js';

/** What is collected while a command's syntax tree is walked. */
export interface WalkState {
  readonly commands: ShellCommand[];
  readonly nested: ShellCommand[];
  readonly redirects: FileRedirect[];
  readonly opaque: OpaquePart[];
  readonly blockers: Set<string>;
  readonly aliases: Map<string, string[]>;
  readonly variables: Map<string, string[]>;
  /** The same variables, with the mode. */
  readonly reading: ReadContext;
  readonly cwd: string | undefined;
  changesDirectory: boolean;
  /** Changes of directory in the text itself that lead elsewhere. */
  moves: number;
  /** Variables that the text sets for itself, each by a literal value. */
  readonly assigned: Set<string>;
  /** Why the text must count as unparsable after all. */
  broken: string | null;
  /** Walks a script inside the one being walked. */
  readonly walkParsed: (parsed: ParsedScript, scope: Scope) => void;
}

/** Where in the script a node stands. */
export interface Scope {
  /** The text that positions of nodes point into. */
  readonly source: string;
  directories: ShellDirectories;
  readonly stdin: Stdin | null;
  readonly via: Via | null;
  readonly timed: boolean;
  readonly depth: number;
}
