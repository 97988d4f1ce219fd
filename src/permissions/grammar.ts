import { closest } from '../tool/closest.js';
import { canonicalDomain } from './domains.js';
import { bashRuleWarnings } from './shell/index.js';
import type { PathAccess } from './toolNames.js';
import { BASH_TOOLS, BUILTIN_TOOL_NAMES, canonicalToolName, GOVERNED_BY, PARAM_FIELDS, PRIMARY_FIELDS } from './toolNames.js';
import type { PermissionRule, RuleBehavior } from './types.js';

/** What a rule speaks of, read from its text once. */
export type RuleMatcher =
  /** Every call of a tool. */
  | { readonly kind: 'tool'; readonly name: string }
  /** Every call of every tool whose whole name matches the glob. */
  | { readonly kind: 'toolGlob'; readonly glob: string }
  /** A server's tools; `rest` is what follows `mcp__`, a glob only in its tool part where the rule allows. */
  | { readonly kind: 'mcp'; readonly rest: string }
  | { readonly kind: 'bash'; readonly content: string }
  | { readonly kind: 'powershell'; readonly content: string }
  | { readonly kind: 'domain'; readonly content: string }
  | { readonly kind: 'agent'; readonly content: string }
  | { readonly kind: 'skill'; readonly content: string }
  | { readonly kind: 'path'; readonly access: PathAccess; readonly pattern: string }
  | { readonly kind: 'cd'; readonly pattern: string }
  /** A top-level scalar field of the input as the model wrote it. */
  | { readonly kind: 'param'; readonly name: string; readonly field: string; readonly value: string }
  /** Contents of a tool that brings its own matcher. */
  | { readonly kind: 'content'; readonly name: string; readonly content: string };

export interface ReadRule {
  /** Empty: the rule has no effect, and `warnings` says why. Several: any of them suffices. */
  readonly matchers: readonly RuleMatcher[];
  readonly warnings: readonly string[];
}

export type RuleText =
  | { readonly ok: true; readonly toolName: string; readonly ruleContent?: string }
  | { readonly ok: false; readonly reason: string };

const NAME = /^[\p{L}\p{N}_*.:@/-]+$/u;

/** `Tool` or `Tool(specifier)`; the specifier runs to the last parenthesis. */
export function parseRuleText(text: string): RuleText {
  const trimmed = text.trim();
  const open = trimmed.indexOf('(');
  const toolName = (open === -1 ? trimmed : trimmed.slice(0, open)).trim();
  if (!NAME.test(toolName)) return { ok: false, reason: `"${toolName}" is not a tool name; write Tool or Tool(specifier)` };
  if (open === -1) return { ok: true, toolName };
  if (!trimmed.endsWith(')')) return { ok: false, reason: 'the closing parenthesis is missing; write Tool(specifier)' };
  return { ok: true, toolName, ruleContent: trimmed.slice(open + 1, -1) };
}

/** The text of a rule value, the reverse of `parseRuleText`. */
export const formatRule = (rule: { readonly toolName: string; readonly ruleContent?: string }): string =>
  rule.ruleContent === undefined ? rule.toolName : `${rule.toolName}(${rule.ruleContent})`;

export interface GrammarOptions {
  /** Tools of the session's pool besides the built-in ones. */
  readonly toolNames?: Iterable<string>;
  /** Absolute home directory, to recognise absolute paths that lack the second slash. */
  readonly home?: string;
}

const use = (matcher: RuleMatcher, ...warnings: string[]): ReadRule => ({ matchers: [matcher], warnings });
const skip = (warning: string): ReadRule => ({ matchers: [], warnings: [warning] });

/**
 * What a rule means and what its author should know. A rule that means nothing is skipped with a warning that has the
 * right spelling; a doubtful one errs to the strict side: skipped in `allow`, applied in `deny` and `ask`.
 */
export function readRule(rule: PermissionRule, options: GrammarOptions = {}): ReadRule {
  const name = canonicalToolName(rule.toolName);
  const content = rule.ruleContent?.trim();
  if (content === '' && rule.behavior === 'allow')
    return skip(`${rule.text} has empty parentheses and allows nothing; write ${name} to allow every call`);
  const whole = content === undefined || content === '' || content === '*' || (content === ':*' && BASH_TOOLS.has(name));
  const emptied = content === '' ? [`${rule.text} has empty parentheses; it counts as ${name}`] : [];
  if (name.startsWith('mcp__')) return readMcpRule(rule, name, whole ? undefined : content);
  if (name.includes('*')) {
    if (rule.behavior === 'allow')
      return skip(`${rule.text} allows nothing: a glob may follow only a literal mcp__<server>__; name the tools one by one`);
    if (whole) return use({ kind: 'toolGlob', glob: name }, ...emptied);
    const param = readParam(name, content);
    return param === null
      ? skip(`${rule.text} has no effect: after a name with a glob only (field:value) is understood`)
      : withParam(rule, param);
  }
  const unknown = unknownName(rule, name, options);
  if (whole) return use({ kind: 'tool', name }, ...unknown, ...emptied);
  const read = readSpecifier(rule, name, content, options);
  return unknown.length === 0 ? read : { matchers: read.matchers, warnings: [...unknown, ...read.warnings] };
}

