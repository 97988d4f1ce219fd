/** Stands, inside a reading, for text that is only known when the command runs. */
export const UNKNOWN = '\u0000';

/** How strictly deny and ask rules look into a command. `claude-code` shows what Claude Code lets through. */
export type OpaqueMode = 'strict' | 'claude-code';

/** One word of a command as written. */
export interface ShellWord {
  /** The source text, quotes included. */
  readonly text: string;
  /** The word after quote removal; null where it is only known when the command runs (or becomes several words). */
  readonly value: string | null;
  /** Where `value` is null: words that it may become, as far as the text and the shell's own variables show. */
  readonly mayBe?: readonly string[];
  /** An unquoted `*`, `?` or `[…]`: the shell puts file names here. */
  readonly glob: boolean;
  /** An unquoted leading `~`. */
  readonly tilde: boolean;
}

export interface ShellAssignment {
  readonly name: string;
  readonly value: string | null;
}

/** Directories that a relative path may be relative to, themselves relative to the call's directory ('' is that directory). */
export interface ShellDirectories {
  readonly paths: readonly string[];
  /** A `cd` went somewhere that the text does not show. */
  readonly unknown: boolean;
}

export interface FileRedirect {
  readonly access: 'read' | 'write';
  readonly operator: string;
  /** As written. */
  readonly text: string;
  /** The target; null where it is only known when the command runs. */
  readonly target: string | null;
  /** Where `target` is null: what it may become. */
  readonly mayBe?: readonly string[];
  readonly glob: boolean;
  readonly tilde: boolean;
  readonly directories: ShellDirectories;
}

/** By which construct a command was reached that stands in another one's arguments or input. */
export type Via = 'wrapper' | 'xargs' | 'find' | 'script' | 'stdin' | 'eval' | 'trap' | 'alias' | 'multiplexer' | 'option' | 'coproc';

/** A simple command that the text shows, however nested. */
export interface ShellCommand {
  /** The command as written without redirections; line continuations joined. */
  readonly text: string;
  /** `text` without leading assignments: what allow rules are compared with. */
  readonly ruleText: string;
  readonly assignments: readonly ShellAssignment[];
  readonly words: readonly ShellWord[];
  readonly redirects: readonly FileRedirect[];
  readonly directories: ShellDirectories;
  /** All that it may be once it runs: one list of words each, `UNKNOWN` standing for what the text does not show. */
  readonly readings: readonly (readonly string[])[];
  /** Null for a command of the text itself; else the construct in whose arguments or input it stands. */
  readonly via: Via | null;
  /** Why neither a rule for single commands nor the built-in read-only set may cover it; empty for a plain command. */
  readonly blockers: readonly string[];
  /** `time` stands before its pipeline. */
  readonly timed: boolean;
}

/** Something that cannot be known before the command runs. */
export interface OpaquePart {
  readonly text: string;
  /** A phrase that a person understands: "the program name comes from a variable". */
  readonly reason: string;
}

export interface ShellAnalysis {
  readonly kind: 'parsed' | 'unparsable';
  /** Why it could not be parsed. */
  readonly reason?: string;
  /** The command, trimmed. */
  readonly text: string;
  /** Commands of the text itself: every one must be covered before the call runs unasked. */
  readonly commands: readonly ShellCommand[];
  /** Commands in others' arguments or input (`sh -c`, `xargs`, `find -exec`, `sudo` …): only deny and ask rules read these. */
  readonly nested: readonly ShellCommand[];
  readonly redirects: readonly FileRedirect[];
  readonly changesDirectory: boolean;
  /** Variables that the text sets for itself, each by a literal value: a command that a rule covers may still read them. */
  readonly assigned: readonly string[];
  /** Why neither a rule for single commands nor the built-in read-only set may cover the call; empty for plain commands. */
  readonly blockers: readonly string[];
  readonly opaque: readonly OpaquePart[];
  readonly mode: OpaqueMode;
}

export interface AnalyzeOptions {
  /** Default `strict`. */
  readonly opaque?: OpaqueMode;
  /** The call's directory, absolute: lets `cd /that/dir && git …` count as no change of directory. */
  readonly cwd?: string;
}

/** Longer commands are never analysed: they always ask (Claude Code docs, permissions). */
export const MAX_COMMAND_LENGTH = 10_000;
