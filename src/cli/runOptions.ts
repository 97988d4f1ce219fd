import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { Restart } from '../inspect/restart.js';
import type { SessionOptions } from '../session/options.js';
import { createSession, forkSession, type Session } from '../session/session.js';
import { loadSettings } from '../settings/load.js';
import { userPlace } from '../settings/place.js';
import { CliError, messageOf } from './failure.js';
import { refuseFaulty } from './files.js';
import { readMcpConfigs } from './mcpConfig.js';
import { addPlaceOptions, collect, findSession, type Place, placeOf, sessionsOf, wholeNumber } from './place.js';
import { addSessionOptions, sessionFlags, sessionOptionsSchema } from './sessionOptions.js';
import { addWatchOptions, type NewGate, watchOptionsSchema, withGate } from './watching.js';

const runOptionsSchema = watchOptionsSchema.extend(sessionOptionsSchema.shape).extend({
  cwd: z.string().optional(),
  settings: z.string().optional(),
  resume: z.string().optional(),
  continue: z.boolean().optional(),
  fork: z.string().optional(),
  dataDir: z.string().optional(),
  maxTurns: z.number().optional(),
  yesTo: z.array(z.string()).default([]),
  mcpConfig: z.array(z.string()).default([]),
  strictMcpConfig: z.boolean().default(false),
  json: z.boolean().default(false),
  restate: z.string().optional(),
});
export type RunOptions = z.infer<typeof runOptionsSchema>;
export const parseRunOptions = (raw: unknown): RunOptions => runOptionsSchema.parse(raw);

export function addRunOptions(command: Command): Command {
  addSessionOptions(command)
    .addOption(new Option('--max-turns <n>', 'model requests per prompt (default: 1000)').argParser(wholeNumber))
    .option('--settings <file>', "a further settings file, stronger than the project's")
    .addOption(
      new Option('--yes-to <rule>', "answer yes to questions about calls that this rule covers, as in 'Bash(npm test *)'; may be repeated")
        .argParser(collect)
        .default([], 'none'),
    )
    .addOption(
      new Option('--mcp-config <file|json>', 'MCP servers of a JSON file in the form of .mcp.json, or of that JSON itself; may be repeated')
        .argParser(collect)
        .default([], 'none')
        .conflicts('restate'),
    )
    .addOption(new Option('--strict-mcp-config', 'start no MCP server but those of --mcp-config').conflicts('restate'))
    .addOption(new Option('--resume <id>', 'go on with an earlier session of this directory').conflicts(['continue', 'fork']))
    .addOption(new Option('--continue', 'go on with the newest session of this directory').conflicts(['fork']))
    .option('--fork <id>', 'go on with a copy of an earlier session, which stays as it is')
    .option('--json', 'write every update as one line of JSON to standard output')
    .option('--restate <url>', 'give the prompt to a session on Restate (see sixgates serve), whose workers set model, tools and rules');
  return addWatchOptions(addPlaceOptions(command));
}

/** Opens the session that a command line asks for; a change goes on with another session, or with another model. */
export interface SessionOpener {
  readonly place: Place;
  open(change?: { readonly resume?: string; readonly model?: string }): Session;
  /** A copy of a session that goes on from an earlier point, with the options of this command line. */
  readonly copy: Restart;
}

/** Checks what can be checked before anything begins. */
export function sessionOpener(options: RunOptions, interactive: boolean, newGate: NewGate): SessionOpener {
  const place = placeOf(options);
  const settingsFile = options.settings === undefined ? undefined : resolve(options.settings);
  if (settingsFile !== undefined) checkSettingsFile(settingsFile, place);
  const flags = sessionFlags(options);
  const mcpServers = readMcpConfigs(options.mcpConfig, process.env);
  const base = (model: string | undefined): SessionOptions => ({
    ...withGate(newGate()),
    cwd: place.cwd,
    interactive,
    store: place.dataDir,
    ...flags,
    model: model === undefined ? flags.model : { ...flags.model, id: model },
    settings: { ...flags.settings, ...(settingsFile === undefined ? {} : { file: settingsFile }) },
    limits: options.maxTurns === undefined ? {} : { maxTurns: options.maxTurns },
    mcpServers,
    strictMcpConfig: options.strictMcpConfig,
  });
  let { model } = options;
  return {
    place,
    copy: (point) => forkSession({ ...base(model), ...point }),
    open: (change) => {
      model = change?.model ?? model;
      const resume = change?.resume ?? (change === undefined ? resumedId(options, place) : undefined);
      try {
        if (change === undefined && options.fork !== undefined)
          return forkSession({ ...base(model), from: findSession(options.fork, place).sessionId });
        return createSession({ ...base(model), ...(resume === undefined ? {} : { resume: findSession(resume, place).sessionId }) });
      } catch (error) {
        throw error instanceof CliError ? error : new CliError(`${messageOf(error)}${adviceFor(error)}`);
      }
    },
  };
}

function resumedId(options: RunOptions, place: Place): string | undefined {
  if (options.continue !== true) return options.resume;
  const [newest] = sessionsOf(place);
  if (!newest) throw new CliError(`There is no session of ${place.cwd} under ${place.dataDir} to continue.`);
  return newest.sessionId;
}

const adviceFor = (error: unknown): string =>
  error instanceof Error && error.name === 'TranscriptLockedError' ? ' `sixgates run --fork <id>` goes on with a copy.' : '';

function checkSettingsFile(file: string, { cwd }: Place): void {
  refuseFaulty('--settings', file, loadSettings({ ...userPlace(undefined), cwd, settingsFile: file }).problems);
}
