import { resolve } from 'node:path';
import type { HookCallbacks } from '../../hooks/index.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { formatRule } from '../../permissions/grammar.js';
import type { PathFs } from '../../permissions/paths.js';
import type { ToolVerdict } from '../../permissions/types.js';
import { loadSettings } from '../../settings/load.js';
import { type UserPlace, userPlace } from '../../settings/place.js';
import type { LoadedSettings } from '../../settings/types.js';
import { messageOf } from '../../tool/errors.js';
import { getAllBaseTools } from '../../tool/index.js';
import type { AnyTool, ToolContext } from '../../tool/types.js';
import { spell } from '../spelling/index.js';
import { withStandIns } from '../spelling/samples.js';
import type { Thoroughness } from '../spelling/shell.js';
import { assumedHook } from './assumedHook.js';
import { HookProbe, hookConfigOf } from './hooks.js';
import { buildModel, type ModelMachines, type PermissionModel } from './model.js';
import type { Scenario } from './sayings.js';
import {
  ALL_ANSWERS,
  ALL_HOOK_OUTCOMES,
  ALL_MODES,
  ALL_REQUEST_HOOK_OUTCOMES,
  type CallCase,
  type HookOutcome,
  type HookSaying,
  type ModeCase,
  type PersonAnswer,
  type RequestHookOutcome,
} from './types.js';
import { World } from './world.js';

/** How hooks take part in an exploration. */
export interface ExploredHooks {
  /** Hooks in code, run on every call. */
  readonly callbacks?: HookCallbacks;
  /** Whether the hooks of the settings files are run on every call: their commands are started. Default false. */
  readonly runConfigured?: boolean;
  /** Whether a hook that is run may also fail, where its failure lets the call go on. Default true. */
  readonly failures?: boolean;
  /** Outcomes to assume instead of running anything, on every call. */
  readonly outcomes?: readonly HookOutcome[];
  /** Answers of PermissionRequest hooks to assume. Default: none is configured. */
  readonly requestOutcomes?: readonly RequestHookOutcome[];
}

/** What to explore, and under what. */
export interface ExploreOptions {
  /** Working directory. Default: the process's. */
  readonly cwd?: string;
  /** Home directory. Default: the user's. */
  readonly home?: string;
  /** Loaded settings, or the content of a settings file. Default: the files of `cwd` and `home`, trusted. */
  readonly settings?: LoadedSettings | JsonObject;
  /** Default: the built-in tools. Tools that only rules know (of MCP servers, of other hosts) are stood in for. */
  readonly tools?: readonly AnyTool[];
  /** Connected MCP servers. */
  readonly mcpServers?: readonly string[];
  /** How hooks take part. Default: as if none were configured. */
  readonly hooks?: ExploredHooks;
  /** Default: all seven. */
  readonly modes?: readonly ModeCase[];
  /** Calls, or patterns of calls as rules spell them. Default: what the rules of the settings speak of. */
  readonly calls?: readonly (string | CallLike)[];
  /** Default: all. */
  readonly answers?: readonly PersonAnswer[];
  /** How many spellings a pattern has. Default `common`. */
  readonly spellings?: Thoroughness;
  /** Also everything that can go wrong: broken gates, aborts at any moment, every end of a tool. Default false. */
  readonly faults?: boolean;
  /** The links and directories that path rules look at. Default: the real ones. */
  readonly fs?: PathFs;
  /** Other machines than the library's: a changed one, to see that a test notices. */
  readonly machines?: Partial<ModelMachines>;
  /** Most steps that the exploration of one scenario may take. Default 50,000. */
  readonly limit?: number;
}
/** A call, written out. */
export interface CallLike {
  /** The tool's name. */
  readonly tool: string;
  /** The call's input. */
  readonly input: JsonObject;
}

const MAX_HOOK_RUNS_AT_ONCE = 8;

