import type { MonotonicClock } from '../model/clock.js';
import type { ConfiguredHook } from './config-types.js';
import { capContext } from './context-cap.js';
import { type HookEffects, hookLabel, type RawOutcome } from './effects.js';
import { failureSentence } from './handler.js';
import { interpret } from './interpret.js';
import { runRecord } from './run-record.js';
import type { HookPorts } from './runner-types.js';
import type { AsyncHookResult } from './types.js';

interface BackgroundRun {
  readonly hook: ConfiguredHook;
  readonly id: string;
  readonly toolUseId: string | undefined;
  readonly start: number;
  readonly done: Promise<RawOutcome>;
  cancel(): void;
}

/** The handlers that go on in the background. Each reports exactly once, unless the session closes before. */
export class AsyncHooks {
  private readonly running = new Map<BackgroundRun, Promise<void>>();
  private closed = false;

  constructor(
    private readonly ports: Pick<HookPorts, 'onAsyncResult' | 'persistText'>,
    private readonly clock: MonotonicClock,
  ) {}

  adopt(run: BackgroundRun): void {
    const delivered = run.done.then(async (raw) => {
      const ms = this.clock.now() - run.start;
      const effects = await capContext(lateEffects(run.hook, raw), run.hook, run.id, this.ports.persistText);
      this.running.delete(run);
      if (!this.closed) this.report(asyncResult(run, raw, ms, effects));
    });
    this.running.set(run, delivered);
    if (this.closed) run.cancel();
  }

  async close(): Promise<void> {
    this.closed = true;
    const ending = [...this.running];
    for (const [run] of ending) run.cancel();
    await Promise.all(ending.map(([, delivered]) => delivered));
  }

  private report(result: AsyncHookResult): void {
    try {
      this.ports.onAsyncResult?.(result);
    } catch (error) {
      process.emitWarning(`A listener for background hooks threw: ${failureSentence(error)}`);
    }
  }
}

function wakes(hook: ConfiguredHook, raw: RawOutcome): boolean {
  return hook.handler.type === 'command' && hook.handler.asyncRewake === true && raw.kind === 'exit' && raw.code === 2;
}

function lateEffects(hook: ConfiguredHook, raw: RawOutcome): HookEffects {
  const effects = interpret(openHook(hook), raw);
  return wakes(hook, raw) ? effects : tooLate(hook, effects);
}

function asyncResult(run: BackgroundRun, raw: RawOutcome, ms: number, effects: HookEffects): AsyncHookResult {
  const { hook } = run;
  const reason = raw.kind === 'exit' ? raw.stderr.trim() || raw.stdout.trim() : '';
  return {
    event: hook.event,
    hookName: hook.name,
    ...(run.toolUseId === undefined ? {} : { toolUseId: run.toolUseId }),
    additionalContext: effects.context,
    systemMessages: effects.systemMessage === undefined ? [] : [effects.systemMessage],
    notices: effects.notices,
    ...(wakes(hook, raw) ? { wake: { reason: reason || `${hookLabel(hook)} asks for attention.` } } : {}),
    run: { ...runRecord(hook, run.id, ms, raw, effects), async: true },
  };
}

/** `onFailure` has no meaning for what nobody waits for. */
function openHook(hook: ConfiguredHook): ConfiguredHook {
  return { ...hook, handler: { ...hook.handler, onFailure: 'continue' } };
}

function tooLate(hook: ConfiguredHook, effects: HookEffects): HookEffects {
  const { decision, block, stop, permission, updatedInput, updatedToolOutput, updatedMCPToolOutput, ...rest } = effects;
  const decided = [decision, block, stop, permission, updatedInput, updatedToolOutput, updatedMCPToolOutput].some(
    (part) => part !== undefined,
  );
  if (!decided) return effects;
  return {
    ...rest,
    status: 'ok',
    notices: [...rest.notices, `${hookLabel(hook)} ran in the background; what it decided came too late and has no effect.`],
  };
}
