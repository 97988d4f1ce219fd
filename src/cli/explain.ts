import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { Command, Option } from 'commander';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';
import type { PermissionCall } from '../permissions/call.js';
import { PermissionEngine } from '../permissions/engine.js';
import { type Explanation, explainCall } from '../permissions/explain.js';
import { parseRuleText } from '../permissions/grammar.js';
import type { TraceEntry } from '../permissions/types.js';
import { boundsOf, loadSettings, managedSettingsFile } from '../settings/load.js';
import { userPlace } from '../settings/place.js';
import { refuseFaulty } from './files.js';
import { directoryOf } from './place.js';
import { modeOf, opaqueOption, sessionOptionsSchema } from './sessionOptions.js';

/** Where the command reads and writes; the process's own streams unless a test says otherwise. */
export interface ExplainStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly errors: Writable;
}

const optionsSchema = sessionOptionsSchema.pick({ mode: true, opaque: true }).extend({
  settings: z.string().optional(),
  managed: z.string().optional(),
  cwd: z.string().optional(),
  home: z.string().optional(),
  json: z.boolean().optional(),
  jsonl: z.boolean().optional(),
  nobody: z.boolean().optional(),
  untrusted: z.boolean().optional(),
});
type ExplainOptions = z.infer<typeof optionsSchema>;

/** `sixgates explain`: the verdict on a call, the rule that gave it, and every check on the way. Runs nothing. */
export function explainCommand(
  streams: ExplainStreams = { input: process.stdin, output: process.stdout, errors: process.stderr },
): Command {
  return new Command('explain')
    .description('say whether a tool call would run, and which rule, mode or check decides')
    .argument('[call]', "a call as a rule spells it: 'Bash(git push origin main)', 'Read(src/a.ts)', or Tool({…json…})")
    .addOption(new Option('--settings <file>', "a settings file in place of the project's own"))
    .addOption(new Option('--managed <file>', 'managed settings in place of the system’s'))
    .addOption(new Option('--cwd <dir>', 'working directory (default: the current one)'))
    .addOption(new Option('--home <dir>', 'home directory (default: your own)'))
    .addOption(new Option('--mode <mode>', 'permission mode (default: the one in the settings)').argParser(modeOf))
    .addOption(new Option('--nobody', 'as if nobody could be asked'))
    .addOption(new Option('--untrusted', 'as if you had not trusted the project'))
    .addOption(opaqueOption())
    .addOption(new Option('--json', 'print one JSON object'))
    .addOption(new Option('--jsonl', 'read {"tool","input"} lines from stdin and print one decision a line'))
    .addHelpText(
      'after',
      '\nExit codes: 0 explained, whatever the verdict, 2 could not be explained (wrong usage, call, file or directory).',
    )
    .action(async (text: string | undefined, given: unknown, command: Command) => {
      const options = optionsSchema.parse(given);
      const engine = engineFor(options, streams.errors);
      if (options.jsonl === true) return explainLines(engine, streams);
      if (text === undefined) command.error("error: name a call, as in: sixgates explain 'Bash(git push)'");
      const call = parseCall(text);
      if (typeof call === 'string') command.error(`error: ${call}`);
      const explanation = explainCall(engine, call);
      streams.output.write(options.json === true ? `${JSON.stringify(explanation)}\n` : describe(text, explanation));
    });
}

function engineFor(options: ExplainOptions, errors: Writable): PermissionEngine {
  const cwd = directoryOf('--cwd', options.cwd);
  const { home, configDir } = userPlace(options.home === undefined ? undefined : directoryOf('--home', options.home));
  const loaded = loadSettings({
    cwd,
    home,
    configDir,
    managedFile: options.managed ?? managedSettingsFile(),
    trusted: options.untrusted !== true,
    ...(options.settings === undefined ? {} : { projectFile: resolve(options.settings) }),
  });
  if (options.settings !== undefined) refuseFaulty('--settings', resolve(options.settings), loaded.problems);
  if (options.managed !== undefined) refuseFaulty('--managed', options.managed, loaded.problems);
  for (const warning of loaded.warnings) errors.write(`${warning}\n`);
  return new PermissionEngine({
    rules: loaded.rules,
    mode: options.mode ?? loaded.mode,
    cwd,
    home,
    ...boundsOf(loaded),
    canAsk: options.nobody !== true,
    ...(options.opaque === undefined ? {} : { opaque: options.opaque }),
  });
}

/** The field that stands between the parentheses when a call is written like a rule. */
const MAIN_FIELDS: Readonly<Record<string, string>> = {
  Bash: 'command',
  PowerShell: 'command',
  Monitor: 'command',
  Read: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  Write: 'file_path',
  NotebookEdit: 'notebook_path',
  NotebookRead: 'notebook_path',
  Glob: 'pattern',
  Grep: 'path',
  LS: 'path',
  WebFetch: 'url',
  WebSearch: 'query',
  Agent: 'subagent_type',
  Task: 'subagent_type',
  Skill: 'skill',
};

/** A call from its text; a string says what is wrong with it. */
function parseCall(text: string): PermissionCall | string {
  const parsed = parseRuleText(text);
  if (!parsed.ok) return `${JSON.stringify(text)} is not a call: ${parsed.reason}`;
  const { toolName, ruleContent } = parsed;
  if (ruleContent === undefined) return { toolName, input: {} };
  const input = parseObject(ruleContent);
  if (input !== null) return { toolName, input };
  if (/^\{\s*"/.test(ruleContent)) return `what stands in ${toolName}(…) begins like JSON and is none: ${JSON.stringify(ruleContent)}`;
  const field = MAIN_FIELDS[toolName];
  if (field === undefined) return `what ${toolName} gets must be JSON, as in ${toolName}({"field": "value"})`;
  return { toolName, input: { [field]: ruleContent } };
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

async function explainLines(engine: PermissionEngine, { input, output }: ExplainStreams): Promise<void> {
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    output.write(`${JSON.stringify(explainLine(engine, line))}\n`);
  }
}

function explainLine(engine: PermissionEngine, line: string): Explanation | { readonly error: string } {
  const value = parseObject(line);
  if (value === null) return { error: 'The line is not a JSON object' };
  const { tool, input } = value;
  if (typeof tool !== 'string' || tool === '') return { error: 'The field "tool" must be the name of a tool' };
  if (!isJsonObject(input)) return { error: 'The field "input" must be a JSON object' };
  return explainCall(engine, { toolName: tool, input });
}

function describe(text: string, { decision, winner, trace, shadowed }: Explanation): string {
  const width = Math.max(...trace.map(({ check }) => check.length));
  const lines = [
    `${decision}  ${text}`,
    `  ${winner.reason}`,
    '',
    'Checks, in order:',
    ...trace.map((entry) => `  ${entry.check.padEnd(width)}  ${mark(entry)}  ${entry.reason}`),
  ];
  if (shadowed.length > 0) lines.push('', 'Rules without effect here:');
  for (const { rule, by } of shadowed) lines.push(`  ${rule.rule.behavior} rule ${rule.rule.text}${placeOf(rule.rule)}, below ${by}`);
  return `${lines.join('\n')}\n`;
}

const mark = ({ behavior }: TraceEntry): string => (behavior === 'passthrough' ? '-' : behavior).padEnd(5);

const placeOf = ({ file, line }: { readonly file?: string; readonly line?: number }): string =>
  file === undefined ? '' : ` of ${file}:${line ?? 1}`;
