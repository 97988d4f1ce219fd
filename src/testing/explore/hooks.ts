import { createHookRunner, type HookCallbacks, type HookConfig, type HookResult, loadHooks } from '../../hooks/index.js';
import type { LoadedSettings } from '../../settings/types.js';
import { type CallCase, type HookSaying, type ModeCase, permissionMode, type RequestHookOutcome } from './types.js';
import type { World } from './world.js';

export const hookConfigOf = (settings: LoadedSettings, callbacks: HookCallbacks | undefined, withFiles: boolean): HookConfig =>
  loadHooks(withFiles ? settings.files : [], callbacks ?? {});

export interface HookAnswers {
  /** Empty where no hook is configured for the call. */
  readonly preToolUse: readonly HookSaying[];
  readonly permissionRequest: readonly RequestHookOutcome[];
}

/** Runs real hooks on calls. Each call is asked about once for every mode, because hooks are told the mode. */
export class HookProbe {
  private readonly signal = new AbortController().signal;

  constructor(
    private readonly config: HookConfig,
    private readonly world: World,
    private readonly env: Readonly<Record<string, string | undefined>>,
    private readonly withFailures: boolean,
  ) {}

  isConfigured(toolName: string): boolean {
    return this.config.hooks.some(({ event, matches }) => (event === 'PreToolUse' || event === 'PermissionRequest') && matches(toolName));
  }

  async ask(call: CallCase, mode: ModeCase): Promise<HookAnswers> {
    const tool = this.world.tool(call, mode);
    if (tool === undefined) return { preToolUse: [], permissionRequest: [] };
    const { cwd } = this.world.options;
    const runner = createHookRunner({
      config: this.config,
      context: {
        sessionId: 'exploration',
        transcriptPath: '',
        cwd: () => cwd,
        projectDir: cwd,
        permissionMode: () => permissionMode(mode),
        env: this.env,
      },
    });
    const payload = { tool_name: tool.name, tool_input: this.world.observed(call, mode), tool_use_id: 'toolu_1' };
    const run = (event: 'PreToolUse' | 'PermissionRequest'): Promise<HookResult> =>
      runner.run({ id: `hook:${event}:toolu_1`, event, subject: tool.name, toolUseId: 'toolu_1', payload }, { signal: this.signal });
    try {
      const preToolUse = runner.isConfigured('PreToolUse', tool.name) ? this.sayings(await run('PreToolUse'), tool.name) : [];
      const permissionRequest = runner.isConfigured('PermissionRequest', tool.name) ? requestOutcomes(await run('PermissionRequest')) : [];
      return { preToolUse, permissionRequest };
    } finally {
      await runner.close();
    }
  }

  private sayings(result: HookResult, toolName: string): readonly HookSaying[] {
    const { behavior, hookName } = result.verdict;
    const name = hookName ?? this.namesOf(toolName);
    const rewritten = result.updatedInput === undefined ? '' : ' and rewrites the input';
    const what = behavior === 'passthrough' ? 'decides nothing' : `says ${behavior}`;
    const said: HookSaying = { type: 'hook.real', say: `the hook ${name} ${what}${rewritten}`, result };
    if (!this.withFailures || !this.canFailOpen(toolName)) return [said];
    const failed: HookResult = { runs: [], verdict: { behavior: 'passthrough' }, additionalContext: [], systemMessages: [], notices: [] };
    return [said, { type: 'hook.fails', say: `the hook ${name} fails and decides nothing`, result: failed }];
  }

  /** Whether every guard of the tool lets a call through when it fails. */
  private canFailOpen(toolName: string): boolean {
    const own = this.config.hooks.filter(({ event, matches }) => event === 'PreToolUse' && matches(toolName));
    return own.length > 0 && own.every(({ handler }) => handler.onFailure !== 'block');
  }

  private namesOf(toolName: string): string {
    const names = this.config.hooks.filter(({ event, matches }) => event === 'PreToolUse' && matches(toolName)).map(({ name }) => name);
    return names.join(', ') || 'PreToolUse hook';
  }
}

function requestOutcomes({ permission }: HookResult): readonly RequestHookOutcome[] {
  if (permission === undefined) return ['silent'];
  if (permission.behavior === 'deny') return ['no'];
  return [permission.updatedInput === undefined ? 'yes' : 'edited'];
}
