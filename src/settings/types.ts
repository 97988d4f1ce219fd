import type { JsonObject, JsonValue } from '../json.js';
import type { PermissionMode, PermissionRule, RuleScope } from '../permissions/types.js';

/** Something about a settings file that its author should know. What it speaks of is ignored; everything else stays in force. */
export interface SettingsProblem {
  /** `error`: invalid, and ignored. `warning`: valid, but without the effect that was probably meant. */
  readonly severity: 'error' | 'warning';
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
  readonly scope: RuleScope;
  readonly file?: string;
  /** The parsed content; of a file with syntax errors, what could be read. */
  readonly settings: JsonObject;
}

/** One matcher group of a `hooks` key, as it stands. */
export interface SettingsHookGroup {
  readonly event: string;
  readonly group: JsonValue;
  readonly scope: RuleScope;
  readonly file?: string;
  readonly line?: number;
}

/** The JSON object form of a settings file, for the library's options and for flags. */
export interface PermissionSettings {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly additionalDirectories?: readonly string[];
  readonly defaultMode?: string;
}

/** Which files and values `loadSettings` reads. */
export interface LoadSettingsOptions {
  /** Home directory, absolute. User settings are `<home>/.claude/settings.json`. */
  readonly home: string;
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
  readonly rules: readonly PermissionRule[];
  readonly mode: PermissionMode;
  readonly bypassDisabled: boolean;
  readonly autoDisabled: boolean;
  /** Absolute, normalised, without the working directory. */
  readonly additionalDirectories: readonly string[];
  readonly hooks: readonly SettingsHookGroup[];
  readonly disableAllHooks: boolean;
  readonly allowManagedHooksOnly: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** All keys merged: the strongest scope's scalar, all scopes' array items, objects key by key. */
  readonly merged: JsonObject;
  /** Those that exist, weakest first. */
  readonly files: readonly SettingsFile[];
  readonly problems: readonly SettingsProblem[];
  /** `problems` as lines for a terminal. */
  readonly warnings: readonly string[];
}
