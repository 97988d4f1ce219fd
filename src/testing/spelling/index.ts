import type { JsonObject } from '../../json.js';
import { formatRule, parseRuleText } from '../../permissions/grammar.js';
import { BASH_TOOLS, GOVERNED_BY, PATH_TOOLS } from '../../permissions/toolNames.js';
import { findTool } from '../../tool/index.js';
import type { AnyTool } from '../../tool/types.js';
import type { CallCase } from '../explore/types.js';
import { type PathPlaces, samplePaths, shellAccess, spellPath } from './paths.js';
import { sampleInput, standIn } from './samples.js';
import { plainCommand, spellCommand, type Thoroughness } from './shell.js';

/** For which place and tools calls are spelled, and how thoroughly. */
export interface SpellingOptions extends PathPlaces {
  /** The tools there are. A pattern for another tool is spelled as rules know it: by its name and one text. */
  readonly tools: readonly AnyTool[];
  /** How many spellings a pattern has. */
  readonly thoroughness: Thoroughness;
  /** Contents of the settings' Bash allow rules: commands are also written where their wildcards stand. */
  readonly allowed?: readonly string[];
}

/**
 * Concrete calls that do what a pattern names, written in every way the grammar knows: a pattern is spelled like a rule, and the first
 * call is the plainest.
 *
 * @throws when the pattern is not `Tool` or `Tool(specifier)`.
 */
export function spell(pattern: string, options: SpellingOptions): readonly CallCase[] {
  const parsed = parseRuleText(pattern);
  if (!parsed.ok) throw new Error(`The call pattern ${JSON.stringify(pattern)} cannot be read: ${parsed.reason}.`);
  const { toolName, ruleContent = '' } = parsed;
  const of = (calls: readonly Omit<CallCase, 'pattern'>[]): readonly CallCase[] => {
    const seen = new Set<string>();
    return calls.flatMap((call) => {
      const key = `${call.text}${JSON.stringify(call.input)}`;
      if (seen.has(key)) return [];
      seen.add(key);
      return [{ ...call, pattern }];
    });
  };
  if (BASH_TOOLS.has(toolName) || toolName === 'PowerShell') return of(shellCalls(toolName, ruleContent, options));
  if (PATH_TOOLS.has(toolName)) return of(pathCalls(toolName, ruleContent, options));
  if (toolName === 'WebFetch') return of(webCalls(ruleContent, options));
  return of([otherCall(toolName, ruleContent, options)]);
}

const toolNamed = (name: string, { tools }: SpellingOptions): AnyTool => findTool(tools, name) ?? standIn(name);

const makeCall = (
  tool: string,
  input: JsonObject,
  content: string,
  spelling: string,
  links?: CallCase['links'],
): Omit<CallCase, 'pattern'> => ({
  tool,
  input,
  text: formatRule({ toolName: tool, ruleContent: content }),
  ...(spelling === '' ? {} : { spelling }),
  ...(links === undefined ? {} : { links }),
});

function shellCalls(toolName: string, content: string, options: SpellingOptions): readonly Omit<CallCase, 'pattern'>[] {
  const plain = plainCommand(content);
  const spelled =
    toolName === 'PowerShell' ? [{ command: plain, spelling: '' }] : spellCommand(plain, options.thoroughness, options.allowed);
  const sample = sampleInput(toolNamed(toolName, options));
  return spelled.map(({ command, spelling }) => makeCall(toolName, { ...sample, command }, command, spelling));
}

function pathCalls(toolName: string, pattern: string, options: SpellingOptions): readonly Omit<CallCase, 'pattern'>[] {
  const access = PATH_TOOLS.get(toolName)?.access ?? 'read';
  // A rule's name speaks of every tool that it governs.
  const governs = toolName === 'Edit' || toolName === 'Read';
  const names = governs ? [toolName, ...[...GOVERNED_BY].flatMap(([name, governor]) => (governor === toolName ? [name] : []))] : [toolName];
  const tools = names.filter((name, index) => index === 0 || findTool(options.tools, name) !== undefined);
  const files = samplePaths(pattern, options);
  const plain = options.thoroughness === 'plain';
  return files.flatMap((file, fileIndex) => {
    const spelled = spellPath(file, options);
    const byTool = tools.flatMap((name, toolIndex) => {
      if (name.startsWith('Notebook') && !file.endsWith('.ipynb') && name !== toolName) return [];
      // Every spelling with the pattern's own tool; of the others the plain one and the links.
      const own = toolIndex === 0 ? spelled : spelled.filter(({ links }, index) => index === 0 || links !== undefined);
      return (plain ? own.slice(0, 1) : own).map(({ path, spelling, links }) =>
        makeCall(name, pathInput(name, path, options), path, spelling, links),
      );
    });
    if (plain || !governs) return byTool;
    const shelled = spelled.filter((_, index) => index < 2 || index >= spelled.length - 2);
    const byShell = shelled.flatMap(({ path, spelling, links }) =>
      shellAccess(access, path).map(({ command, spelling: how }) => makeCall('Bash', { command }, command, `${how}, ${spelling}`, links)),
    );
    return fileIndex === 0 ? [...byTool, ...byShell] : byTool;
  });
}

function pathInput(name: string, path: string, options: SpellingOptions): JsonObject {
  const tool = toolNamed(name, options);
  const field = PATH_TOOLS.get(name)?.fields[0] ?? 'file_path';
  const sample = sampleInput(tool);
  return name === 'Edit' ? { ...sample, old_string: 'a', new_string: 'b', [field]: path } : { ...sample, [field]: path };
}

function webCalls(content: string, options: SpellingOptions): readonly Omit<CallCase, 'pattern'>[] {
  const host = (/^domain:(.*)$/s.exec(content.trim())?.[1] ?? 'example.com').replace(/^\*\.?/, 'sub.').replaceAll('*', 'x');
  const urls: readonly (readonly [string, string])[] = [
    [`https://${host}/`, ''],
    [`http://${host}/page`, 'without TLS'],
    [`https://${host.toUpperCase()}/`, 'in capitals'],
    [`https://${host}:443/`, 'with its port'],
    [`https://${host}./`, 'with a final dot'],
    [`https://user@${host}/`, 'with a user'],
  ];
  const sample = sampleInput(toolNamed('WebFetch', options));
  const chosen = options.thoroughness === 'plain' ? urls.slice(0, 1) : urls;
  return chosen.map(([url, spelling]) => makeCall('WebFetch', { ...sample, url }, url, spelling));
}

function otherCall(name: string, content: string, options: SpellingOptions): Omit<CallCase, 'pattern'> {
  const concrete = name.startsWith('mcp__') && !/^mcp__.+?__./.test(name) ? `${name.replace(/_*$/, '')}__sample` : name;
  const toolName = concrete.replaceAll('*', 'sample');
  const sample = sampleInput(toolNamed(toolName, options));
  const plain = content.replace(/[: ]\*$/, '').replaceAll('*', 'sample');
  if (toolName === 'Agent')
    return makeCall('Agent', { description: 'sample', prompt: 'sample', ...sample, subagent_type: plain || 'general-purpose' }, plain, '');
  if (toolName === 'Skill') return makeCall('Skill', { ...sample, skill: plain || 'sample' }, plain, '');
  const field = /^([A-Za-z_][\w-]*):(.*)$/s.exec(content);
  const input = field?.[1] === undefined ? sample : { ...sample, [field[1]]: (field[2] ?? '').replaceAll('*', 'sample') };
  return { tool: toolName, input, text: content === '' ? toolName : formatRule({ toolName, ruleContent: content }) };
}
