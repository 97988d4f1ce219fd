import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { RuleScope } from '../permissions/types.js';
import type { SettingsFile } from '../settings/types.js';
import { errorCode, messageOf } from '../tool/errors.js';
import { expandConfig, isSwitchedOff, type McpServerConfig, misspeltFields, parseServerConfig } from './config.js';
import { listedIn, readPolicy, type ServerPolicy } from './policy.js';

/** Who declared a server. `code` is the embedding program, `project` the `.mcp.json` of the working directory. */
export type McpServerSource = 'code' | 'project' | RuleScope;

/** A server of a session: to be started, or the reason why it is not. */
export interface McpServerSpec {
  readonly name: string;
  readonly source: McpServerSource;
  readonly file?: string;
  readonly plan:
    | { readonly kind: 'start'; readonly config: McpServerConfig }
    | { readonly kind: 'disabled' | 'invalid'; readonly reason: string };
}

export interface McpSourcesOptions {
  readonly cwd: string;
  /** For `${NAME}` in the files. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Given in code: strongest. */
  readonly servers?: Readonly<Record<string, McpServerConfig>>;
  /** Settings files, weakest first. */
  readonly files?: readonly SettingsFile[];
  /** True: nothing but `servers` counts. */
  readonly strict?: boolean;
  readonly trusted: boolean;
  /** Whether a person sits in front of the session, and could have been asked for trust. */
  readonly interactive: boolean;
}

export interface McpSources {
  /** By name. */
  readonly servers: readonly McpServerSpec[];
  readonly warnings: readonly string[];
}

interface Declared {
  readonly name: string;
  readonly source: McpServerSource;
  readonly file?: string;
  readonly value: JsonValue;
}

/**
 * Collects the servers of a session. Of two declarations of a name the stronger counts: code, then managed, `--settings`, local,
 * project (`.mcp.json` before settings), user. Never throws: a broken declaration is a server that says what is wrong with it.
 */
export function collectServers(options: McpSourcesOptions): McpSources {
  const warnings: string[] = [];
  const files = options.files ?? [];
  const policy = readPolicy(files, options.trusted);
  const servers = new Map<string, McpServerSpec>();
  for (const [name, config] of Object.entries(options.servers ?? {})) {
    const refused = config.type === 'sdk' || config.type === 'transport' ? undefined : listedIn(policy, name, config);
    servers.set(name, {
      name,
      source: 'code',
      plan: refused === undefined ? { kind: 'start', config } : { kind: 'disabled', reason: refused },
    });
  }
  if (options.strict !== true) {
    for (const declared of declarations(options, files, warnings))
      if (!servers.has(declared.name)) {
        const spec = specOf(declared, policy, options);
        servers.set(declared.name, spec);
        for (const { field, meant } of spec.plan.kind === 'start' ? misspeltFields(declared.value) : [])
          warnings.push(`${placeOf(declared)}.${field}: the field is not known and ignored; did you mean \`${meant}\`?`);
      }
  }
  const started = [...servers.values()].filter(({ source, plan }) => source === 'project' && plan.kind === 'start').map(({ name }) => name);
  if (started.length > 0 && !options.trusted)
    warnings.push(
      `The MCP servers ${started.join(', ')} of ${join(options.cwd, '.mcp.json')} are started although the project is not trusted: ` +
        'nobody is there to ask. Set `strictMcpConfig`, or list them in `disabledMcpjsonServers`, to leave them out.',
    );
  return { servers: [...servers.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), warnings };
}

/** Strongest first. */
function declarations({ cwd }: McpSourcesOptions, files: readonly SettingsFile[], warnings: string[]): Declared[] {
  const project = readProjectFile(join(cwd, '.mcp.json'), warnings);
  const all: Declared[] = [];
  const add = (source: McpServerSource, file: string | undefined, servers: JsonObject) => {
    for (const [name, value] of Object.entries(servers)) all.push({ name, source, value, ...(file === undefined ? {} : { file }) });
  };
  let isProjectAdded = false;
  const addProject = () => {
    if (!isProjectAdded) add('project', join(cwd, '.mcp.json'), project);
    isProjectAdded = true;
  };
  for (const { scope, file, settings } of files.toReversed()) {
    if (scope === 'projectSettings' || scope === 'userSettings') addProject();
    if (isJsonObject(settings.mcpServers)) add(scope, file, settings.mcpServers);
  }
  addProject();
  return all;
}

function readProjectFile(file: string, warnings: string[]): JsonObject {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') warnings.push(`${file}: the file cannot be read; its MCP servers are not started.`);
    return {};
  }
  try {
    const parsed: unknown = JSON.parse(text);
    if (isJsonObject(parsed) && isJsonObject(parsed.mcpServers)) return parsed.mcpServers;
    warnings.push(`${file}: \`mcpServers\` with one object a server is needed; nothing is started from it.`);
  } catch (error) {
    warnings.push(`${file}: not valid JSON (${messageOf(error)}); its MCP servers are not started.`);
  }
  return {};
}

const placeOf = ({ name, file }: Pick<Declared, 'name' | 'file'>): string =>
  file === undefined ? `mcpServers.${name}` : `${file}: mcpServers.${name}`;

function specOf({ name, source, file, value }: Declared, policy: ServerPolicy, options: McpSourcesOptions): McpServerSpec {
  const base = { name, source, ...(file === undefined ? {} : { file }) };
  const invalid = (problem: string): McpServerSpec => ({ ...base, plan: { kind: 'invalid', reason: `${placeOf(base)}: ${problem}` } });
  if (name.trim() === '') return invalid('a server needs a name');
  if (isSwitchedOff(value)) return { ...base, plan: { kind: 'disabled', reason: 'switched off by `disabled` in its own declaration' } };
  const parsed = parseServerConfig(value);
  if (!parsed.ok) return invalid(parsed.problem);
  const expanded = expandConfig(parsed.config, options.env);
  // What is switched off says so first: nobody has to set variables for a server that is not wanted.
  const config = expanded.ok ? expanded.config : parsed.config;
  const refused = listedIn(policy, name, config) ?? projectRefusal(base, policy, options);
  if (refused !== undefined) return { ...base, plan: { kind: 'disabled', reason: refused } };
  return expanded.ok ? { ...base, plan: { kind: 'start', config } } : invalid(expanded.problem);
}

/**
 * Servers that a project brings run programs of its choosing. With a person in front they wait for trust; without one they run, as
 * its hooks do (Claude Code docs, headless mode).
 */
function projectRefusal(
  { name, source }: Pick<McpServerSpec, 'name' | 'source'>,
  policy: ServerPolicy,
  { trusted, interactive }: McpSourcesOptions,
): string | undefined {
  if (source !== 'project' && source !== 'projectSettings' && source !== 'localSettings') return undefined;
  if (source === 'project' && policy.disabledProjectServers.has(name)) return 'switched off by `disabledMcpjsonServers`';
  if (source === 'project' && (policy.enablesAllProjectServers || policy.enabledProjectServers.has(name))) return undefined;
  if (trusted || !interactive) return undefined;
  return 'not started: the project is not trusted. Trust it (`--trust`), or list the server in `enabledMcpjsonServers` of your own settings';
}
