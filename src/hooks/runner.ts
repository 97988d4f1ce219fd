import type { JsonObject } from '../json.js';
import { systemClock } from '../model/clock.js';
import { AsyncHooks } from './async-hooks.js';
import type { ConfiguredHook, HookConfig, HookHandler } from './config-types.js';
import { capContext } from './context-cap.js';
import type { RawOutcome } from './effects.js';
import { hookDirectory } from './environment.js';
import { eventTraits } from './events.js';
import { failureSentence, type HandlerCall } from './handler.js';
import { runCommand } from './handlers/command.js';
import { runFunction } from './handlers/function.js';
import { runHttp } from './handlers/http.js';
import { runMcpTool } from './handlers/mcp-tool.js';
import { runPrompt } from './handlers/prompt.js';
import { interpret } from './interpret.js';
import { sessionEndBudgetMs } from './limits.js';
import { type HookShare, mergeEffects, originalInputOf } from './merge.js';
import { runRecord } from './run-record.js';
import type { HookContext, HookPorts, SessionHookRunner } from './runner-types.js';
import { HookSelection } from './selection.js';
import type { HookEvent, HookRequest, HookResult, HookRunner } from './types.js';

type RunOptions = Parameters<HookRunner['run']>[1];
const PROMPT_TIMEOUT_SECONDS = 30;

/**
 * Runs the hooks of a session. All handlers that match an event start at once and run to their end; their answers are
 * merged in configuration order. Nothing is started where nothing matches.
 */
export function createHookRunner(options: {
  readonly config: HookConfig;
  readonly context: HookContext;
  readonly ports?: HookPorts;
}): SessionHookRunner {
  const { config, context, ports = {} } = options;
  const clock = ports.clock ?? systemClock;
  const selection = new HookSelection(config.hooks, ports.matchesRule);
  const background = new AsyncHooks(ports, clock);

  async function run(request: HookRequest, runOptions: RunOptions): Promise<HookResult> {
    const { chosen, notices: said } = selection.choose(request);
    if (chosen.length === 0) return withNotices(mergeEffects(request.event, []), said);
    const notices = [...said, ...missingDirectory(chosen)];
    const budget = request.event === 'SessionEnd' ? sessionEndBudget(chosen) : undefined;
    const shares = await Promise.all(chosen.map((hook, index) => runOne(hook, index, request, budget, runOptions)));
    return withNotices(mergeEffects(request.event, shares, originalInputOf(request.payload)), notices);
  }

  async function runOne(
    hook: ConfiguredHook,
    index: number,
    request: HookRequest,
    budgetMs: number | undefined,
    { signal, onRun, onStart }: RunOptions,
  ): Promise<HookShare> {
    const id = `${request.id}:${index}`;
    const start = clock.now();
    const statusMessage = hook.handler.statusMessage;
    report(onStart, { id, event: hook.event, name: hook.name, ...(statusMessage === undefined ? {} : { statusMessage }) });
    const call = (): HandlerCall => ({
      hook,
      handler: hook.handler,
      payload: { ...commonInput(context, request.event), ...request.payload },
      toolUseId: request.toolUseId,
      timeoutMs: Math.min(timeoutMs(hook), budgetMs ?? Number.POSITIVE_INFINITY),
      signal,
      config,
      context,
      ports,
      clock,
      toBackground: (work) => background.adopt({ hook, id, toolUseId: request.toolUseId, start, ...work }),
    });
    const raw: RawOutcome = signal.aborted ? { kind: 'cancelled' } : await attempt(() => dispatch(call(), hook.handler));
    const effects = await capContext(interpret(hook, raw), hook, id, ports.persistText);
    const record = runRecord(hook, id, clock.now() - start, raw, effects);
    report(onRun, record);
    return { hookName: hook.name, effects, run: record };
  }

  function missingDirectory(hooks: readonly ConfiguredHook[]): readonly string[] {
    if (!hooks.some((hook) => hook.handler.type === 'command')) return [];
    const { directory, missing } = hookDirectory(context);
    return missing === undefined ? [] : [`The working directory ${missing} does not exist; command hooks run in ${directory}.`];
  }

  function sessionEndBudget(hooks: readonly ConfiguredHook[]): number {
    return sessionEndBudgetMs(
      context.env ?? process.env,
      hooks.map((hook) => hook.handler.timeout),
    );
  }

  return {
    isConfigured: (event, subject) => selection.isConfigured(event, subject),
    run,
    close: () => background.close(),
  };
}

function dispatch(call: HandlerCall, handler: HookHandler): Promise<RawOutcome> {
  switch (handler.type) {
    case 'command':
      return runCommand({ ...call, handler });
    case 'http':
      return runHttp({ ...call, handler });
    case 'mcp_tool':
      return runMcpTool({ ...call, handler });
    case 'prompt':
      return runPrompt({ ...call, handler });
    case 'function':
      return runFunction({ ...call, handler });
  }
}

/** Whatever goes wrong in starting a handler is that handler's failure, never the call's. */
async function attempt(work: () => Promise<RawOutcome>): Promise<RawOutcome> {
  try {
    return await work();
  } catch (error) {
    return { kind: 'failed', message: `It could not be started: ${failureSentence(error)}` };
  }
}

/** An observer that throws does not disturb the hooks. */
function report<T>(listener: ((value: T) => void) | undefined, value: T): void {
  try {
    listener?.(value);
  } catch (error) {
    process.emitWarning(`A listener for hook runs threw: ${failureSentence(error)}`);
  }
}

function timeoutMs(hook: ConfiguredHook): number {
  const preset = hook.handler.type === 'prompt' ? PROMPT_TIMEOUT_SECONDS : eventTraits(hook.event).timeoutSeconds;
  return (hook.handler.timeout ?? preset) * 1_000;
}

function commonInput(context: HookContext, event: HookEvent): JsonObject {
  const mode = context.permissionMode?.();
  const promptId = context.promptId?.();
  const effort = context.effort?.();
  return {
    session_id: context.sessionId,
    ...(promptId === undefined ? {} : { prompt_id: promptId }),
    transcript_path: context.transcriptPath,
    cwd: context.cwd(),
    ...(mode === undefined ? {} : { permission_mode: mode }),
    ...(effort === undefined ? {} : { effort: { level: effort } }),
    ...(context.agentId === undefined ? {} : { agent_id: context.agentId }),
    ...(context.agentType === undefined ? {} : { agent_type: context.agentType }),
    hook_event_name: event,
  };
}

function withNotices(result: HookResult, notices: readonly string[]): HookResult {
  return notices.length === 0 ? result : { ...result, notices: [...notices, ...result.notices] };
}
