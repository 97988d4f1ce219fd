import type { JsonObject } from '../json.js';
import type { WorkingDirectories } from './directories.js';
import type { McpIdentity } from './mcpRules.js';
import type { PathBase, PathFs } from './paths.js';
import type { RuleSet } from './ruleSet.js';
import type { HookVerdict, PermissionFacts, PermissionMode, PermissionUpdate, RuleMatch, SafetyFinding, ToolVerdict } from './types.js';

/** A call as the permission rules see it. */
export interface PermissionCall {
  /** The tool's canonical name: for MCP tools the full `mcp__server__tool`. */
  readonly toolName: string;
  /** After `backfillObservableInput`. */
  readonly input: JsonObject;
  /** As the model wrote it; `Tool(field:value)` rules read this one. Default: `input`. */
  readonly rawInput?: JsonObject;
  /** Set for tools of MCP servers. Without it an MCP tool is judged by its name alone. */
  readonly mcp?: McpIdentity;
  /** What the PreToolUse hooks said; null or undefined when there were none. */
  readonly hook?: HookVerdict | null;
  /** True when a PreToolUse hook supplied this input: with its allow that answers AskUserQuestion and ExitPlanMode. */
  readonly hookSuppliedInput?: boolean;
  /** What the tool's `checkPermissions` said. */
  readonly tool?: ToolVerdict;
  /** The tool's `requiresUserInteraction`, or the MCP annotation of that meaning. */
  readonly requiresUserInteraction?: boolean;
  /** The tool's `isReadOnly` of this input; undefined where nobody knows (a call judged by name alone). */
  readonly readOnly?: boolean;
  /** From the tool's `preparePermissionMatcher`. */
  readonly matchesContent?: (ruleContent: string) => boolean;
}

/** The state of a session that decisions depend on. */
export interface PermissionState {
  readonly rules: RuleSet;
  readonly mode: PermissionMode;
  /** Where relative paths of a call start; may differ from the directory that rules are anchored at. */
  readonly cwd: string;
  readonly directories: WorkingDirectories;
  /** Directories of the session's own files (persisted results): read without a rule, never written. */
  readonly internalDirectories?: WorkingDirectories;
  readonly fs: PathFs;
  readonly canAsk: boolean;
  readonly hasPermissionRequestHooks: boolean;
  readonly hasClassifier: boolean;
  /** What becomes of commands that cannot be known before they run. Default `strict`. */
  readonly opaque?: 'strict' | 'claude-code';
  /** Directory of the user's settings, as written and where it leads. */
  readonly configDirs: readonly string[];
  /** Settings keep reads inside the working directories, whatever rules and mode say. */
  readonly outsideReadsBlocked?: boolean;
}

export const baseOf = (state: PermissionState): PathBase => ({ ...state.rules.base, cwd: state.cwd });

/** What a kind of tool contributes to the facts beyond its name. */
export interface CallAspect {
  readonly deny: RuleMatch | null;
  readonly ask: RuleMatch | null;
  readonly allow: RuleMatch | null;
  readonly safety: (SafetyFinding & { readonly bypassable: boolean }) | null;
  readonly builtIn: string | null;
  /** A reason to refuse the call whatever the rules. */
  readonly refusal: string | null;
  /** The call changes files, or runs a command that is not known to change nothing. */
  readonly writes: boolean;
  /** Why acceptEdits lets it run; null when it does not. */
  readonly acceptEdits: string | null;
  readonly blockedPath: string | null;
  /** The part that no rule, mode or list covers, in words. */
  readonly uncovered: string | null;
  readonly suggestions: readonly PermissionUpdate[];
  readonly targets?: PermissionFacts['targets'];
}

export const NO_ASPECT: CallAspect = {
  deny: null,
  ask: null,
  allow: null,
  safety: null,
  builtIn: null,
  refusal: null,
  writes: false,
  acceptEdits: null,
  blockedPath: null,
  uncovered: null,
  suggestions: [],
};