function unknownName(rule: PermissionRule, name: string, { toolNames }: GrammarOptions): string[] {
  if (BUILTIN_TOOL_NAMES.has(name) || name.includes('_')) return [];
  const own = toolNames === undefined ? [] : [...toolNames];
  if (own.includes(name)) return [];
  const near = closest(name, [...BUILTIN_TOOL_NAMES, ...own], 2);
  return [`${rule.text} names no known tool${near.length === 0 ? '; names are case-sensitive' : `; did you mean ${near.join(' or ')}?`}`];
}

function readMcpRule(rule: PermissionRule, name: string, content: string | undefined): ReadRule {
  const rest = name.slice('mcp__'.length);
  if (content !== undefined) {
    const param = rule.behavior === 'allow' ? null : readParam(name, content);
    if (param !== null) return withParam(rule, param);
    return skip(`${rule.text} has no effect: a rule for an MCP tool takes no specifier; write ${name}`);
  }
  if (rest === '' || rest.startsWith('__'))
    return skip(`${rule.text} has no effect: it names no server; write mcp__<server> or mcp__<server>__<tool>`);
  const star = rest.indexOf('*');
  const serverEnd = rest.indexOf('__');
  const serverIsLiteral = star === -1 || (serverEnd > 0 && star >= serverEnd + 2);
  if (serverIsLiteral) return use({ kind: 'mcp', rest });
  if (rule.behavior !== 'allow') return use({ kind: 'toolGlob', glob: name });
  return skip(
    `${rule.text} allows nothing: a glob may follow only a literal mcp__<server>__; write one rule for each server, as mcp__<server>`,
  );
}

const PARAM = /^\s*([A-Za-z_][\w-]*)\s*:\s*([\s\S]*?)\s*$/;
type Param = Extract<RuleMatcher, { kind: 'param' }>;

function readParam(name: string, content: string): Param | null {
  const match = PARAM.exec(content);
  return match?.[1] === undefined || match[2] === undefined ? null : { kind: 'param', name, field: match[1], value: match[2] };
}

function withParam(rule: PermissionRule, param: Param): ReadRule {
  if (PRIMARY_FIELDS.has(param.field)) {
    return skip(`${rule.text} has no effect: ${param.field} has a grammar of its own; write ${primarySpelling(param)}`);
  }
  if (rule.behavior === 'allow') return skip(`${rule.text} allows nothing: a rule on a field works in deny and ask only`);
  return use(param);
}

function primarySpelling({ name, field, value }: Param): string {
  if (field === 'command') return `${name}(${value})`;
  if (field === 'url') return 'WebFetch(domain:host)';
  return `${GOVERNED_BY.get(name) ?? name}(${value})`;
}

function readSpecifier(rule: PermissionRule, name: string, content: string, options: GrammarOptions): ReadRule {
  const ownGrammar = PARAM_FIELDS.get(name);
  const param = readParam(name, content);
  const speaksOfField = param !== null && ownGrammar?.has(param.field) === true;
  switch (name) {
    case 'Bash':
    case 'Monitor':
    case 'PowerShell': {
      const shell: RuleMatcher = name === 'PowerShell' ? { kind: 'powershell', content } : { kind: 'bash', content };
      if (!speaksOfField) return use(shell, ...(name === 'PowerShell' ? [] : shellWarnings(rule, content)));
      // `timeout:*` may mean the program as well as the field: both, where that is the strict reading.
      if (param.value === '*')
        return rule.behavior === 'allow' || PRIMARY_FIELDS.has(param.field) ? use(shell) : { matchers: [shell, param], warnings: [] };
      return withParam(rule, param);
    }
    case 'Read':
    case 'Edit':
      if (speaksOfField) return withParam(rule, param);
      return readPathRule(rule, name === 'Read' ? 'read' : 'edit', content, options);
    case 'Cd':
      return use({ kind: 'cd', pattern: content });
    case 'WebFetch':
      if (param?.field === 'domain') return readDomain(rule, param.value);
      if (speaksOfField) return withParam(rule, param);
      return skip(`${rule.text} has no effect: write WebFetch(domain:${hostIn(content)})`);
    case 'WebSearch':
      if (param !== null && rule.behavior !== 'allow') return withParam(rule, param);
      return skip(`${rule.text} has no effect: WebSearch takes no specifier; write WebSearch`);
    case 'Agent':
    case 'Skill':
      if (speaksOfField) return withParam(rule, param);
      return use(name === 'Agent' ? { kind: 'agent', content } : { kind: 'skill', content });
  }
  const governor = GOVERNED_BY.get(name);
  if (governor !== undefined) {
    if (param !== null && !PRIMARY_FIELDS.has(param.field) && rule.behavior !== 'allow' && param.field.length > 1)
      return withParam(rule, param);
    return skip(`${rule.text} has no effect: only Read(path) and Edit(path) are consulted; write ${governor}(${content})`);
  }
  const own: RuleMatcher = { kind: 'content', name, content };
  if (param === null || PRIMARY_FIELDS.has(param.field)) {
    return BUILTIN_TOOL_NAMES.has(name) && !isOwnTool(name, options)
      ? skip(`${rule.text} has no effect: ${name} takes no specifier; write ${name}`)
      : use(own);
  }
  if (rule.behavior !== 'allow') return { matchers: [own, param], warnings: [] };
  return BUILTIN_TOOL_NAMES.has(name) && !isOwnTool(name, options) ? withParam(rule, param) : use(own);
}

