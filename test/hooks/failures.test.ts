import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { postToolUsePayload, stopPayload, userPromptSubmitPayload } from '../../src/hooks/index.js';
import { processAlive } from '../support/system.js';
import { bashCall, decides, preToolUse, prints, rig, tempDir } from './support.js';

describe('a failing PreToolUse command hook', () => {
  it('blocks when the interpreter exits 2 because the script is missing, with its stderr as the reason', async () => {
    const { run, runs } = rig({ hooks: preToolUse('python3 /no/such.py') });
    const result = await run(bashCall());
    expect(result.verdict).toMatchObject({ behavior: 'deny', hookName: 'python3 /no/such.py' });
    expect(result.verdict.reason).toContain('/no/such.py');
    expect(runs).toMatchObject([{ status: 'blocked', exitCode: 2, verdict: 'deny' }]);
  });

  it.each([
    ['a command that does not exist (127)', '/no/such-exe', 127],
    ['exit 1 with text on stderr', 'echo oops >&2; exit 1', 1],
  ])('lets the call go on with a visible notice: %s', async (_, command, exitCode) => {
    const { run, runs } = rig({ hooks: preToolUse(command) });
    const result = await run(bashCall());
    expect(result.verdict).toEqual({ behavior: 'passthrough' });
    expect(result.notices.join()).toContain(`non-blocking status code: ${exitCode}`);
    expect(runs).toMatchObject([{ status: 'error', exitCode, notice: result.notices[0] }]);
  });

  it('honours a valid deny printed with exit code 1', async () => {
    const { run } = rig({ hooks: preToolUse(`${prints(decides('deny', { permissionDecisionReason: 'no' }))}; exit 1`) });
    const result = await run(bashCall());
    expect(result.verdict).toMatchObject({ behavior: 'deny', reason: 'no' });
    expect(result.notices).toEqual([]);
  });

  it.each(['deny', 'allow'])(
    'takes no decision from a permissionDecision "%s" at the top level and names the right place',
    async (decision) => {
      const { run, runs } = rig({ hooks: preToolUse(prints({ permissionDecision: decision })) });
      const result = await run(bashCall());
      expect(result.verdict).toEqual({ behavior: 'passthrough' });
      expect(result.notices.join()).toContain(
        '"permissionDecision" has no effect at the top level; it belongs inside "hookSpecificOutput"',
      );
      expect(runs).toMatchObject([{ status: 'error', exitCode: 0 }]);
    },
  );

  it('treats JSON after other text as plain text that decides nothing, and keeps it in the record', async () => {
    const { run, runs } = rig({ hooks: preToolUse(`echo 'Welcome!'; ${prints(decides('allow'))}`) });
    const result = await run(bashCall());
    expect(result.verdict).toEqual({ behavior: 'passthrough' });
    expect(result.additionalContext).toEqual([]);
    expect(runs[0]?.status).toBe('ok');
    expect(runs[0]?.output).toContain('Welcome!');
    expect(result.notices.join()).toContain('plain text');
  });

  it('reports output that starts like JSON and is not, without a decision', async () => {
    const { run, runs } = rig({ hooks: preToolUse("echo '{bad'") });
    const result = await run(bashCall());
    expect(result.verdict).toEqual({ behavior: 'passthrough' });
    expect(result.notices.join()).toContain('cannot be parsed');
    expect(runs).toMatchObject([{ status: 'error' }]);
  });

  it('is cancelled at its timeout and the call goes on', async () => {
    const { run, runs } = rig({ hooks: preToolUse({ command: 'sleep 90', timeout: 1 }) });
    const start = performance.now();
    const result = await run(bashCall());
    expect(performance.now() - start).toBeLessThan(60_000);
    expect(result.verdict).toEqual({ behavior: 'passthrough' });
    expect(result.notices.join()).toContain('stopped after 1 s');
    expect(runs).toMatchObject([{ status: 'timeout' }]);
  });

  it.each([
    ['cannot be found', { command: '/no/such-exe' }],
    ['cannot be started', { command: '/no/such-exe', args: ['x'] }],
    ['exits 1', { command: 'exit 1' }],
    ['prints broken JSON', { command: "echo '{bad'" }],
    ['prints an unknown field', { command: prints({ decison: 'allow' }) }],
    ['times out', { command: 'sleep 60', timeout: 0.3 }],
  ])('blocks with onFailure "block" when it %s', async (_, handler) => {
    const { run } = rig({ hooks: preToolUse({ ...handler, onFailure: 'block' }) });
    const result = await run(bashCall());
    expect(result.verdict.behavior).toBe('deny');
    expect(result.verdict.reason).toContain('without its answer');
    expect(result.notices).toHaveLength(1);
  });

  it('blocks a prompt with onFailure "block", but never traps the model at a stop', async () => {
    const failing = [{ hooks: [{ type: 'command', command: 'exit 1', onFailure: 'block' }] }];
    const { run } = rig({ hooks: { UserPromptSubmit: failing, Stop: failing } });
    expect((await run(userPromptSubmitPayload('q', 'hi'))).block?.reason).toContain('status code: 1');
    const stop = await run(stopPayload('q', { stopHookActive: false }));
    expect(stop.block).toBeUndefined();
    expect(stop.notices).toHaveLength(1);
  });

  it('blocks on exit 2 even if the JSON says allow', async () => {
    const { run } = rig({ hooks: preToolUse(`${prints(decides('allow'))}; echo stop >&2; exit 2`) });
    expect((await run(bashCall())).verdict).toMatchObject({ behavior: 'deny', reason: 'stop' });
  });

  it('does not fail for a hook that never reads a large input', async () => {
    const { run } = rig({ hooks: preToolUse('exec 0<&-; exit 0') });
    const result = await run(bashCall('x'.repeat(2_000_000)));
    expect(result.runs).toMatchObject([{ status: 'ok', exitCode: 0 }]);
    expect(result.notices).toEqual([]);
  });
});

