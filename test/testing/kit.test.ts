import { describe, expect, it } from 'vitest';
import { createSession } from '../../src/session/session.js';
import {
  describePaths as describeWith,
  deterministicMachines,
  expectThat,
  explorePermissions,
  fakeTool,
  pathMatchers,
  quietFacts,
  scriptedModel,
  simulatedClock,
  startCall,
  text,
  toolUse,
} from '../../src/testing/index.js';
import { describePaths } from '../../src/testing/vitest.js';
import { tempDir } from '../support/sessions.js';

const model = await explorePermissions({
  cwd: '/project',
  home: '/home/someone',
  settings: { permissions: { deny: ['Bash(rm *)'] } },
  calls: ['Bash(rm *)'],
  spellings: 'plain',
  modes: ['default', 'bypassPermissions'],
});

describe('one test for each path', () => {
  describePaths(model, (path) => {
    expect(path).toEndAs('denied');
    expect(path).not.toRun();
    expect(path).not.toBeAsked();
    expect(path).toBeDecidedBy('Bash(rm *)');
    expect(path).toHaveTrace([{ check: 'checkingDenyRule', behavior: 'deny' }]);
  });

  it('is what any runner gets', () => {
    const names: string[] = [];
    const runner = {
      describe: (name: string, body: () => void) => {
        names.push(name);
        body();
      },
      it: (name: string) => names.push(name),
    };
    describeWith(model, () => {}, runner);
    expect(names.filter((name) => !name.includes('›'))).toEqual(['mode default', 'mode bypassPermissions']);
    expect(names).toHaveLength(model.paths.length + 2);
    expect(names[1]).toMatch(/^mode default › Bash\(rm -rf build\) › denied: Matches deny rule Bash\(rm \*\)/);
    expect(() => describeWith({ paths: [] }, () => {}, runner)).toThrow('nothing to test');
  });
});

describe('matchers', () => {
  const [path] = model.paths;

  it('say what is the case where they fail', () => {
    expect(() => expectThat(path).toEndAs('succeeded')).toThrow(/expected to end as succeeded, but it ends as denied:\n\s+mode default/);
    expect(() => expectThat(path).toRun()).toThrow('expected to run');
    expect(() => expectThat(path).toBeAsked()).toThrow('it is not');
    expect(() => expectThat(path).toBeDecidedBy('Bash(ls *)')).toThrow('it is decided by checkingDenyRule / Bash(rm *)');
    expect(() => expectThat(path).toHaveTrace(['checkingAllowRule'])).toThrow('The trace lacks checkingAllowRule');
    expect(pathMatchers.toHaveTrace(path, ['checkingDenyRule']).message()).toContain('expected not to');
  });

  it('hold a history to the pairing rules', () => {
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }] };
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] };
    const prompt = { role: 'user', content: 'go' };
    expect([prompt, call, result]).toBePaired();
    expect([prompt, call, result, { role: 'assistant', content: [{ type: 'text', text: 'done' }] }]).toBePaired();
    expect([prompt, call, prompt]).not.toBePaired();
    expect(() => expectThat([prompt, call, prompt]).toBePaired()).toThrow('t1');
  });

  it('refuse what they cannot judge', () => {
    expect(() => expectThat('a text').toEndAs('denied')).toThrow(TypeError);
    expect(() => expectThat(1).toBePaired()).toThrow(TypeError);
    expect(() => expectThat({}).toHaveTrace([])).toThrow(TypeError);
  });
});

describe('fake tools', () => {
  it('answer by input, fail when told to, and remember their calls', async () => {
    const echo = fakeTool('Echo', ({ n }) => `echo ${String(n)}`);
    const broken = fakeTool('Broken', new Error('no luck'));
    const script = scriptedModel([[toolUse('Echo', { n: 1 }), toolUse('Broken')], [text('done')]]);
    const cwd = tempDir();
    const session = createSession({
      cwd,
      store: false,
      builtInTools: false,
      settings: { home: cwd },
      permissions: { allow: ['Echo', 'Broken'] },
      tools: [echo, broken],
      model: { client: script },
    });
    await session.send('go').done;
    expect(session).toBePaired();
    expect(echo.calls).toEqual([{ callId: 'toolu_1_1', input: { n: 1 } }]);
    expect(JSON.stringify(session.messages)).toContain('no luck');
    script.assertConsumed();
    await session.close();
  });
});

describe('simulated time', () => {
  it('stops at every timer on its way', () => {
    const clock = simulatedClock(1_000);
    const seen: [string, number][] = [];
    clock.setTimeout(() => {
      seen.push(['first', clock.now()]);
      clock.setTimeout(() => seen.push(['second', clock.now()]), 50);
    }, 100);
    const cancelled = clock.setTimeout(() => seen.push(['never', 0]), 120);
    clock.clearTimeout(cancelled);
    clock.advance(99);
    expect(seen).toEqual([]);
    clock.advance(101);
    expect(seen).toEqual([
      ['first', 1_100],
      ['second', 1_150],
    ]);
    expect([clock.now(), clock.pending]).toEqual([1_200, 0]);
  });
});

describe('deterministic machines', () => {
  it('walk the gates with functions in place of the world', async () => {
    const { toolCall } = deterministicMachines();
    const { outcome, reports } = startCall(toolCall, 'Echo', { n: 1 });
    expect(await outcome).toMatchObject({ kind: 'succeeded' });
    expect(reports.map(({ type }) => type)).toEqual(['call.classified', 'call.completed']);
  });

  it('ask whoever the test puts there, and go by the answer', async () => {
    const asked: string[] = [];
    const answering = (behavior: 'allow' | 'deny') =>
      deterministicMachines({
        facts: () => quietFacts,
        askPerson: ({ cause }) => {
          asked.push(cause.check);
          const source = { type: 'person', surface: 'test' } as const;
          return behavior === 'allow' ? { behavior, source } : { behavior, message: 'not today', source };
        },
      }).toolCall;
    expect(await startCall(answering('allow'), 'Bash').outcome).toMatchObject({ kind: 'succeeded' });
    expect(await startCall(answering('deny'), 'Bash').outcome).toMatchObject({ kind: 'denied', message: 'not today' });
    expect(asked).toEqual(['findingNothingThatAllows', 'findingNothingThatAllows']);
  });

  it('run hooks and validation that a test gives, and stop at a broken gate', async () => {
    const refusing = deterministicMachines({ validateInput: () => ({ ok: false, message: 'no such file' }) });
    expect(await startCall(refusing.toolCall, 'Read').outcome).toMatchObject({ kind: 'invalid', message: 'no such file' });
    const throwing = deterministicMachines({ runPreToolUseHooks: () => Promise.reject(new Error('hook host is gone')) });
    expect(await startCall(throwing.toolCall, 'Read').outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('hook host is gone'),
    });
  });
});
