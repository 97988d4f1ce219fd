import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { HookCallbacks } from '../../src/hooks/config-types.js';
import type { SessionOptions } from '../../src/session/options.js';
import { text, toolUse } from '../../src/testing/index.js';
import { buildTool } from '../../src/tool/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';

const pre = (decision: 'allow' | 'ask' | 'deny', more: object = {}): HookCallbacks => ({
  PreToolUse: [
    {
      hooks: [
        async () => ({
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            permissionDecision: decision,
            permissionDecisionReason: `hook says ${decision}`,
            ...more,
          },
        }),
      ],
    },
  ],
});

/** Runs one call under a hook and rules, and says what became of it: it ran, somebody was asked, or it was blocked. */
async function verdict(options: SessionOptions): Promise<'ran' | 'asked' | 'blocked'> {
  let ran = false;
  let asked = false;
  const made = await scene([[toolUse('Print', { what: 'R' })], [text('ok')]], {
    ...options,
    tools: [
      testTool({
        name: 'Print',
        call: async () => {
          ran = true;
          return { data: 'R' };
        },
      }),
    ],
    canUseTool: async () => {
      asked = true;
      return { behavior: 'deny', message: 'no' };
    },
  });
  await made.session.send('go').done;
  made.server.assertConsumed();
  return ran ? 'ran' : asked ? 'asked' : 'blocked';
}

describe('hook decisions beside permission rules', () => {
  const hooks = ['none', 'allow', 'ask', 'deny'] as const;
  const rules = ['none', 'allow', 'ask', 'deny'] as const;
  for (const mode of ['default', 'bypassPermissions'] as const) {
    for (const hook of hooks) {
      for (const rule of rules) {
        const expected =
          hook === 'deny' || rule === 'deny'
            ? 'blocked'
            : hook === 'ask' || rule === 'ask'
              ? 'asked'
              : hook === 'allow' || rule === 'allow' || mode === 'bypassPermissions'
                ? 'ran'
                : 'asked';
        it(`mode ${mode}, hook ${hook}, rule ${rule}: ${expected}`, async () => {
          const found = await verdict({
            ...(hook === 'none' ? {} : { hooks: pre(hook) }),
            // A scoped rule, so that a deny does not take the tool out of view.
            permissions: { mode, ...(rule === 'none' ? {} : { [rule]: [rule === 'allow' ? 'Print' : 'Print(what:R)'] }) },
          });
          expect(found).toBe(expected);
        });
      }
    }
  }
});

describe('an input that a hook rewrites', () => {
  const strict = (ran: unknown[]) =>
    buildTool({
      name: 'Run',
      description: 'Runs',
      inputSchema: z.strictObject({ command: z.string(), timeout: z.number().optional() }),
      call: async (input) => {
        ran.push(input);
        return { data: 'done' };
      },
    });
  const rewriting = async (updatedInput: unknown, permissions: SessionOptions['permissions'] = { allow: ['Run'] }) => {
    const ran: unknown[] = [];
    const made = await scene([[toolUse('Run', { command: 'sleep 180', timeout: 600_000 })], [text('ok')]], {
      tools: [strict(ran)],
      permissions,
      hooks: pre('allow', { updatedInput }),
    });
    await made.session.send('go').done;
    made.server.assertConsumed();
    return { ran, made, result: made.results().get('toolu_1_1') };
  };

  it('replaces the whole input, runs so, and the dropped key is named', async () => {
    const { ran, made } = await rewriting({ command: 'sleep 180 # x' });
    expect(ran).toEqual([{ command: 'sleep 180 # x' }]);
    expect(made.of('notice').some(({ message }) => /dropped.*timeout/.test(message))).toBe(true);
  });

  it('without a required field is refused, and nothing runs', async () => {
    const { ran, result } = await rewriting({ dangerouslyDisableSandbox: true });
    expect(ran).toEqual([]);
    expect(result?.isError).toBe(true);
    expect(result?.text).toContain('command');
  });

  it('into something that is not an object is refused, and nothing runs', async () => {
    const { ran, result } = await rewriting('a string');
    expect(ran).toEqual([]);
    expect(result?.isError).toBe(true);
  });

  it('into what a deny rule names is refused, though the hook allows it', async () => {
    const { ran } = await rewriting({ command: 'secret' }, { allow: ['Run'], deny: ['Run(timeout:9)'] });
    expect(ran).toHaveLength(1);
    const denied = await rewriting({ command: 'secret', timeout: 9 }, { allow: ['Run'], deny: ['Run(timeout:9)'] });
    expect(denied.ran).toEqual([]);
  });
});

