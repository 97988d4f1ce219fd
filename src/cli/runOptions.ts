import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { PermissionMode } from '../permissions/types.js';
import type { SessionOptions } from '../session/options.js';
import { createSession, forkSession, type Session } from '../session/session.js';
import { describeProblem, loadSettings, parseMode } from '../settings/load.js';
import { CliError, messageOf } from './failure.js';
import { addPlaceOptions, collect, findSession, type Place, placeOf, sessionsOf, wholeNumber } from './place.js';
import { addWatchOptions, type NewGate, watchOptionsSchema, withGate } from './watching.js';

const runOptionsSchema = watchOptionsSchema.extend({
  model: z.string().optional(),
  maxTokens: z.number().optional(),
  baseUrl: z.string().optional(),
  cwd: z.string().optional(),
  settings: z.string().optional(),
  mode: z.custom<PermissionMode>().optional(),
  trust: z.boolean().optional(),
  system: z.string().optional(),
  resume: z.string().optional(),
  continue: z.boolean().optional(),
  fork: z.string().optional(),
  dataDir: z.string().optional(),
  maxTurns: z.number().optional(),
  yesTo: z.array(z.string()).default([]),
  json: z.boolean().default(false),
  restate: z.string().optional(),
});
export type RunOptions = z.infer<typeof runOptionsSchema>;
export const parseRunOptions = (raw: unknown): RunOptions => runOptionsSchema.parse(raw);

export function addRunOptions(command: Command): Command {
  command
    .option('--model <id>', 'model id (default: SIXGATES_MODEL, ANTHROPIC_MODEL)')
    .addOption(new Option('--max-tokens <n>', 'output limit of one answer').argParser(wholeNumber))
    .addOption(new Option('--max-turns <n>', 'model requests per prompt').argParser(wholeNumber))
    .option('--base-url <url>', 'address of the Messages API (default: ANTHROPIC_BASE_URL)')
    .option('--system <text>', 'system prompt')
    .option('--settings <file>', "a further settings file, stronger than the project's")
    .addOption(new Option('--mode <mode>', `permission mode: ${MODES}`).argParser(modeOf))
    .option('--trust', "let the project's own allow rules count")
    .option(
      '--yes-to <rule>',
      "answer yes to questions about calls that this rule covers, as in 'Bash(npm test *)'; may be repeated",
      collect,
      [],
    )
    .addOption(new Option('--resume <id>', 'go on with an earlier session of this directory').conflicts(['continue', 'fork']))
    .addOption(new Option('--continue', 'go on with the newest session of this directory').conflicts(['fork']))
    .option('--fork <id>', 'go on with a copy of an earlier session, which stays as it is')
    .option('--json', 'write every update as one line of JSON to standard output')
    .option('--restate <url>', 'give the prompt to a session on Restate (see sixgates serve), whose workers set model, tools and rules');
  return addWatchOptions(addPlaceOptions(command));
}

const MODES = 'default, acceptEdits, plan, auto, dontAsk, bypassPermissions';
function modeOf(text: string): PermissionMode {
  const mode = parseMode(text);
  if (mode === undefined) throw new InvalidArgumentError(`the modes are ${MODES}.`);
  return mode;
}

/** Opens the session that a command line asks for; a change goes on with another session, or with another model. */
export interface SessionOpener {
  readonly place: Place;
  open(change?: { readonly resume?: string; readonly model?: string }): Session;
}

/** Checks what can be checked before anything begins. */
export function sessionOpener(options: RunOptions, interactive: boolean, newGate: NewGate): SessionOpener {
  const place = placeOf(options);
  const settingsFile = options.settings === undefined ? undefined : resolve(options.settings);
  if (settingsFile !== undefined) checkSettingsFile(settingsFile, place);
  const base = (model: string | undefined): SessionOptions => ({
    ...withGate(newGate()),
    cwd: place.cwd,
    interactive,
    store: place.dataDir,
    model: {
      ...(model === undefined ? {} : { id: model }),
      ...(options.maxTokens === undefined ? {} : { maxTokens: options.maxTokens }),
      ...(options.baseUrl === undefined ? {} : { baseURL: checkedUrl(options.baseUrl) }),
      ...(options.system === undefined ? {} : { system: options.system }),
    },
    permissions: options.mode === undefined ? {} : { mode: options.mode },
    settings: { trusted: options.trust === true, ...(settingsFile === undefined ? {} : { file: settingsFile }) },
    limits: options.maxTurns === undefined ? {} : { maxTurns: options.maxTurns },
  });
  let { model } = options;
  return {
    place,
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

/** A file that was named must be usable whole: a deny rule in it that does not count is worse than no session. */
function checkSettingsFile(file: string, { cwd }: Place): void {
  const { problems } = loadSettings({ home: homedir(), cwd, settingsFile: file });
  const errors = problems.filter((problem) => problem.severity === 'error' && problem.file === file);
  if (errors.length > 0) throw new CliError(`--settings: ${errors.map(describeProblem).join('\n')}`);
}

function checkedUrl(text: string): string {
  if (!/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : ''))
    throw new CliError(`--base-url ${text}: an address looks like https://api.anthropic.com.`);
  return text;
}