describe('time and output limits', () => {
  it('closes stdin after the payload, so that a hook that reads to the end ends', async () => {
    const { run, dir } = rig({ hooks: preToolUse({ command: 'cat > f', timeout: 3 }) });
    const result = await run(bashCall('echo hi'));
    expect(result.runs).toMatchObject([{ status: 'ok', exitCode: 0 }]);
    expect(JSON.parse(readFileSync(join(dir, 'f'), 'utf8'))).toMatchObject({ tool_name: 'Bash', tool_input: { command: 'echo hi' } });
  });

  it('ends the whole process group at the timeout, children that ignore TERM included', async () => {
    const stubborn = `trap '' TERM; echo $BASHPID >> pids; while :; do read -t 1 <> <(:); done`;
    const { run, dir } = rig({ hooks: preToolUse({ command: `(${stubborn}) & ${stubborn}`, timeout: 3 }) });
    const start = performance.now();
    const result = await run(bashCall());
    expect(performance.now() - start).toBeLessThan(60_000);
    expect(result.runs).toMatchObject([{ status: 'timeout' }]);
    const pids = readFileSync(join(dir, 'pids'), 'utf8').trim().split('\n').map(Number);
    expect(pids).toHaveLength(2);
    expect(pids.filter(processAlive)).toEqual([]);
  });

  it('does not wait for a child that keeps the output open after the hook has ended', async () => {
    const { run } = rig({ hooks: preToolUse({ command: `${prints(decides('deny'))}; sleep 90 & exit 0`, timeout: 20 }) });
    const start = performance.now();
    const result = await run(bashCall());
    expect(performance.now() - start).toBeLessThan(60_000);
    expect(result.verdict.behavior).toBe('deny');
  });

  it('ends at the timeout what the hook left running', async () => {
    const { run, dir } = rig({ hooks: preToolUse({ command: 'sleep 30 >/dev/null 2>&1 & echo $! > pid', timeout: 1 }) });
    expect((await run(bashCall())).runs).toMatchObject([{ status: 'ok' }]);
    const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
    expect(processAlive(pid)).toBe(true);
    await expect.poll(() => processAlive(pid), { timeout: 60_000 }).toBe(false);
  });

  it('drains output over the cap and rejects it with a notice', async () => {
    const command = `python3 -c 'import json; print(json.dumps({"systemMessage": "x" * 2097152}))'`;
    const { run } = rig({ hooks: preToolUse({ command, timeout: 20 }) });
    const result = await run(bashCall());
    expect(result.runs).toMatchObject([{ status: 'error', exitCode: 0 }]);
    expect(result.notices.join()).toContain('larger than 1024 KiB');
    expect(result.systemMessages).toEqual([]);
    expect(result.runs[0]?.output?.length).toBeLessThan(3_000);
  });

  it('reads output of almost the cap whole', async () => {
    const command = `python3 -c 'import json; print(json.dumps({"systemMessage": "é" * 90000}, ensure_ascii=False))'`;
    const { run } = rig({ hooks: preToolUse(command) });
    expect((await run(bashCall())).systemMessages).toEqual(['é'.repeat(90_000)]);
  });

  it('leaves the tool output alone when a PostToolUse hook hangs, and says so', async () => {
    const { run } = rig({ hooks: { PostToolUse: [{ hooks: [{ type: 'command', command: 'sleep 60', timeout: 0.3 }] }] } });
    const result = await run(
      postToolUsePayload({
        toolName: 'Bash',
        toolInput: { command: 'echo XYZ' },
        toolUseId: 't',
        toolResponse: { stdout: 'XYZ' },
        durationMs: 3,
      }),
    );
    expect(result.updatedToolOutput).toBeUndefined();
    expect(result.block).toBeUndefined();
    expect(result.notices.join()).toContain('result is delivered unchanged');
  });
});

describe('an abort', () => {
  it('ends the running hook and never counts as its consent', async () => {
    const dir = tempDir();
    const controller = new AbortController();
    const { runner } = rig({ dir, hooks: preToolUse(`touch started; sleep 60; ${prints(decides('allow'))}`) });
    const running = runner.run(bashCall(), { signal: controller.signal });
    await expect.poll(() => existsSync(join(dir, 'started'))).toBe(true);
    controller.abort('userInterrupt');
    const result = await running;
    expect(result).toMatchObject({ cancelled: true, verdict: { behavior: 'deny' }, runs: [{ status: 'cancelled' }] });
  });

  it('before the start runs nothing', async () => {
    const { run, dir } = rig({ hooks: preToolUse('touch started') });
    const result = await run(bashCall(), AbortSignal.abort('userInterrupt'));
    expect(result.runs).toMatchObject([{ status: 'cancelled' }]);
    expect(existsSync(join(dir, 'started'))).toBe(false);
  });
});
