import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mapResult } from '../../src/results/map.js';
import { ToolAbortedError, ToolFailure } from '../../src/tool/errors.js';
import type { BackgroundTaskEnd, BackgroundTaskStart, BackgroundTasks, SessionModifier } from '../../src/tool/types.js';
import { bashTool } from '../../src/tools/bash/bash.js';
import { meaningOfExitOne } from '../../src/tools/bash/exit-codes.js';
import { MAX_FILE_BYTES } from '../../src/tools/bash/output.js';
import { contextIn, run, shown, temporaryDirectory } from './context.js';

const bash = bashTool({ killTimes: { graceMs: 300, afterKillMs: 2000 } });
let dir: string;
let remove: () => void;
beforeEach(() => {
  ({ dir, remove } = temporaryDirectory());
});
afterEach(() => remove());

/** Living processes whose command line holds a marker; zombies have none. */
function living(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(marker);
      } catch {
        return false;
      }
    })
    .map(Number);
}

describe('output and exit codes', () => {
  it.each([
    ['echo hello', false, 'hello'],
    ['echo hello && exit 1', true, 'Exit code 1\nhello'],
    ['echo out; echo err >&2; exit 2', true, 'Exit code 2\nout\nerr'],
    ['exit 1', true, 'Exit code 1'],
  ])('shows each stream once and states the exit code once: %s', async (command, isError, text) => {
    const result = mapResult(bash, await run(bash, { command }, contextIn(dir)));
    expect(result).toMatchObject({ content: text, isError });
  });

  it('takes exit code 1 of grep as "no matches", not as a failure', async () => {
    writeFileSync(path.join(dir, 'f'), 'text\n');
    const result = mapResult(bash, await run(bash, { command: 'grep nope f' }, contextIn(dir)));
    expect(result).toMatchObject({ content: '(exit code 1: no matches)', isError: false });
  });

  it.each([
    ['grep a f', true],
    ['cat f | grep a', true],
    ['cd x; diff a b', true],
    ['A=1 git diff --exit-code', true],
    ['grep a f && test -f g', true],
    ['make && grep a f', false],
    ['grep a f | wc -l', false],
    ['git push', false],
    ['if', false],
    ['[ -f x ]', true],
    ['[[ a == b ]]', true],
    ['/usr/bin/grep a f', true],
    ['command grep a f', true],
    ['(cd x; grep a f)', true],
    ['{ diff a b; } 2>/dev/null', true],
    ['! grep -q a f', true],
    ['! make', false],
    ['git -C sub diff --exit-code', true],
    ['git -c a=b --no-pager grep x', true],
    ['git -C diff push', false],
    ['cd x && grep a f', false],
  ])('decides by the command whose code the shell reports: %s', (command, benign) => {
    expect(meaningOfExitOne(command) !== undefined).toBe(benign);
  });

  it('keeps a large output of a failed command the same way as that of a successful one', async () => {
    for (const code of [0, 1]) {
      const context = contextIn(dir);
      const output = await run(bash, { command: `head -c 100000 /dev/zero | tr '\\0' x; exit ${code}` }, context);
      const text = shown(bash, output);
      expect(text).toContain('<persisted-output>');
      expect(text.length).toBeLessThan(6000);
      expect(text.startsWith('Exit code 1')).toBe(code === 1);
      expect(readFileSync(path.join(context.resultsDir, `${context.callId}.txt`)).equals(Buffer.alloc(100_000, 'x'))).toBe(true);
    }
  });

  it('shows 29,000 characters inline and saves 31,000', async () => {
    const inline = shown(bash, await run(bash, { command: "head -c 29000 /dev/zero | tr '\\0' x" }, contextIn(dir)));
    expect(inline).toBe('x'.repeat(29_000));
    expect(shown(bash, await run(bash, { command: "head -c 31000 /dev/zero | tr '\\0' x" }, contextIn(dir)))).toContain('It was saved to');
  });

  it('joins a UTF-8 character that arrives byte by byte, on both streams', async () => {
    const pieces = (to: string): string =>
      ["'\\xe2'", "'\\x89'", "'\\xa4'", "'\\xf0'", "'\\x9f\\x98\\x80'", "'\\xf0\\x9f'", "'\\x98\\x80'"]
        .map((bytes) => `printf ${bytes}${to}; sleep 0.03`)
        .join('; ');
    const output = await run(bash, { command: `${pieces('')}; ${pieces(' >&2')}` }, contextIn(dir));
    expect(output).toMatchObject({ stdout: '≤😀😀', stderr: '≤😀😀' });
  });

  it('shows a character that never became whole as one U+FFFD', async () => {
    const output = await run(bash, { command: "printf 'a\\xe2\\x89'" }, contextIn(dir));
    expect(output.stdout).toBe('a\uFFFD');
  });

  it('summarises binary output and saves it', async () => {
    const context = contextIn(dir);
    const text = shown(bash, await run(bash, { command: 'head -c 2000 /dev/urandom' }, context));
    expect(text).toMatch(/^\(binary output: 2\.0 KB, .*saved to /);
    expect(statSync(path.join(context.resultsDir, `${context.callId}.txt`)).size).toBe(2000);
  });

  it('strips colour codes and shows NUL as a visible sign', async () => {
    const result = mapResult(
      bash,
      await run(bash, { command: "printf '\\033[31mred text here\\033[0m and a nul \\000 byte'" }, contextIn(dir)),
    );
    expect(result.content).toBe('red text here and a nul \u2400 byte');
  });

  it('survives a gigabyte of output with flat memory and a file complete up to its cap', async () => {
    const context = contextIn(dir);
    const before = process.memoryUsage().rss;
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    const output = await run(bash, { command: 'yes | head -c 1000000000' }, context);
    clearInterval(watch);
    expect(peak - before).toBeLessThan(100 * 1024 * 1024);
    expect(output).toMatchObject({ persistedOutputSize: 1_000_000_000, persistedOutputKept: MAX_FILE_BYTES });
    const file = readFileSync(path.join(context.resultsDir, `${context.callId}.txt`));
    expect(file.length).toBe(MAX_FILE_BYTES);
    expect(file.equals(Buffer.alloc(MAX_FILE_BYTES, 'y\n'))).toBe(true);
  }, 300_000);
});

describe('ending a command', () => {
  it.each([
    ['a pipeline', 'sleep 61234 | cat'],
    ['a background child', '(sleep 61234 &) ; sleep 61234'],
    ['one that ignores TERM', "trap '' TERM; sleep 61234"],
    ['one that left the group with setsid', 'setsid sleep 61234 & sleep 61234'],
  ])('leaves no process of %s after the timeout, and lives on itself', async (_name, command) => {
    const bystander = spawn('sleep', ['7123'], { detached: true, stdio: 'ignore' });
    try {
      const output = await run(bash, { command, timeout: 200 }, contextIn(dir));
      expect(output).toMatchObject({ timedOutAfterMs: 200, interrupted: true, isFailure: true });
      expect(shown(bash, output)).toBe('Command timed out after 200ms and was stopped.');
      expect(living('61234')).toEqual([]);
      expect(bystander.exitCode).toBeNull();
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  it('is given as long by its caller as the environment of its call gives it', () => {
    const limitIn = (env: Record<string, string>, timeout?: number) =>
      typeof bash.timeoutMs === 'function' ? bash.timeoutMs({ command: 'make', timeout }, env) : undefined;
    expect(limitIn({})).toBe(630_000);
    expect(limitIn({ BASH_DEFAULT_TIMEOUT_MS: '1200000' })).toBe(1_230_000);
    expect(limitIn({}, 1000)).toBe(31_000);
    expect(limitIn({ BASH_MAX_TIMEOUT_MS: '900000' }, 10_000_000)).toBe(930_000);
  });

  it('takes a timeout that no timer holds for the longest there is', async () => {
    const env = { PATH: process.env.PATH, BASH_DEFAULT_TIMEOUT_MS: '99999999999' };
    const output = await run(bash, { command: 'sleep 0.1; echo done' }, contextIn(dir, { env }));
    expect(output).toMatchObject({ stdout: 'done\n', isFailure: false });
  });

  it('takes a directory change before "&&" for innocent where nothing stands on stderr', async () => {
    writeFileSync(path.join(dir, 'f'), 'text\n');
    const context = contextIn(dir);
    expect(mapResult(bash, await run(bash, { command: 'cd . && grep nope f' }, context))).toMatchObject({ isError: false });
    expect(mapResult(bash, await run(bash, { command: 'cd nowhere && grep nope f' }, context))).toMatchObject({ isError: true });
    const hidden = { command: 'cd nowhere 2>/dev/null && grep nope f' };
    expect(mapResult(bash, await run(bash, hidden, context))).toMatchObject({ isError: true });
    expect(mapResult(bash, await run(bash, { command: '! grep -q text f' }, context)).content).toBe(
      '(exit code 1: what is negated is true)',
    );
  });

  it('shows both streams of a command that was stopped', async () => {
    const abort = new AbortController();
    // Progress is told at most every 250 ms: the last line must come later than that after the first.
    const command = 'echo err >&2; sleep 0.4; echo begun; sleep 61236';
    const call = bash.call({ command }, contextIn(dir, { signal: abort.signal }), (progress) => {
      if (progress.message?.includes('begun')) abort.abort('userInterrupt');
    });
    const error: unknown = await call.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ partialOutput: 'begun\nerr\n' });
  });

  it('ends the group on abort, then rejects with the partial output', async () => {
    const abort = new AbortController();
    const context = contextIn(dir, { signal: abort.signal });
    const parsed = { command: 'echo started; touch ready; sleep 61235', dangerouslyDisableSandbox: false };
    const call = bash.call(parsed, context, (progress) => {
      if (progress.message?.includes('started')) abort.abort('userInterrupt');
    });
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ToolAbortedError);
    expect(error).toMatchObject({ name: 'AbortError', partialOutput: 'started\n', message: expect.stringContaining('userInterrupt') });
    expect(living('61235')).toEqual([]);
  });

  it.each([
    ['sleep 7124 & printf hi', 'hi', '7124'],
    ['nohup python3 -m http.server 0 >/dev/null & sleep 0.2; echo up', 'up', 'http.server'],
    ['(sleep 7125 >/dev/null) & echo done', 'done', '7125'],
  ])('answers after the shell has exited although a child holds a pipe: %s', async (command, text, marker) => {
    const started = performance.now();
    const output = await run(bash, { command }, contextIn(dir));
    expect(performance.now() - started).toBeLessThan(60_000);
    expect(output.exitCode).toBe(0);
    expect(output.stdout.trim()).toBe(text);
    expect(shown(bash, output)).toMatch(/Still running: (?:\w+ \(pid \d+\)(?:, )?)+\./);
    expect(output).toMatchObject({ isFailure: false });
    for (const pid of living(marker)) process.kill(pid, 'SIGKILL');
  });

  it('does not turn a success into a failure when the timeout falls into the drain', async () => {
    const output = await run(bash, { command: 'sleep 7126 & printf hi', timeout: 150 }, contextIn(dir));
    expect(output).toMatchObject({ exitCode: 0, isFailure: false, stdout: 'hi' });
    expect(output).not.toHaveProperty('timedOutAfterMs');
    for (const pid of living('7126')) process.kill(pid, 'SIGKILL');
  });

  it('never shows late output of one call in another', async () => {
    await run(bash, { command: '(sleep 0.6; echo late) & echo first' }, contextIn(dir));
    const second = await run(bash, { command: 'sleep 0.5; echo second' }, contextIn(dir));
    expect(second.stdout).toBe('second\n');
  });
});

describe('working directory', () => {
  const changes = (): { readonly session: SessionModifier; readonly cwd: () => string | undefined } => {
    let cwd: string | undefined;
    return {
      session: {
        setCwd(next) {
          cwd = next;
        },
        loadTools: () => undefined,
        updatePermissions: () => undefined,
      },
      cwd: () => cwd,
    };
  };

  it('carries over while it stays inside the allowed directories, also past exit', async () => {
    const seen = changes();
    const returned = await bash.call({ command: 'mkdir sub && cd sub && exit 0' }, contextIn(dir), () => undefined);
    returned.modify?.(seen.session);
    expect(seen.cwd()).toBe(path.join(dir, 'sub'));
  });

  it('is found anew where it has been removed, without running the command in a directory it was not allowed for', async () => {
    const seen = changes();
    const gone = contextIn(dir, { cwd: path.join(dir, 'gone') });
    const returned = await bash.call({ command: 'touch ran' }, gone, () => undefined);
    returned.modify?.(seen.session);
    expect(seen.cwd()).toBe(dir);
    expect(mapResult(bash, returned.data)).toMatchObject({
      isError: true,
      content: `The command was not run: the working directory ${path.join(dir, 'gone')} does not exist any more. Shell cwd is ${dir} now; run it again if it is meant there.`,
    });
    expect(existsSync(path.join(dir, 'ran'))).toBe(false);
  });

  it('does not follow a command into a directory that it has removed', async () => {
    const returned = await bash.call({ command: 'mkdir sub && cd sub && rmdir ../sub' }, contextIn(dir), () => undefined);
    expect(returned.modify).toBeUndefined();
    expect(shown(bash, returned.data)).not.toContain('getcwd');
  });

  it('is reset, and says so, when it leaves them', async () => {
    const context = contextIn(dir);
    const returned = await bash.call({ command: 'cd /' }, context, () => undefined);
    expect(returned.modify).toBeUndefined();
    expect(shown(bash, returned.data)).toBe(`Shell cwd was reset to ${dir}`);
  });
});

describe('background', () => {
  function taskList(): { readonly tasks: BackgroundTasks; readonly started: BackgroundTaskStart[] } {
    const started: BackgroundTaskStart[] = [];
    const none = (): never => {
      throw new Error('not part of this test');
    };
    const tasks: BackgroundTasks = {
      adopt(task) {
        started.push(task);
        return { id: `bg_${started.length}`, outputFile: task.outputFile };
      },
      list: () => [],
      get: () => undefined,
      stop: none,
      settled: none,
      nextNotification: none,
    };
    return { tasks, started };
  }

  it('answers at once with id and output file, and the file is complete when the task is done', async () => {
    const { tasks, started } = taskList();
    const output = await run(
      bash,
      { command: 'echo one; sleep 0.2; echo two; exit 3', run_in_background: true },
      contextIn(dir, { capabilities: { tasks } }),
    );
    expect(output).toMatchObject({ backgroundTaskId: 'bg_1', exitCode: null });
    expect(shown(bash, output)).toContain('bg_1');
    const end = await started[0]?.done;
    expect(end).toMatchObject<Partial<BackgroundTaskEnd>>({ status: 'failed', exitCode: 3 });
    expect(readFileSync(started[0]?.outputFile ?? '', 'utf8')).toBe('one\ntwo\n');
  });

  it('has not ended while anything that it started lives', async () => {
    const { tasks, started } = taskList();
    await run(
      bash,
      { command: '(sleep 0.4; echo late) & echo early', run_in_background: true },
      contextIn(dir, { capabilities: { tasks } }),
    );
    expect(await started[0]?.done).toMatchObject({ status: 'completed', exitCode: 0 });
    expect(readFileSync(started[0]?.outputFile ?? '', 'utf8')).toBe('early\nlate\n');
  });

  it('stops what the shell has left behind', async () => {
    const { tasks, started } = taskList();
    await run(bash, { command: 'setsid sleep 61237 & echo up', run_in_background: true }, contextIn(dir, { capabilities: { tasks } }));
    while (!readFileSync(started[0]?.outputFile ?? '', 'utf8').includes('up')) await new Promise((resolve) => setImmediate(resolve));
    started[0]?.stop();
    expect(await started[0]?.done).toMatchObject({ status: 'killed' });
    expect(living('61237')).toEqual([]);
  });

  it('is refused with a reason when the session has no tasks', async () => {
    await expect(run(bash, { command: 'echo x', run_in_background: true }, contextIn(dir))).rejects.toThrow(ToolFailure);
  });

  it('moves a command there when its time is up, and stops it with all it started', async () => {
    const { tasks, started } = taskList();
    const output = await run(bash, { command: 'echo begun; sleep 61236 | cat', timeout: 200 }, contextIn(dir, { capabilities: { tasks } }));
    expect(output).toMatchObject({ timedOutAfterMs: 200, backgroundTaskId: 'bg_1', isFailure: false });
    expect(shown(bash, output)).toContain('did not complete within its 200ms timeout and was moved to the background');
    started[0]?.stop();
    expect(await started[0]?.done).toMatchObject({ status: 'killed' });
    expect(living('61236')).toEqual([]);
    expect(readFileSync(started[0]?.outputFile ?? '', 'utf8')).toBe('begun\n');
  });
});

it('explains a command that cannot be started, and leaves no files behind after a normal one', async () => {
  await expect(run(bash, { command: `echo ${'x'.repeat(3_000_000)}` }, contextIn(dir))).rejects.toThrow(
    /longer than the system takes \(3,000,005 bytes\).* with Write/,
  );
  await expect(run(bash, { command: 'echo a\0b' }, contextIn(dir))).rejects.toThrow('could not be started');
  const context = contextIn(dir);
  await run(bash, { command: 'true' }, context);
  expect(existsSync(path.join(context.resultsDir, `${context.callId}.cwd`))).toBe(false);
});
