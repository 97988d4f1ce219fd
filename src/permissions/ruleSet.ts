import type { JsonObject, JsonValue } from '../json.js';
import { domainMatches } from './domains.js';
import { type GrammarOptions, type RuleMatcher, readRule } from './grammar.js';
import { type McpIdentity, mcpRuleMatches } from './mcpRules.js';
import { PathRuleSet } from './pathRules.js';
import type { PathBase, PathFs } from './paths.js';
import { GOVERNED_BY } from './toolNames.js';
import type { PermissionRule, RuleBehavior, RuleMatch, RuleScope } from './types.js';
import { wildcard } from './wildcard.js';

/** Strongest first. Decides only which of several matching rules is named; a verdict never depends on it. */
const SCOPE_ORDER: readonly RuleScope[] = [
  'managed',
  'cliArg',
  'flagSettings',
  'localSettings',
  'projectSettings',
  'userSettings',
  'session',
  'option',
];

/** A rule without effect, or with a doubtful spelling. */
export interface RuleWarning {
  /** The rule concerned. */
  readonly rule: PermissionRule;
  /** What is wrong and the way out. */
  readonly message: string;
}

interface Compiled<Kind extends RuleMatcher['kind']> {
  readonly rule: PermissionRule;
  readonly matcher: Extract<RuleMatcher, { kind: Kind }>;
}

/** What the whole-tool, MCP and field rules must know of a call. */
export interface NamedCall {
  /** Canonical. */
  readonly toolName: string;
  readonly mcp?: McpIdentity;
  /** As the model wrote it. */
  readonly rawInput: JsonObject;
  readonly matchesContent?: (ruleContent: string) => boolean;
}

interface RuleEntry {
  readonly rule: PermissionRule;
  readonly matchers: readonly RuleMatcher[];
}

const ofKind =
  <Kind extends RuleMatcher['kind']>(kind: Kind) =>
  (matcher: RuleMatcher): matcher is Extract<RuleMatcher, { kind: Kind }> =>
    matcher.kind === kind;

const collect = <Kind extends RuleMatcher['kind']>(entries: readonly RuleEntry[], kind: Kind): readonly Compiled<Kind>[] =>
  entries.flatMap(({ rule, matchers }) => matchers.filter(ofKind(kind)).map((matcher) => ({ rule, matcher })));

/** The rules of one behaviour, by what they speak of. */
export class BehaviorRules {
  private readonly tools: ReadonlyMap<string, PermissionRule>;
  private readonly globs: readonly Compiled<'toolGlob'>[];
  private readonly mcp: readonly Compiled<'mcp'>[];
  private readonly params: readonly Compiled<'param'>[];
  private readonly contents: readonly Compiled<'content'>[];
  private readonly domains: readonly Compiled<'domain'>[];
  private readonly agents: readonly Compiled<'agent'>[];
  private readonly skills: readonly Compiled<'skill'>[];
  readonly bash: readonly Compiled<'bash'>[];
  readonly powershell: readonly Compiled<'powershell'>[];
  readonly read: PathRuleSet;
  readonly edit: PathRuleSet;
  readonly cd: PathRuleSet;

  constructor(
    private readonly behavior: RuleBehavior,
    entries: readonly RuleEntry[],
    base: PathBase,
    fs: PathFs,
    private readonly mcpServers: readonly string[],
  ) {
    // Reversed, so that of two rules for a tool the stronger scope's is the one that stays.
    this.tools = new Map(
      collect(entries, 'tool')
        .map(({ rule, matcher }) => [matcher.name, rule] as const)
        .reverse(),
    );
    this.globs = collect(entries, 'toolGlob');
    this.mcp = collect(entries, 'mcp');
    this.params = collect(entries, 'param');
    this.contents = collect(entries, 'content');
    this.domains = collect(entries, 'domain');
    this.agents = collect(entries, 'agent');
    this.skills = collect(entries, 'skill');
    this.bash = collect(entries, 'bash');
    this.powershell = collect(entries, 'powershell');
    const paths = collect(entries, 'path');
    const pathsFor = (access: 'read' | 'edit'): PathRuleSet =>
      new PathRuleSet(
        paths.filter(({ matcher }) => matcher.access === access).map(({ rule, matcher }) => ({ rule, pattern: matcher.pattern })),
        base,
        fs,
        behavior !== 'allow',
      );
    this.read = pathsFor('read');
    this.edit = pathsFor('edit');
    this.cd = new PathRuleSet(
      collect(entries, 'cd').map(({ rule, matcher }) => ({ rule, pattern: matcher.pattern })),
      base,
      fs,
      behavior !== 'allow',
    );
  }