describe('stopping', () => {
  it('continue:false wins over everything: both calls have their results, no further request is sent', async () => {
    const made = await scene([[toolUse('Echo', { n: 1 }), toolUse('Echo', { n: 2 })], [text('never')]], {
      tools: [testTool({ name: 'Echo' })],
      permissions: { allow: ['Echo'] },
      hooks: { PostToolUse: [{ hooks: [async () => ({ continue: false, stopReason: 'enough', decision: 'block', reason: 'redo' })] }] },
    });
    expect((await made.session.send('go').done).end).toBe('hookStopped');
    expect(made.results().size).toBe(2);
    expect(made.server.requests).toHaveLength(1);
    expect(JSON.stringify(made.session.messages)).not.toContain('enough');
    expect(made.of('notice').map(({ message }) => message)).toContain('PostToolUse hook [callback] ended the run: enough');
  });

  it('decision:block after the fact stands beside the real output, and the turn goes on', async () => {
    const made = await scene([[toolUse('Echo', { n: 1 })], [text('ok')]], {
      tools: [testTool({ name: 'Echo' })],
      permissions: { allow: ['Echo'] },
      hooks: { PostToolUse: [{ hooks: [async () => ({ decision: 'block', reason: 'redo it with tests' })] }] },
    });
    expect((await made.session.send('go').done).text).toBe('ok');
    expect(made.results().get('toolu_1_1')?.text).toContain('Echo');
    expect(JSON.stringify(made.session.messages)).toContain('redo it with tests');
    made.server.assertConsumed();
  });

  it('a Stop hook sends the query round again with its reason, at most eight times in a row', async () => {
    const script = Array.from({ length: 9 }, (_, n) => [text(`answer ${n + 1}`)]);
    const made = await scene(script, { hooks: { Stop: [{ hooks: [async () => ({ decision: 'block', reason: 'not finished' })] }] } });
    const ended = await made.session.send('go').done;
    expect(ended).toMatchObject({ end: 'completed', turns: 9, text: 'answer 9' });
    expect(JSON.stringify(made.server.requests[1]?.body.messages)).toContain('not finished');
    made.server.assertConsumed();
  });

  it('a UserPromptSubmit hook blocks a prompt before the model sees it, and adds to the next one', async () => {
    const made = await scene([[text('ok')]], {
      hooks: {
        UserPromptSubmit: [
          {
            hooks: [
              async ({ prompt }) =>
                prompt === 'forbidden'
                  ? { decision: 'block', reason: 'not that' }
                  : { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'today is Monday' } },
            ],
          },
        ],
      },
    });
    expect(await made.session.send('forbidden').done).toMatchObject({ end: 'promptBlocked', reason: 'not that' });
    expect((await made.session.send('hello').done).text).toBe('ok');
    const sent = JSON.stringify(made.server.requests[0]?.body.messages);
    expect(sent).toContain('today is Monday');
    expect(sent).not.toContain('forbidden');
  });
});

describe('hook scripts written for Claude Code', () => {
  /** A project whose settings name one script as a hook. */
  const project = (event: string, script: string, timeout?: number) => {
    const cwd = tempDir();
    const file = join(cwd, 'hook.sh');
    writeFileSync(file, script);
    chmodSync(file, 0o755);
    const handler = { type: 'command', command: file, ...(timeout === undefined ? {} : { timeout }) };
    writeFileSync(join(cwd, 'settings.json'), JSON.stringify({ hooks: { [event]: [{ matcher: 'Echo', hooks: [handler] }] } }));
    return { cwd, settings: { home: cwd, file: join(cwd, 'settings.json') } };
  };
  const run = async (place: ReturnType<typeof project>) => {
    const made = await scene([[toolUse('Echo', { say: 'XYZ' })], [text('ok')]], {
      ...place,
      tools: [testTool({ name: 'Echo' })],
      permissions: { allow: ['Echo'] },
    });
    await made.session.send('go').done;
    made.server.assertConsumed();
    return made;
  };

  it('bash, exit 2: the call is blocked and the model reads standard error', async () => {
    const made = await run(project('PreToolUse', '#!/bin/bash\ncat > "$(dirname "$0")/seen.json"\necho "not on my watch" >&2\nexit 2\n'));
    expect(made.results().get('toolu_1_1')?.text).toContain('not on my watch');
    expect(made.statesOf('toolu_1_1')).not.toContain('executing.calling');
    const seen: unknown = JSON.parse(readFileSync(join(made.cwd, 'seen.json'), 'utf8'));
    expect(seen).toMatchObject({ hook_event_name: 'PreToolUse', tool_name: 'Echo', tool_input: { say: 'XYZ' }, tool_use_id: 'toolu_1_1' });
  });

  it('Python, JSON on standard output: the decision is honoured', async () => {
    const script = `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no " + data["tool_name"]}}))
`;
    expect((await run(project('PreToolUse', script))).results().get('toolu_1_1')?.text).toContain('no Echo');
  });

  it('a PostToolUse hook that hangs costs its time limit, never the result', async () => {
    const made = await run(project('PostToolUse', '#!/bin/bash\nsleep 60\n', 1));
    expect(made.results().get('toolu_1_1')?.text).toContain('XYZ');
    expect(made.of('hook.run')[0]?.run.status).toBe('timeout');
    expect(made.of('notice').length).toBeGreaterThan(0);
  });

  it('a hook that cannot be found lets the call go on, visibly', async () => {
    const made = await run(project('PreToolUse', '#!/bin/bash\n/no/such-program\n'));
    expect(made.results().get('toolu_1_1')?.text).toContain('XYZ');
    expect(made.of('notice').some(({ message }) => /hook/i.test(message))).toBe(true);
  });
});

