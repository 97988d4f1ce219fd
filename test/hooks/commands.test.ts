import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AsyncHookResult, sessionStartPayload, stopPayload, userPromptSubmitPayload } from '../../src/hooks/index.js';
import { processAlive } from '../support/system.js';
import { bashCall, preToolUse, prints, rig, script, tempDir } from './support.js';

describe('hook scripts written for Claude Code run unchanged', () => {
  it('a Python guard that reads stdin and exits 2', async () => {
    const dir = tempDir();
    const path = script(
      dir,
      'guard.py',
      `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
if data.get("tool_name") == "Bash" and "rm -rf" in data["tool_input"].get("command", ""):
    print("rm -rf is not allowed", file=sys.stderr)
    sys.exit(2)
sys.exit(0)
`,
    );
    const { run } = rig({ dir, hooks: preToolUse(`python3 ${path}`) });
    expect((await run(bashCall('rm -rf /tmp/x'))).verdict).toMatchObject({ behavior: 'deny', reason: 'rm -rf is not allowed' });
    expect((await run(bashCall('ls'))).verdict).toEqual({ behavior: 'passthrough' });
  });

  it('a Python hook that prints a decision as JSON', async () => {
    const dir = tempDir();
    script(
      dir,
      'approve.py',
      `import json, sys
data = json.loads(sys.stdin.read())
print(json.dumps({"hookSpecificOutput": {"hookEventName": data["hook_event_name"], "permissionDecision": "ask",
    "permissionDecisionReason": "check " + data["tool_input"]["command"]}, "suppressOutput": True}))
`,
    );
    const { run } = rig({ dir, hooks: preToolUse('python3 "$CLAUDE_PROJECT_DIR"/approve.py') });
    expect((await run(bashCall('git push'))).verdict).toMatchObject({ behavior: 'ask', reason: 'check git push' });
  });

  it('a bash hook that reads one line of stdin', async () => {
    const dir = tempDir();
    const path = script(dir, 'log.sh', '#!/bin/bash\nset -e\nread -r line\nprintf "%s" "$line" > seen.json\n');
    const { run } = rig({ dir, hooks: preToolUse(path) });
    expect((await run(bashCall('ls'))).runs).toMatchObject([{ status: 'ok' }]);
    expect(JSON.parse(readFileSync(join(dir, 'seen.json'), 'utf8'))).toMatchObject({
      hook_event_name: 'PreToolUse',
      tool_use_id: 'toolu_1',
    });
  });

  it('plain text becomes context on SessionStart and UserPromptSubmit, and nowhere else', async () => {
    const say = [{ hooks: [{ type: 'command', command: 'echo "on branch main"' }] }];
    const { run } = rig({ hooks: { SessionStart: say, UserPromptSubmit: say, Stop: say } });
    expect((await run(sessionStartPayload({ source: 'startup' }))).additionalContext).toEqual(['on branch main']);
    expect((await run(userPromptSubmitPayload('q', 'hi'))).additionalContext).toEqual(['on branch main']);
    expect((await run(stopPayload('q', { stopHookActive: false }))).additionalContext).toEqual([]);
  });
});