  /** A rule for every call of the tool. */
  wholeTool(call: { readonly toolName: string; readonly mcp?: McpIdentity | undefined }): RuleMatch | null {
    const exact = this.tools.get(call.toolName);
    if (exact !== undefined) return { rule: exact };
    const glob = this.globs.find(({ matcher }) => wildcard(matcher.glob).test(call.toolName));
    if (glob !== undefined) return { rule: glob.rule };
    if (call.mcp === undefined && !call.toolName.startsWith('mcp__')) return null;
    const server = this.mcp.find(({ matcher }) => mcpRuleMatches(matcher.rest, this.behavior, call.toolName, call.mcp, this.mcpServers));
    return server === undefined ? null : { rule: server.rule };
  }

  /** A rule for this call by its fields, its own matcher, its domain or its name; not by path or command. */
  scoped(call: NamedCall, parts: { readonly host?: string | null; readonly agent?: string; readonly skill?: string }): RuleMatch | null {
    for (const { rule, matcher } of this.params) {
      const value = fieldText(call.rawInput[matcher.field]);
      if (value === null || !(matcher.name.includes('*') ? wildcard(matcher.name).test(call.toolName) : matcher.name === call.toolName))
        continue;
      if (wildcard(matcher.value).test(value)) return { rule, matched: `${matcher.field}: ${value}` };
    }
    if (typeof parts.host === 'string') {
      const { host } = parts;
      const found = this.domains.find(({ matcher }) => domainMatches(matcher.content, host));
      if (found !== undefined) return { rule: found.rule, matched: host };
    }
    const { agent, skill } = parts;
    const byName =
      (agent === undefined ? undefined : this.agents.find(({ matcher }) => nameMatches(matcher.content, agent, this.behavior))) ??
      (skill === undefined ? undefined : this.skills.find(({ matcher }) => nameMatches(matcher.content, skill, this.behavior)));
    if (byName !== undefined) return { rule: byName.rule, matched: agent ?? skill ?? '' };
    const own = this.contents.find(({ matcher }) => matcher.name === call.toolName && call.matchesContent?.(matcher.content) === true);
    return own === undefined ? null : { rule: own.rule };
  }
}

const fieldText = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;

/** `Skill(name *)` covers `name` with or without arguments. Names are compared without case where a rule restricts. */
function nameMatches(pattern: string, name: string, behavior: RuleBehavior): boolean {
  const flags = behavior === 'allow' ? 's' : 'is';
  const bare = /[ :]\*$/.test(pattern) ? pattern.slice(0, -2) : null;
  if (bare !== null && wildcard(bare, '.', flags).test(name)) return true;
  return wildcard(bare === null ? pattern : `${bare} *`, '.', flags).test(name);
}

/**
 * A rule for every call of a tool, written under its own name or that of the tool whose rules govern it: `Edit` speaks of every
 * tool that edits files, `Read` of every tool that looks into them, `Bash` of Monitor.
 */
export function wholeToolRule(
  rules: BehaviorRules,
  call: { readonly toolName: string; readonly mcp?: McpIdentity | undefined },
): RuleMatch | null {
  const own = rules.wholeTool(call);
  const governor = call.toolName === 'Monitor' ? 'Bash' : GOVERNED_BY.get(call.toolName);
  return own ?? (governor === undefined ? null : rules.wholeTool({ toolName: governor }));
}

/** All rules of a session, compiled once. */
export class RuleSet {
  readonly deny: BehaviorRules;
  readonly ask: BehaviorRules;
  readonly allow: BehaviorRules;
  /** Rules without effect or with a doubtful spelling. */
  readonly warnings: readonly RuleWarning[];

  constructor(
    readonly rules: readonly PermissionRule[],
    readonly base: PathBase,
    fs: PathFs,
    options: GrammarOptions & { readonly mcpServers?: readonly string[] } = {},
  ) {
    const warnings: RuleWarning[] = [];
    const ordered = [...rules].sort((a, b) => SCOPE_ORDER.indexOf(a.scope) - SCOPE_ORDER.indexOf(b.scope));
    const entries = ordered.map((rule) => {
      const read = readRule(rule, { home: base.home, ...options });
      for (const message of read.warnings) warnings.push({ rule, message });
      return { rule, matchers: read.matchers };
    });
    const of = (behavior: RuleBehavior): BehaviorRules =>
      new BehaviorRules(
        behavior,
        entries.filter(({ rule }) => rule.behavior === behavior),
        base,
        fs,
        options.mcpServers ?? [],
      );
    this.deny = of('deny');
    this.ask = of('ask');
    this.allow = of('allow');
    this.warnings = warnings;
  }
}
