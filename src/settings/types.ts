import type { JsonObject, JsonValue } from '../json.js';
import type { PermissionMode, PermissionRule, RuleScope } from '../permissions/types.js';

/** Something about a settings file that its author should know. What it speaks of is ignored; everything else stays in force. */
export interface SettingsProblem {
  /** `error`: invalid, and ignored. `warning`: valid, but without the effect that was probably meant. */
  readonly severity: 'error' | 'warning';
  /** The kind of place the settings came from. */
  readonly scope: RuleScope;
  /** Undefined for settings given in code or as flags. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  /** Path inside the file: `permissions.deny[0]`; empty for the file as a whole. */
  readonly path: string;
  /** What is wrong and the way out. */
  readonly message: string;
}

/** A settings file as it was read. Fits `HookSource`. */
export interface SettingsFile {
  /** Which of the settings files it is. */
  readonly scope: RuleScope;
  /** Its path; undefined for settings given in code or as flags. */
  readonly file?: string;
  /** The parsed content; of a file with syntax errors, what could be read. */
  readonly settings: JsonObject;
}

/** One matcher group of a `hooks` key, as it stands. */
export interface SettingsHookGroup {
  /** The key it stands under, known or not. */
  readonly event: string;
  /** The group as parsed: `{ matcher?, hooks }` where it is well-formed. */
  readonly group: JsonValue;
  /** The kind of place it came from. */
  readonly scope: RuleScope;
  /** The file it stands in; undefined for settings given in code. */
  readonly file?: string;
  /** 1-based line in `file`. */
  readonly line?: number;
}

/** The JSON object form of a settings file, for the library's options and for flags. */
export interface PermissionSettings {
  /** Rules whose calls run without a question: `Bash(npm test)`. */
  readonly allow?: readonly string[];
  /** Rules whose calls a person is asked about, whatever allows them. */
  readonly ask?: readonly string[];
  /** Rules whose calls never run. */
  readonly deny?: readonly string[];
  /** Directories beside the working directory that file tools may use; `~/` and relative paths are resolved. */
  readonly additionalDirectories?: readonly string[];
  /** The permission mode to start in. Unknown ones are told and ignored. */
  readonly defaultMode?: string;
}

/** Which files and values `loadSettings` reads. */
export interface LoadSettingsOptions {
  /** Home directory, absolute. */
  readonly home: string;
  /** Directory of the user's settings, absolute. Default `<home>/.claude`; a session takes `CLAUDE_CONFIG_DIR` for its own. */
  readonly configDir?: string;
  /** Working directory, absolute: the project. */
  readonly cwd: string;
  /** False reads none of the user's, the project's and the local settings. Default true. */
  readonly files?: boolean;
  /** A further file (`--settings FILE`): stronger than the project's files, its `/path` rules anchored at its own directory. */
  readonly settingsFile?: string;
  /** A file that stands in for `<cwd>/.claude/settings.json`. */
  readonly projectFile?: string;
  /** Managed settings; default none. `managedSettingsFile()` knows the place they have on this system. */
  readonly managedFile?: string;
  /** Command-line flags. */
  readonly flags?: PermissionSettings;
  /** Settings given in code: the same keys as in a file. */
  readonly settings?: JsonObject;
  /**
   * Whether the person has trusted this directory. Without trust the project's allow rules and additional directories are
   * ignored with a warning; its deny and ask rules always hold. Default false.
   */
  readonly trusted?: boolean;
  /** Tools besides the built-in ones, so that rules for them are not called unknown. */
  readonly toolNames?: readonly string[];
}

/** All settings of a session, joined. Plain JSON. */
export interface LoadedSettings {
  /** All rules of all sources; a project's allow rules only where it is trusted. */
  readonly rules: readonly PermissionRule[];
  /** The mode a session starts in. */
  readonly mode: PermissionMode;
  /** `disableBypassPermissionsMode`: the mode bypassPermissions cannot be had. */
  readonly bypassDisabled: boolean;
  /** `disableAutoMode`: the mode auto cannot be had. */
  readonly autoDisabled: boolean;
  /** Directory of the user's settings, absolute: answers for the user are saved there, and no tool writes to it unasked. */
  readonly configDir: string;
  /** `blockReadsOutsideWorkingDirectories`: nothing outside the working directories is read without a person's yes. */
  readonly outsideReadsBlocked: boolean;
  /** Absolute, normalised, without the working directory. */
  readonly additionalDirectories: readonly string[];
  /** Matcher groups of all `hooks` keys, weakest source first. */
  readonly hooks: readonly SettingsHookGroup[];
  /** No hook of any source is run. */
  readonly disableAllHooks: boolean;
  /** Only hooks of managed settings are run. */
  readonly allowManagedHooksOnly: boolean;
  /** Variables for child processes, the strongest source's value for each. */
  readonly env: Readonly<Record<string, string>>;
  /** All keys merged: the strongest scope's scalar, all scopes' array items, objects key by key. */
  readonly merged: JsonObject;
  /** Those that exist, weakest first. */
  readonly files: readonly SettingsFile[];
  /** What is wrong with the files, each with its place. */
  readonly problems: readonly SettingsProblem[];
  /** `problems` as lines for a terminal. */
  readonly warnings: readonly string[];
}