/**
 * Walks all paths of calls through the tool call and permission machines under your settings: every mode, every hook outcome, every
 * answer. Nothing runs but hooks that you ask for; tools are never called.
 *
 * @throws when a call pattern cannot be read, an option names what there is not, or the paths of a call do not end.
 */
export async function explorePermissions(options: ExploreOptions = {}): Promise<PermissionModel> {
  checkNames(options);
  const cwd = resolve(options.cwd ?? process.cwd());
  const place = userPlace(options.home);
  const { home } = place;
  const given = options.tools ?? getAllBaseTools();
  const settings = settingsOf(options, cwd, place, given);
  const modes = options.modes ?? ALL_MODES;
  const { spellings = 'common', faults = false, limit = 50_000, hooks = {}, mcpServers = [] } = options;
  const allowed = settings.rules.flatMap(({ behavior, toolName, ruleContent }) =>
    behavior === 'allow' && toolName === 'Bash' && ruleContent !== undefined ? [ruleContent] : [],
  );
  const wanted = options.calls ?? patternsOf(settings);
  const calls = wanted.flatMap((call) =>
    typeof call === 'string'
      ? spell(call, { cwd, home, tools: given, thoroughness: spellings, allowed: [...new Set(allowed)] })
      : [concreteCall(call)],
  );
  const tools = withStandIns(
    given,
    calls.map(({ tool }) => tool),
  );
  const world = new World({ settings, cwd, home, tools, mcpServers, ...(options.fs === undefined ? {} : { fs: options.fs }) }, calls);
  const probe = probeFor(hooks, settings, world);
  const opinions = await opinionsOf(calls, world);
  const answers = (options.answers ?? ALL_ANSWERS).filter((answer) => answer !== 'nobody');
  const peopled = [...(answers.length > 0 ? [answers] : []), ...((options.answers ?? ALL_ANSWERS).includes('nobody') ? [[]] : [])];
  const cases = calls.flatMap((call) => modes.map((mode) => ({ call, mode })));
  const scenarios = await mapBounded(cases, MAX_HOOK_RUNS_AT_ONCE, async ({ call, mode }): Promise<Scenario[]> => {
    const situations = await hookSituations(call, mode, hooks, probe);
    return situations.flatMap(({ preToolUse, requestHooks }) =>
      peopled.map((people) => ({
        call,
        mode,
        hooks: preToolUse,
        requestHooks,
        answers: people,
        opinion: opinions.get(call) ?? { behavior: 'passthrough' },
        faults,
      })),
    );
  });
  return buildModel({
    scenarios: scenarios.flat(),
    calls,
    modes,
    settings,
    world,
    limit,
    ...(options.machines === undefined ? {} : { machines: options.machines }),
  });
}

/** Options may come from a file or from code without types. */
function checkNames({ modes = [], answers = [], hooks = {} }: ExploreOptions): void {
  const check = (option: string, names: readonly string[], all: readonly string[]): void => {
    const unknown = names.find((name) => !all.includes(name));
    if (unknown !== undefined) throw new Error(`${option}: there is no "${unknown}"; write ${all.join(', ')}.`);
  };
  check('modes', modes, ALL_MODES);
  check('answers', answers, ALL_ANSWERS);
  check('hooks.outcomes', hooks.outcomes ?? [], ALL_HOOK_OUTCOMES);
  check('hooks.requestOutcomes', hooks.requestOutcomes ?? [], ALL_REQUEST_HOOK_OUTCOMES);
}

function settingsOf({ settings }: ExploreOptions, cwd: string, place: UserPlace, tools: readonly AnyTool[]): LoadedSettings {
  if (settings !== undefined && isLoaded(settings)) return settings;
  const toolNames = tools.map(({ name }) => name);
  if (settings === undefined) return loadSettings({ cwd, ...place, trusted: true, toolNames });
  // Only what was given counts: a home and a project without files of their own.
  return loadSettings({ cwd, ...place, trusted: true, toolNames, files: false, settings });
}

