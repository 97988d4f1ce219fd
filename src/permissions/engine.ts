import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { PermissionCall, PermissionState } from './call.js';
import { WorkingDirectories } from './directories.js';
import { computeFacts } from './facts.js';
import type { McpIdentity } from './mcpRules.js';
import { formsOf } from './pathAspect.js';
import { nodePathFs, type PathBase, type PathFs, pathForms } from './paths.js';
import { RuleSet, type RuleWarning, wholeToolRule } from './ruleSet.js';
import { canonicalToolName } from './toolNames.js';
import type { PermissionFacts, PermissionMode, PermissionRule, ToolPermissionContext } from './types.js';
import { applyPermissionUpdates, type PermissionStore, type UpdateResult } from './updates.js';

/** What a permission engine is made of. */
export interface PermissionEngineOptions {
  /** The rules in force, as `loadSettings` returns them. Default none. */
  readonly rules?: readonly PermissionRule[];
  /** The mode it starts in. Default `default`. */
  readonly mode?: PermissionMode;
  /** Working directory, absolute: rules are anchored here for the life of the session. */
  readonly cwd: string;
  /** Home directory, absolute: what `~/` in rules means. */
  readonly home: string;
  /** Directory of the user's settings, absolute: it is protected, and answers for the user are saved there. Default `<home>/.claude`. */
  readonly configDir?: string;
  /** Directories beside `cwd` that file tools may use, absolute. Default none. */
  readonly additionalDirectories?: readonly string[];
  /** Directories of the session's own files: read without a rule. */
  readonly internalDirectories?: readonly string[];
  /** Whether the mode may be switched to bypassPermissions while the session runs. Default: whether it starts in it. */
  readonly bypassAvailable?: boolean;
  /** Whether a person can be asked. Default false. */
  readonly canAsk?: boolean;
  /** Whether PermissionRequest hooks are configured for a tool. Default: none are. */
  readonly hasPermissionRequestHooks?: (toolName: string) => boolean;
  /** Whether a classifier is provided for mode auto. Default false. */
  readonly hasClassifier?: boolean;
  /**
   * Shell commands that hide what they run (`eval`, a variable in command position, an interpreter's `-c`). `strict` (default): denied where
   * the text shows a denied command, else asked about where any Bash deny or ask rule exists. `claude-code`: as leniently as Claude Code.
   */
  readonly opaque?: 'strict' | 'claude-code';
  /**
   * Whether reading outside the working directories is blocked (Claude Code docs, settings): file tools are refused, commands that are
   * seen to read there, or that cannot be followed, ask in every mode. Default false.
   */
  readonly outsideReadsBlocked?: boolean;
  /** Connected MCP servers. */
  readonly mcpServers?: readonly string[];
  /** Tools besides the built-in ones. */
  readonly toolNames?: readonly string[];
  /** The links and directories that path rules look at. Default: the real ones. */
  readonly fs?: PathFs;
  /** Whose path rules hold. Default: this system's. */
  readonly platform?: NodeJS.Platform;
}

/** A rule as `sources()` shows it. */
export interface RuleSource {
  /** The rule with its origin. */
  readonly rule: PermissionRule;
  /** Why it may not do what was meant; empty for a sound rule. */
  readonly warnings: readonly string[];
}

/** What a session knows of permissions: rules, mode and directories, and the facts of a call under them. */
export class PermissionEngine {
  private store: PermissionStore;
  private rules: RuleSet;
  private directories: WorkingDirectories;
  private readonly internal: WorkingDirectories;
  private readonly configDirs: readonly string[];
  private readonly base: PathBase;
  private readonly fs: PathFs;