function shellWarnings(rule: PermissionRule, content: string): string[] {
  return bashRuleWarnings(content, rule.behavior).map((warning) => `${rule.text} ${warning}`);
}

const isOwnTool = (name: string, { toolNames }: GrammarOptions): boolean => toolNames !== undefined && [...toolNames].includes(name);

function hostIn(content: string): string {
  try {
    return new URL(content).hostname;
  } catch {
    return content.replace(/^\/+|\/.*$/g, '') || 'host';
  }
}

function readDomain(rule: PermissionRule, host: string): ReadRule {
  if (host === '' || /[\s/@]/.test(host))
    return skip(`${rule.text} has no effect: a domain is a host name such as example.com or *.example.com`);
  if (host === '*') return use({ kind: 'tool', name: 'WebFetch' });
  const [, withoutPort = ''] = /^([^:]+):\d+$/.exec(host) ?? [];
  const content = canonicalDomain(withoutPort === '' ? host : withoutPort);
  if (content === null) return skip(`${rule.text} has no effect: no host of a URL looks like that`);
  if (withoutPort === '') return use({ kind: 'domain', content });
  const warning = `ports are not compared; write WebFetch(domain:${withoutPort})`;
  return rule.behavior === 'allow'
    ? skip(`${rule.text} allows nothing: ${warning}`)
    : use({ kind: 'domain', content }, `${rule.text}: ${warning}`);
}

const TOP_LEVEL =
  /^\/(?:home|Users|root|etc|tmp|private|var|usr|opt|mnt|media|srv|data|dev|proc|sys|bin|sbin|lib|boot|Volumes|Library|System|Applications)(?:\/|$)/;

function readPathRule(rule: PermissionRule, access: PathAccess, content: string, { home }: GrammarOptions): ReadRule {
  const matcher: RuleMatcher = { kind: 'path', access, pattern: content };
  const right = (pattern: string): string => `${access === 'read' ? 'Read' : 'Edit'}(${pattern})`;
  const drive = /^([A-Za-z]):[\\/]*(.*)$/s.exec(content);
  if (drive?.[1] !== undefined) {
    return skip(
      `${rule.text} matches nothing: a drive is written as a directory; write ${right(`//${drive[1].toLowerCase()}/${(drive[2] ?? '').replaceAll('\\', '/')}`)}`,
    );
  }
  if (content.startsWith('///')) {
    const spelling = `an absolute path begins with two slashes; write ${right(content.replace(/^\/+/, '//'))}`;
    return rule.behavior === 'allow' ? skip(`${rule.text} allows nothing: ${spelling}`) : use(matcher, `${rule.text}: ${spelling}`);
  }
  if (content.startsWith('!'))
    return skip(`${rule.text} has no effect: a path rule cannot take anything back; put the path into another list`);
  if (content.startsWith('\\\\'))
    return skip(`${rule.text} matches nothing: write the share with forward slashes, as ${right(content.replaceAll('\\', '/'))}`);
  const url = /^file:\/*/.exec(content);
  if (url !== null)
    return skip(`${rule.text} matches nothing: a rule names a path, not a URL; write ${right(`//${content.slice(url[0].length)}`)}`);
  const variable = /^\$\{?([A-Za-z_]\w*)\}?/.exec(content);
  if (variable !== null) {
    const home = variable[1] === 'HOME' ? right(`~${content.slice(variable[0].length)}`) : right('//absolute/path');
    return use(matcher, `${rule.text}: variables stand for themselves in a rule; write ${home}`);
  }
  if (/^~[^/]/.test(content)) return use(matcher, `${rule.text} is below the working directory; only ~/ stands for a home directory`);
  if (
    content.startsWith('/') &&
    !content.startsWith('//') &&
    (TOP_LEVEL.test(content) || (home !== undefined && content.startsWith(`${home}/`)))
  ) {
    return use(
      matcher,
      `${rule.text} is anchored at ${rule.root}, where its leading slash points; for the absolute path write ${right(`/${content}`)}`,
    );
  }
  return use(matcher);
}

/** A rule from its text and origin; for those that have no file: flags, the session, the library's options. */
export function ruleFromText(
  text: string,
  behavior: RuleBehavior,
  origin: { readonly scope: PermissionRule['scope']; readonly root: string; readonly file?: string; readonly line?: number },
): PermissionRule | { readonly problem: string } {
  const parsed = parseRuleText(text);
  if (!parsed.ok) return { problem: parsed.reason };
  const { ok: _, ...value } = parsed;
  return { behavior, ...value, text: text.trim(), ...origin };
}