const isLoaded = (settings: LoadedSettings | JsonObject): settings is LoadedSettings =>
  Array.isArray(settings.rules) && Array.isArray(settings.problems) && isJsonObject(settings.merged);

/** What the rules of settings speak of, as patterns. */
const patternsOf = (settings: LoadedSettings): readonly string[] => [...new Set(settings.rules.map(({ text }) => text))];

function concreteCall({ tool, input }: CallLike): CallCase {
  const main = input.command ?? input.file_path ?? input.path ?? input.url;
  const content = typeof main === 'string' ? main : JSON.stringify(input);
  return { tool, input, text: formatRule({ toolName: tool, ruleContent: content }) };
}

function probeFor(hooks: ExploredHooks, settings: LoadedSettings, world: World): HookProbe | undefined {
  if (hooks.callbacks === undefined && hooks.runConfigured !== true) return undefined;
  const config = hookConfigOf(settings, hooks.callbacks, hooks.runConfigured === true);
  return new HookProbe(config, world, { ...process.env, ...settings.env }, hooks.failures !== false);
}

interface HookSituation {
  readonly preToolUse: readonly HookSaying[];
  readonly requestHooks: readonly RequestHookOutcome[];
}

async function hookSituations(
  call: CallCase,
  mode: ModeCase,
  hooks: ExploredHooks,
  probe: HookProbe | undefined,
): Promise<readonly HookSituation[]> {
  const request = hooks.requestOutcomes ?? [];
  const assumedRequests: readonly (readonly RequestHookOutcome[])[] = [
    ...(request.length === 0 || request.includes('absent') ? [[]] : []),
    ...(request.some((outcome) => outcome !== 'absent') ? [request.filter((outcome) => outcome !== 'absent')] : []),
  ];
  if (hooks.outcomes !== undefined) {
    const assumed = hooks.outcomes.flatMap((outcome) => (outcome === 'absent' ? [] : [assumedHook(outcome, call.input)]));
    const pre = [...(assumed.length > 0 ? [assumed] : []), ...(assumed.length === 0 || hooks.outcomes.includes('absent') ? [[]] : [])];
    return pre.flatMap((preToolUse) => assumedRequests.map((requestHooks) => ({ preToolUse, requestHooks })));
  }
  const asked = await probe?.ask(call, mode);
  const preToolUse = asked?.preToolUse ?? [];
  if (asked !== undefined && asked.permissionRequest.length > 0) return [{ preToolUse, requestHooks: asked.permissionRequest }];
  return assumedRequests.map((requestHooks) => ({ preToolUse, requestHooks }));
}

/** What the tools' own permission checks say. A check that throws asks, as it does in a session. */
async function opinionsOf(calls: readonly CallCase[], world: World): Promise<ReadonlyMap<CallCase, ToolVerdict>> {
  const opinions = new Map<CallCase, ToolVerdict>();
  const { cwd } = world.options;
  for (const call of calls) {
    const tool = world.tool(call, 'default');
    if (tool?.checkPermissions === undefined) continue;
    const context: ToolContext = {
      sessionId: 'exploration',
      callId: 'toolu_1',
      cwd,
      env: {},
      signal: new AbortController().signal,
      permissions: world.engine('default').toolPermissionContext(),
      files: { get: () => undefined, set: () => {}, delete: () => {}, entries: () => [] },
      resultsDir: cwd,
      capabilities: {},
      askPerson: () => Promise.reject(new Error('Nobody is asked in an exploration.')),
    };
    try {
      opinions.set(call, await tool.checkPermissions(world.observed(call, 'default'), context));
    } catch (error) {
      opinions.set(call, { behavior: 'ask', reason: `The tool could not say: ${messageOf(error)}` });
    }
  }
  return opinions;
}

async function mapBounded<In, Out>(items: readonly In[], atOnce: number, work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = new Array(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
