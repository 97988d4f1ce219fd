import type { JsonObject } from '../../json.js';
import type { AnyTool } from '../../tool/types.js';
import type { Finding, Severity } from '../audit/index.js';
import type { CallLike, ExploredHooks } from '../explore/index.js';
import type { ExplorationCounts } from '../explore/model.js';
import type { ModeCase } from '../explore/types.js';
import type { Property, PropertyResult } from '../properties.js';
import type { Thoroughness } from '../spelling/shell.js';

/** What must hold of settings, for `sixgates check` and for tests. */
export interface Policy {
  /** Statements about every path: `never('Bash(rm *)').runs({ unless: 'asked' })`. */
  readonly properties: readonly Property[];
  /** The project, relative to the policy file. Default: the policy file's directory. */
  readonly cwd?: string;
  /** Default: the user's home directory. */
  readonly home?: string;
  /** A settings file in place of the project's own, relative to `cwd`; or the content of one, and then no file is read. */
  readonly settings?: string | JsonObject;
  /** Default: `default`, `acceptEdits`, `plan`, `dontAsk` and the mode in which the settings begin, with those that properties name. */
  readonly modes?: readonly ModeCase[];
  /** `run` (default): the hooks of the settings are run on every call. `ignore`: as if there were none. Or any plan for them. */
  readonly hooks?: 'run' | 'ignore' | ExploredHooks;
  /** Default: the built-in tools. */
  readonly tools?: readonly AnyTool[];
  /** Connected MCP servers, whose tools rules may name. Default none. */
  readonly mcpServers?: readonly string[];
  /** Calls besides those that the properties speak of. */
  readonly calls?: readonly (string | CallLike)[];
  /** How many spellings a pattern has. Default `common`. */
  readonly spellings?: Thoroughness;
  /** Whether the settings are audited too. Default true. */
  readonly audit?: boolean;
  /** Findings of at least this severity fail the check. Default `hole`. */
  readonly failOn?: Severity;
}

/** What a policy’s check came to. */
export interface PolicyReport {
  /** What became of each property, in order. */
  readonly results: readonly PropertyResult[];
  /** What the audit found, holes first. */
  readonly findings: readonly Finding[];
  /** Null where the policy has no properties. */
  readonly counts: ExplorationCounts | null;
  /** Findings from which on the check fails. */
  readonly failOn: Severity;
  /** No violation, and no finding that fails the check. */
  readonly ok: boolean;
}
