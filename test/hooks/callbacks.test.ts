import { describe, expect, it } from 'vitest';
import type { HookCallback, HookCallbacks } from '../../src/hooks/index.js';
import { postToolUsePayload, sessionEndPayload, stopHookBlockCap, stopPayload, userPromptSubmitPayload } from '../../src/hooks/index.js';
import { sessionEndBudgetMs } from '../../src/hooks/limits.js';
import { simulatedClock } from '../../src/testing/clock.js';
import { bashCall, decides, rig } from './support.js';

const forever: HookCallback = () => new Promise(() => {});

describe('a hook in code', () => {
  it('gets the common fields, the call, its id and a signal', async () => {
    const calls: unknown[][] = [];
    const { run, dir } = rig({ callbacks: { PreToolUse: [{ matcher: 'Bash', hooks: [(...args) => void calls.push(args)] }] } });
    await run(bashCall('ls'));
    expect(calls).toEqual([
      [
        {
          session_id: 'session-1',
          transcript_path: `${dir}/transcript.jsonl`,
          cwd: dir,
          permission_mode: 'default',
          hook_event_name: 'PreToolUse',
          tool_name: 'Bash',
          tool_input: { command: 'ls' },
          tool_use_id: 'toolu_1',
        },
        'toolu_1',
        { signal: expect.any(AbortSignal) },
      ],
    ]);
  });

  it('that throws leaves a notice and the call goes on', async () => {
    for (const hook of [
      () => {
        throw new Error('boom');
      },
      () => Promise.reject(new Error('boom')),
    ]) {
      const result = await rig({ callbacks: { PreToolUse: [{ hooks: [hook] }] } }).run(bashCall());
      expect(result.verdict).toEqual({ behavior: 'passthrough' });
      expect(result.notices.join()).toContain('It threw: boom');
    }
  });

  it('that throws refuses the call with onFailure "block"', async () => {
    const result = await rig({ callbacks: { PreToolUse: [{ hooks: [() => Promise.reject(new Error('boom'))], onFailure: 'block' }] } }).run(
      bashCall(),
    );
    expect(result.verdict.behavior).toBe('deny');
  });

  const hanging = async (callbacks: HookCallbacks, request: Parameters<ReturnType<typeof rig>['run']>[0], seconds: number) => {
    const clock = simulatedClock();
    const { run } = rig({ callbacks, ports: { clock } });
    const running = run(request);
    await new Promise(setImmediate);
    clock.advance(seconds * 1_000);
    return running;
  };

  it('that hangs refuses the call it gates after 600 s, and the explicit deny of another hook gives the reason', async () => {
    const result = await hanging({ PreToolUse: [{ hooks: [forever] }] }, bashCall(), 600);
    expect(result.verdict).toMatchObject({ behavior: 'deny', hookName: 'forever', reason: expect.stringContaining('stopped after 600 s') });
    expect(result.runs).toMatchObject([{ status: 'timeout' }]);
    const denied = await hanging(
      { PreToolUse: [{ hooks: [forever, () => decides('deny', { permissionDecisionReason: 'explicit' })] }] },
      bashCall(),
      600,
    );
    expect(denied.verdict).toMatchObject({ behavior: 'deny', reason: 'explicit' });
  });

  it('that hangs blocks the prompt after 30 s', async () => {
    const result = await hanging({ UserPromptSubmit: [{ hooks: [forever] }] }, userPromptSubmitPayload('q', 'hi'), 30);
    expect(result.block?.reason).toContain('stopped after 30 s');
  });

  it('that hangs does not refuse where its author said "continue"', async () => {
    const result = await hanging({ PreToolUse: [{ hooks: [forever], timeout: 5, onFailure: 'continue' }] }, bashCall(), 5);
    expect(result.verdict).toEqual({ behavior: 'passthrough' });
    expect(result.notices).toHaveLength(1);
  });

  it('that hangs after a tool or at a stop changes nothing', async () => {
    const after = postToolUsePayload({ toolName: 'Bash', toolInput: {}, toolUseId: 't', toolResponse: 'XYZ', durationMs: 1 });
    for (const [event, request] of [['PostToolUse', after] as const, ['Stop', stopPayload('q', { stopHookActive: false })] as const]) {
      const result = await hanging({ [event]: [{ hooks: [forever], timeout: 5 }] }, request, 5);
      expect(result.block).toBeUndefined();
      expect(result.updatedToolOutput).toBeUndefined();
      expect(result.notices).toHaveLength(1);
    }
  });

  it('sees its signal fire at the timeout and on abort, and what it answers afterwards is dropped', async () => {
    const controller = new AbortController();
    let release: (answer: unknown) => void = () => {};
    const reasons: string[] = [];
    const late: HookCallback = (_input, _id, { signal }) => {
      signal.addEventListener('abort', () => reasons.push('aborted'));
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    const { runner } = rig({ callbacks: { PreToolUse: [{ hooks: [late] }] } });
    const running = runner.run(bashCall(), { signal: controller.signal });
    await Promise.resolve();
    controller.abort('userInterrupt');
    release(decides('allow'));
    expect(await running).toMatchObject({ cancelled: true, verdict: { behavior: 'deny' } });
    expect(reasons).toEqual(['aborted']);
  });

  it('runs beside the others, and all of them to the end', async () => {
    const order: string[] = [];
    let openGate: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const waits: HookCallback = async () => {
      await gate;
      order.push('waits');
      return decides('allow');
    };
    const denies: HookCallback = () => {
      order.push('denies');
      openGate();
      return decides('deny');
    };
    const result = await rig({ callbacks: { PreToolUse: [{ hooks: [waits, denies] }] } }).run(bashCall());
    expect(order).toEqual(['denies', 'waits']);
    expect(result.runs.map((entry) => entry.verdict)).toEqual(['allow', 'deny']);
    expect(result.verdict.behavior).toBe('deny');
  });

  it('does not run, and the call gets a verdict, when the session cannot say where it is', async () => {
    const broken = () => {
      throw new Error('no directory');
    };
    const { run } = rig({ callbacks: { PreToolUse: [{ hooks: [() => decides('allow')], onFailure: 'block' }] }, context: { cwd: broken } });
    expect((await run(bashCall())).verdict).toMatchObject({ behavior: 'deny', reason: expect.stringContaining('no directory') });
  });

  it('cannot be disturbed by an observer that throws', async () => {
    const { runner } = rig({ callbacks: { PreToolUse: [{ hooks: [() => decides('deny')] }] } });
    const warned = new Promise((resolve) => process.once('warning', resolve));
    const result = await runner.run(bashCall(), {
      signal: new AbortController().signal,
      onRun: () => {
        throw new Error('observer');
      },
    });
    expect(result.verdict.behavior).toBe('deny');
    expect(String(await warned)).toContain('observer');
  });
});

describe('limits', () => {
  it('gives all SessionEnd hooks 1.5 s together', async () => {
    const clock = simulatedClock();
    const { run } = rig({ callbacks: { SessionEnd: [{ hooks: [forever, forever] }] }, ports: { clock }, context: { env: {} } });
    const running = run(sessionEndPayload('other'));
    clock.advance(1_500);
    expect((await running).runs.map((entry) => [entry.status, entry.ms])).toEqual([
      ['timeout', 1_500],
      ['timeout', 1_500],
    ]);
  });

  it.each([
    [{}, [undefined], 1_500],
    [{}, [10, 2], 10_000],
    [{}, [600], 60_000],
    [{ CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS: '4000' }, [10], 4_000],
    [{ CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS: 'soon' }, [], 1_500],
  ])('SessionEnd budget of %j and timeouts %j is %d ms', (env, timeouts, expected) => {
    expect(sessionEndBudgetMs(env, timeouts)).toBe(expected);
  });

  it.each([
    [undefined, 8],
    ['3', 3],
    ['0', Number.POSITIVE_INFINITY],
    ['-1', 8],
    ['x', 8],
  ])('Stop hooks may block %s → %d times in a row', (value, cap) => {
    expect(stopHookBlockCap({ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: value })).toBe(cap);
  });

  it('a Stop hook sees that it is already active, and sends the query on with a reason or with context', async () => {
    const seen: unknown[] = [];
    const hooks: HookCallback[] = [
      (input) => {
        seen.push(input.stop_hook_active);
        return { decision: 'block', reason: 'tests are red' };
      },
      () => ({ hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'look at the log' } }),
    ];
    const result = await rig({ callbacks: { Stop: [{ hooks }] } }).run(
      stopPayload('q', { stopHookActive: true, lastAssistantMessage: 'done' }),
    );
    expect(seen).toEqual([true]);
    expect(result).toMatchObject({ block: { reason: 'tests are red' }, additionalContext: ['look at the log'] });
  });

  it('context over 10,000 characters goes to a file, or is cut with a notice', async () => {
    const text = 'x'.repeat(10_001);
    const callbacks: HookCallbacks = {
      UserPromptSubmit: [{ hooks: [() => ({ hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: text } })] }],
    };
    const kept: string[] = [];
    const persistText = async (whole: string) => {
      kept.push(whole);
      return '/results/hook.txt';
    };
    const stored = await rig({ callbacks, ports: { persistText } }).run(userPromptSubmitPayload('q', 'hi'));
    expect(kept).toEqual([text]);
    expect(stored.additionalContext.join()).toContain('/results/hook.txt');
    const cut = await rig({ callbacks }).run(userPromptSubmitPayload('q', 'hi'));
    expect(cut.additionalContext.join()).toContain('1 more characters were left out');
    expect(cut.notices).toHaveLength(1);
  });
});