  constructor(private readonly options: PermissionEngineOptions) {
    this.fs = options.fs ?? nodePathFs;
    this.base = { cwd: options.cwd, home: options.home, platform: options.platform ?? process.platform };
    const mode = options.mode ?? 'default';
    this.store = {
      rules: options.rules ?? [],
      mode,
      additionalDirectories: options.additionalDirectories ?? [],
      bypassAvailable: options.bypassAvailable ?? mode === 'bypassPermissions',
    };
    this.rules = this.compileRules();
    this.directories = this.compileDirectories();
    const [first, ...rest] = options.internalDirectories ?? [];
    // One that is called `.claude` is protected by its name.
    const { configDir = '.claude' } = options;
    this.configDirs = basename(configDir) === '.claude' ? [] : [configDir, pathForms(configDir, this.fs).target];
    this.internal = first === undefined ? this.directories : new WorkingDirectories(first, rest, this.base, this.fs);
  }

  /** The mode that holds now. */
  get mode(): PermissionMode {
    return this.store.mode;
  }

  /** Working directory and additional directories, absolute. */
  get workingDirectories(): readonly string[] {
    return this.directories.paths;
  }

  /** Rules without effect or with a doubtful spelling. */
  get warnings(): readonly RuleWarning[] {
    return this.rules.warnings;
  }

  /** Facts of a call. `cwd` is the directory that its relative paths start from; default the session's. */
  facts(call: PermissionCall, cwd: string = this.options.cwd): PermissionFacts {
    return computeFacts(call, this.state(call.toolName, cwd));
  }

  /** What tools may know: mode, directories, and whether a deny rule covers a file. */
  toolPermissionContext(): ToolPermissionContext {
    const state = this.state('', this.options.cwd);
    return {
      mode: this.mode,
      directories: this.workingDirectories,
      deniesPath: (access, path) => {
        const forms = formsOf(path, state);
        const { deny } = state.rules;
        return access === 'read' ? deny.read.match(forms) : (deny.edit.match(forms) ?? deny.read.match(forms));
      },
    };
  }

  /** True when a deny rule covers every call of the tool: the model is not shown it. */
  isToolHidden(name: string, mcp?: McpIdentity): boolean {
    return wholeToolRule(this.rules.deny, { toolName: canonicalToolName(name), mcp }) !== null;
  }

  /** Changes the mode for the session. Refused with a warning where bypassPermissions was not available from the start. */
  setMode(mode: PermissionMode): UpdateResult {
    return this.apply([{ type: 'setMode', mode, destination: 'session' }]);
  }

  /** Applies changes that came with an answer, in memory and in the files they name. Malformed ones are dropped with a warning. */
  apply(updates: unknown): UpdateResult {
    const { cwd, home, configDir } = this.options;
    const context = { cwd, home, newId: randomUUID, ...(configDir === undefined ? {} : { configDir }) };
    const result = applyPermissionUpdates(updates, this.store, context);
    this.store = result.store;
    this.rules = this.compileRules();
    this.directories = this.compileDirectories();
    return result;
  }

  /** Every rule with its origin and whatever is doubtful about it. */
  sources(): readonly RuleSource[] {
    return this.store.rules.map((rule) => ({
      rule,
      warnings: this.rules.warnings.filter((warning) => warning.rule === rule).map(({ message }) => message),
    }));
  }

  private state(toolName: string, cwd: string): PermissionState {
    const { canAsk = false, hasClassifier = false, hasPermissionRequestHooks } = this.options;
    return {
      rules: this.rules,
      mode: this.store.mode,
      cwd,
      directories: this.directories,
      internalDirectories: this.internal,
      fs: this.fs,
      canAsk,
      hasClassifier,
      opaque: this.options.opaque ?? 'strict',
      outsideReadsBlocked: this.options.outsideReadsBlocked ?? false,
      configDirs: this.configDirs,
      hasPermissionRequestHooks: hasPermissionRequestHooks?.(toolName) ?? false,
    };
  }

  private compileRules(): RuleSet {
    const { mcpServers, toolNames } = this.options;
    return new RuleSet(this.store.rules, this.base, this.fs, {
      ...(mcpServers === undefined ? {} : { mcpServers }),
      ...(toolNames === undefined ? {} : { toolNames }),
    });
  }

  private compileDirectories(): WorkingDirectories {
    return new WorkingDirectories(this.options.cwd, this.store.additionalDirectories, this.base, this.fs);
  }
}