describe('mode plan', () => {
  it('asks before a tool of one’s own that may change something, whatever the allow rules; what only reads runs', async () => {
    const asked: string[] = [];
    const made = await scene([[toolUse('Change', {}), toolUse('Look', {})], [text('ok')]], {
      tools: [testTool({ name: 'Change', isReadOnly: () => false }), testTool({ name: 'Look' })],
      permissions: { mode: 'plan', allow: ['Change', 'Look'] },
      canUseTool: async (name) => {
        asked.push(name);
        return { behavior: 'deny', message: 'not while planning' };
      },
    });
    await made.session.send('go').done;
    expect(asked).toEqual(['Change']);
    expect(made.results().get('toolu_1_2')?.isError).toBe(false);
  });
});

describe('settings files', () => {
  it('hold in sessions as they do in explain: managed rules count in every session', async () => {
    const cwd = tempDir();
    const managedFile = join(cwd, 'managed.json');
    writeFileSync(managedFile, JSON.stringify({ permissions: { deny: ['Echo(say:no)'] } }));
    for (const files of [true, false]) {
      const made = await scene([[toolUse('Echo', { say: 'no' })], [text('ok')]], {
        cwd,
        tools: [testTool({ name: 'Echo' })],
        permissions: { allow: ['Echo'] },
        settings: { home: cwd, managedFile, files },
      });
      await made.session.send('go').done;
      expect(made.results().get('toolu_1_1')?.isError).toBe(true);
    }
  });

  it('of project and user are not read where none are wanted', async () => {
    const cwd = tempDir();
    mkdirSync(join(cwd, '.claude'));
    writeFileSync(join(cwd, '.claude', 'settings.json'), JSON.stringify({ permissions: { deny: ['Echo(say:no)'] } }));
    for (const files of [true, false]) {
      const made = await scene([[toolUse('Echo', { say: 'no' })], [text('ok')]], {
        cwd,
        tools: [testTool({ name: 'Echo' })],
        permissions: { allow: ['Echo'] },
        settings: { home: cwd, files },
      });
      await made.session.send('go').done;
      expect(made.results().get('toolu_1_1')?.isError).toBe(files);
    }
  });
});

describe('a PermissionRequest hook that says yes to an input of its own', () => {
  const rewrites: HookCallbacks = {
    PermissionRequest: [
      {
        hooks: [
          async () => ({
            hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow', updatedInput: { what: 'new' } } },
          }),
        ],
      },
    ],
  };
  const under = async (options: SessionOptions) => {
    const ran: unknown[] = [];
    const tool = testTool({
      name: 'Act',
      isReadOnly: () => false,
      call: async (input) => {
        ran.push(input);
        return { data: 'done' };
      },
    });
    const made = await scene([[toolUse('Act', { what: 'old' }, { id: 't1' })], [text('ok')]], {
      hooks: rewrites,
      tools: [tool],
      ...options,
    });
    await made.session.send('go').done;
    made.server.assertConsumed();
    return { ran, result: made.results().get('t1'), hookRuns: made.of('hook.run').length };
  };

  it('is asked once: a rule that asks about that input puts the question to a person', async () => {
    const asked: unknown[] = [];
    const canUseTool: SessionOptions['canUseTool'] = async (_, input) => {
      asked.push(input);
      return { behavior: 'allow' };
    };
    const { ran, hookRuns } = await under({ permissions: { ask: ['Act(what:new)'] }, canUseTool });
    expect({ ran, asked, hookRuns }).toEqual({ ran: [{ what: 'new' }], asked: [{ what: 'new' }], hookRuns: 1 });
  });

  it('does not run where nobody is there to be asked, and a deny rule holds against it', async () => {
    for (const permissions of [{ ask: ['Act(what:new)'] }, { deny: ['Act(what:new)'] }]) {
      const { ran, result, hookRuns } = await under({ permissions });
      expect({ ran, isError: result?.isError, hookRuns }).toEqual({ ran: [], isError: true, hookRuns: 1 });
    }
  });

  it('runs that input where nothing else demands a question', async () => {
    expect(await under({})).toMatchObject({ ran: [{ what: 'new' }], hookRuns: 1 });
  });
});
