import type { JsonObject } from '../json.js';

/** What is done where no rule decides (Claude Code docs, permission modes). */
export type PermissionMode =
  /** A person is asked. */
  | 'default'
  /** Changes of files inside the working directories are allowed; of anything else a person is asked. */
  | 'acceptEdits'
  /** What only reads is allowed; a person is asked before anything that may change something. */
  | 'plan'
  /** A classifier decides; a person is asked where there is none, or where it does not know. */
  | 'auto'
  /** Nobody is asked: what no rule allows is denied. */
  | 'dontAsk'
  /** Everything is allowed but what a deny or ask rule, or a safety check that cannot be passed over, keeps back. */
  | 'bypassPermissions';
/** What a rule says of the calls it matches. */
export type RuleBehavior = 'allow' | 'ask' | 'deny';
/** `deny > ask > allow > passthrough`; no layer lowers another's verdict. */
export type VerdictBehavior = RuleBehavior | 'passthrough';

/** Where a rule came from, strongest first. It decides which of several matching rules is named, never the verdict. */
export type RuleScope =
  /** The managed settings of this machine, which nothing overrides. */
  | 'managed'
  /** Command-line flags. */
  | 'cliArg'
  /** The file that `--settings` names. */
  | 'flagSettings'
  /** `.claude/settings.local.json` of the project. */
  | 'localSettings'
  /** `.claude/settings.json` of the project. */
  | 'projectSettings'
  /** `~/.claude/settings.json`. */
  | 'userSettings'
  /** An answer or update that holds for this session. */
  | 'session'
  /** Options given in code. */
  | 'option';

/** A rule with its origin: what `explain`, the trace and the inspector's Why panel show. */
export interface PermissionRule {
  /** What it says of the calls it matches. */
  readonly behavior: RuleBehavior;
  /** The tool it speaks of; may hold `*` where the grammar allows it. */
  readonly toolName: string;
  /** The text between the parentheses; undefined for a bare `Tool`. */
  readonly ruleContent?: string;
  /** The rule as written. */
  readonly text: string;
  /** The kind of place it came from. */
  readonly scope: RuleScope;
  /** The settings file it stands in; undefined for rules given in code, as flags, or with an answer. */
  readonly file?: string;
  /** 1-based line in `file`. */
  readonly line?: number;
  /** Directory that a leading `/` of a path rule is anchored at. */
  readonly root: string;
}

/** A rule of which it is known that it speaks of a call, and of which part of it. */
export interface RuleMatch {
  /** The rule that matched. */
  readonly rule: PermissionRule;
  /** The sub-command, path, domain … that matched, where it is not the whole input. */
  readonly matched?: string;
}

/** What a tool’s own `checkPermissions` says. */
export type ToolVerdict =
  /** No opinion: rules, hooks and mode decide. */
  | { readonly behavior: 'passthrough' }
  /** Saves the question where nothing else demands one. `updatedInput` walks the gates again. */
  | { readonly behavior: 'allow'; readonly reason: string; readonly updatedInput?: JsonObject }
  /** A person is to be asked, whatever allows it. */
  | { readonly behavior: 'ask'; readonly reason: string }
  /** The call does not run; the reason goes to the model. */
  | { readonly behavior: 'deny'; readonly reason: string };

/** What the joined PreToolUse hooks said of a call. */
export interface HookVerdict {
  /** The strongest of what the hooks said. */
  readonly behavior: VerdictBehavior;
  /** The hook that said it. */
  readonly hookName?: string;
  /** Its words, for the model and the person. */
  readonly reason?: string;
}

/** Something about the call that only a person may wave through, whatever rule allows it. */
export interface SafetyFinding {
  /**
   * What was found. `opaqueCommand`: a shell command that hides what it runs. `criticalRemoval`: a delete of a root, home or working
   * directory.
   */
  readonly kind: 'protectedPath' | 'criticalRemoval' | 'opaqueCommand' | 'unparsable' | 'outsideDirectories' | 'requiresPerson' | 'other';
  /** One sentence for the person who is asked. */
  readonly reason: string;
  /** The path concerned, where there is one. */
  readonly path?: string;
}

/**
 * All that the permission machine's guards read about a call, computed once by pure code. Plain JSON.
 * A field is null when that source has nothing to say.
 */
export interface PermissionFacts {
  /** The mode the call is judged in. */
  readonly mode: PermissionMode;
  /** The deny rule that matches. */
  readonly denyRule: RuleMatch | null;
  /** What PreToolUse hooks said. */
  readonly hook: HookVerdict | null;
  /** The ask rule that matches. */
  readonly askRule: RuleMatch | null;
  /** Only a person may answer this tool (AskUserQuestion, MCP tools that require it). */
  readonly requiresPerson: string | null;
  /** Asks in every mode but where `bypassable` and the mode is bypassPermissions. */
  readonly safety: (SafetyFinding & { readonly bypassable: boolean }) | null;
  /** What the tool's own `checkPermissions` said. */
  readonly tool: ToolVerdict;
  /** What the mode says by itself: plan asks for edits, acceptEdits allows them, bypass allows all, dontAsk never asks. */
  readonly modeVerdict: { readonly behavior: Exclude<VerdictBehavior, 'deny'>; readonly reason: string };
  /** The allow rule that covers the whole call. */
  readonly allowRule: RuleMatch | null;
  /** Needs no rule in any mode: read-only command, read inside the working directories. */
  readonly builtInAllow: string | null;
  /** The part that no rule, mode or list covers, in words: what a question is about when nothing demands one. */
  readonly uncovered?: string;
  /** Rules that matched but could not win, with what stood above them. */
  readonly shadowed: readonly { readonly rule: RuleMatch; readonly by: string }[];
  /** Whether a person (a prompt, a `canUseTool` callback) can be asked. */
  readonly canAsk: boolean;
  /** Whether PermissionRequest hooks are configured for the call; they are asked before the person. */
  readonly hasPermissionRequestHooks: boolean;
  /** Whether a classifier is provided for mode `auto`. Without one, auto asks. */
  readonly hasClassifier?: boolean;
  /** The yes that came together with exactly this input, given by whoever rewrote it. A person's saves the question; a hook's only one that no rule demands. */
  readonly approval?: TraceEntry;
  /** What to offer as "always allow". */
  readonly suggestions: readonly PermissionUpdate[];
  /** Where the paths of a file tool led when this was decided; a tool whose path leads elsewhere by then must refuse (see `stillLeadsTo`). */
  readonly targets?: readonly { readonly path: string; readonly target: string }[];
  /** Path that made the call ask, for the prompt. */
  readonly blockedPath?: string;
}