describe('the process of a command hook', () => {
  it('runs in the session directory with the documented environment and without OTEL variables', async () => {
    const { run, dir } = rig({
      hooks: preToolUse('pwd -P > where; env > env'),
      context: { env: { PATH: process.env.PATH, OTEL_EXPORTER_OTLP_HEADERS: 'secret', MINE: '1', CLAUDE_ENV_FILE: '/x' } },
    });
    await run(bashCall());
    const env = readFileSync(join(dir, 'env'), 'utf8').split('\n');
    expect(env).toEqual(
      expect.arrayContaining([
        `CLAUDE_PROJECT_DIR=${dir}`,
        'CLAUDECODE=1',
        'CLAUDE_CODE_SESSION_ID=session-1',
        `CLAUDE_PID=${process.pid}`,
        'MINE=1',
      ]),
    );
    expect(env.filter((line) => /^(OTEL_|CLAUDE_ENV_FILE)/.test(line))).toEqual([]);
    expect(readFileSync(join(dir, 'where'), 'utf8').trim()).toMatch(new RegExp(`${dir}$`));
  });

  it('in exec form gets its arguments without a shell, placeholders filled', async () => {
    const code = 'import sys, json; sys.stderr.write(json.dumps(sys.argv[1:])); sys.exit(2)';
    const args = ['-c', code, '$HOME `id` "q"', `$${'{CLAUDE_PROJECT_DIR}'}/x`];
    const { run, dir } = rig({ hooks: preToolUse({ command: 'python3', args }) });
    expect(JSON.parse((await run(bashCall())).verdict.reason ?? '')).toEqual(['$HOME `id` "q"', `${dir}/x`]);
  });

  it('says so when the working directory is gone, and is a guard all the same', async () => {
    const { run, dir } = rig({ hooks: preToolUse('pwd -P >&2; exit 2'), context: { cwd: () => '/no/such/dir' } });
    const { notices, verdict } = await run(bashCall());
    expect(notices.join()).toContain('/no/such/dir does not exist');
    expect(verdict).toMatchObject({ behavior: 'deny', reason: expect.stringMatching(new RegExp(`${dir}$`)) });
  });

  it('reports its start and its end, with origin and output', async () => {
    const started: unknown[] = [];
    const { runner, runs } = rig({ hooks: preToolUse({ command: 'echo hello', statusMessage: 'Checking' }) });
    await runner.run(bashCall(), {
      signal: new AbortController().signal,
      onStart: (start) => started.push(start),
      onRun: (run) => runs.push(run),
    });
    expect(started).toEqual([{ id: 'hook:PreToolUse:toolu_1:0', event: 'PreToolUse', name: 'echo hello', statusMessage: 'Checking' }]);
    expect(runs).toEqual([
      {
        id: 'hook:PreToolUse:toolu_1:0',
        event: 'PreToolUse',
        name: 'echo hello',
        handler: 'command',
        command: 'echo hello',
        ms: expect.any(Number),
        exitCode: 0,
        status: 'ok',
        output: 'hello',
        origin: '.claude/settings.json hooks.PreToolUse[0].hooks[0]',
      },
    ]);
  });
});

describe('a command hook in the background', () => {
  const background = (handler: object, context = {}) => {
    let deliver: (result: AsyncHookResult) => void = () => {};
    const delivered = new Promise<AsyncHookResult>((resolve) => {
      deliver = resolve;
    });
    return { ...rig({ hooks: preToolUse({ ...handler }), ports: { onAsyncResult: (result) => deliver(result) }, context }), delivered };
  };

  it('does not hold the call, cannot decide, and delivers its context later', async () => {
    const answer = {
      systemMessage: 'done',
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', additionalContext: 'lint: 3 problems' },
    };
    const { run, delivered, dir, runs } = background({
      command: `until [ -e go ]; do read -t 0.02 <> <(:); done; ${prints(answer)}`,
      async: true,
    });
    const result = await run(bashCall());
    expect(result.verdict).toEqual({ behavior: 'passthrough' });
    expect(runs).toMatchObject([{ status: 'ok', async: true }]);
    script(dir, 'go', '');
    const late = await delivered;
    expect(late).toMatchObject({
      event: 'PreToolUse',
      toolUseId: 'toolu_1',
      additionalContext: ['lint: 3 problems'],
      systemMessages: ['done'],
      run: { async: true, exitCode: 0 },
    });
    expect(late.wake).toBeUndefined();
    expect(late.notices.join()).toContain('came too late');
  });

  it('goes there by itself with a first line {"async": true}', async () => {
    const command = `echo '{"async": true, "asyncTimeout": 20000}'; until [ -e go ]; do read -t 0.02 <> <(:); done; ${prints({ systemMessage: 'later' })}`;
    const { run, delivered, dir } = background({ command });
    expect((await run(bashCall())).systemMessages).toEqual([]);
    script(dir, 'go', '');
    expect((await delivered).systemMessages).toEqual(['later']);
  });

  it('wakes the model with asyncRewake and exit code 2', async () => {
    const { run, delivered } = background({ command: 'echo "build broke" >&2; exit 2', asyncRewake: true });
    expect((await run(bashCall())).verdict).toEqual({ behavior: 'passthrough' });
    expect((await delivered).wake).toEqual({ reason: 'build broke' });
  });

  it('is not reached by the abort of the call that started it', async () => {
    const controller = new AbortController();
    const command = `trap 'exit 9' TERM; until [ -e go ]; do read -t 0.02 <> <(:); done; ${prints({ systemMessage: 'alive' })}`;
    const { runner, dir, delivered } = background({ command, async: true });
    await runner.run(bashCall(), { signal: controller.signal });
    controller.abort('userInterrupt');
    script(dir, 'go', '');
    expect(await delivered).toMatchObject({ systemMessages: ['alive'], run: { exitCode: 0 } });
  });

  it('is ended when the session closes', async () => {
    const { run, runner, dir } = background({ command: 'echo $$ > pid; sleep 60', async: true });
    await run(bashCall());
    const pidFile = join(dir, 'pid');
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').trim()).toMatch(/\d+/);
    await runner.close();
    expect(processAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });
});