/** Who said something about a call. */
export type VerdictSource =
  /** A rule; `matched` is the part of the call it speaks of, where that is not all of it. */
  | { readonly type: 'rule'; readonly rule: PermissionRule; readonly matched?: string }
  | { readonly type: 'hook'; readonly hookName: string; readonly event: 'PreToolUse' | 'PermissionRequest' }
  | { readonly type: 'mode'; readonly mode: PermissionMode }
  | { readonly type: 'tool'; readonly toolName: string }
  | { readonly type: 'safety'; readonly finding: SafetyFinding }
  /** The list of what needs no rule: read-only commands, reads inside the working directories. */
  | { readonly type: 'builtIn' }
  /** The classifier of mode `auto`. */
  | { readonly type: 'classifier' }
  /** A person; `surface` is where: `terminal`, `inspector`, `canUseTool` … */
  | { readonly type: 'person'; readonly surface: string }
  /** There was no one to ask. */
  | { readonly type: 'nobody' }
  /** The call was aborted before it was decided. */
  | { readonly type: 'abort' };

/** One check of a decision, in the order in which it was asked for. */
export interface TraceEntry {
  /** The state of the permission machine that asked. */
  readonly check: string;
  /** What the check came to; `passthrough` where it had nothing to say. */
  readonly behavior: VerdictBehavior;
  /** Who gave the verdict. */
  readonly source?: VerdictSource;
  /** One sentence for a person. */
  readonly reason: string;
}

/** The joined verdict of a call with the trace that led to it. Plain JSON. */
export interface PermissionDecision {
  /** What became of the call. */
  readonly behavior: 'allow' | 'deny';
  /** The winner's words. */
  readonly reason: string;
  /** The entry of the trace that decided. */
  readonly winner: TraceEntry;
  /** Every check that was made, in order. */
  readonly trace: readonly TraceEntry[];
  /** Rules that matched but could not win, with what stood above them. */
  readonly shadowed: PermissionFacts['shadowed'];
  /** True when a person or a PermissionRequest hook said yes or no. */
  readonly asked: boolean;
  /** Input changed by whoever answered; goes back through parsing, validation and rules. */
  readonly updatedInput?: JsonObject;
  /** Changes to the rules that came with the answer ("always allow"); the session applies them. */
  readonly updatedPermissions?: readonly PermissionUpdate[];
  /** The person wants the whole query to stop. */
  readonly interrupt?: boolean;
}

/** Where a change is kept: for the session only (`session`, `cliArg`), or in the settings file of that name. */
export type PermissionDestination = 'userSettings' | 'projectSettings' | 'localSettings' | 'session' | 'cliArg';
/** A rule in two parts, as updates carry it. */
export interface PermissionRuleValue {
  /** The tool it speaks of. */
  readonly toolName: string;
  /** The text between the parentheses; undefined for the whole tool. */
  readonly ruleContent?: string;
}
/** The Agent SDK's shape of a change to permissions. */
export type PermissionUpdate =
  /** `replaceRules` puts the given ones in place of all rules of that behavior at the destination. */
  | {
      readonly type: 'addRules' | 'replaceRules' | 'removeRules';
      readonly rules: readonly PermissionRuleValue[];
      readonly behavior: RuleBehavior;
      readonly destination: PermissionDestination;
    }
  /** In a file it becomes the mode that later sessions start in. */
  | { readonly type: 'setMode'; readonly mode: PermissionMode; readonly destination: PermissionDestination }
  | {
      readonly type: 'addDirectories' | 'removeDirectories';
      readonly directories: readonly string[];
      readonly destination: PermissionDestination;
    };

/** The answer to a question, addressed to one call and bound to the exact input that was shown. */
export type PermissionAnswer =
  /** Yes. `updatedInput` is run in place of what was shown, once it has walked the gates again; `updatedPermissions` are applied and kept. */
  | {
      readonly behavior: 'allow';
      readonly updatedInput?: JsonObject;
      readonly updatedPermissions?: readonly PermissionUpdate[];
      readonly source: VerdictSource;
    }
  /** No. The message goes to the model; with `interrupt` the whole query stops. */
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: boolean; readonly source: VerdictSource };

/** What a tool may know of the session's permissions. */
export interface ToolPermissionContext {
  /** The session's permission mode. */
  readonly mode: PermissionMode;
  /** Working directory and additional directories, absolute and resolved. */
  readonly directories: readonly string[];
  /** True when a Read or Edit deny rule covers the path (either spelling of a link). */
  deniesPath(access: 'read' | 'edit', absolutePath: string): RuleMatch | null;
}
