import { describe, expect, it } from 'vitest';
import { permissionMachine, toolCallMachine } from '../../machines/index.js';
import {
  ALL_HOOK_OUTCOMES,
  ALL_REQUEST_HOOK_OUTCOMES,
  type CallLike,
  checkProperties,
  describeViolation,
  type ExploreOptions,
  explorePermissions,
  fakeTool,
  type ModelMachines,
  never,
  property,
} from '../../src/testing/index.js';

/*
 * The product's own machines, tested with nothing but what `sixgates/testing` offers to everybody.
 */

/** Tools that between them make a call take every turn that a tool can cause. */
const tools = [
  fakeTool('Bash'),
  fakeTool('Write', 'ok', { interruptBehavior: 'cancel' }),
  fakeTool('Careful', 'ok', { validateInput: () => ({ ok: true }) }),
  fakeTool('Forbids', 'ok', { checkPermissions: () => ({ behavior: 'deny', reason: 'The tool forbids it' }) }),
  fakeTool('Wonders', 'ok', { checkPermissions: () => ({ behavior: 'ask', reason: 'The tool is not sure' }) }),
  fakeTool('Permits', 'ok', { checkPermissions: () => ({ behavior: 'allow', reason: 'The tool permits it' }) }),
  fakeTool('Personal', 'ok', { requiresUserInteraction: () => true }),
  fakeTool('Fragile', 'ok', { onError: 'cancelSiblings' }),
];

const call = (tool: string, input: Record<string, string> = {}): CallLike => ({ tool, input });
const calls = [
  ...['git push', 'rm -rf build', 'npm test', 'ls', 'cat .env', 'curl https://example.com', "echo '"].map((command) =>
    call('Bash', { command }),
  ),
  call('Write', { file_path: '/project/src/a.ts' }),
  call('Write', { file_path: '/project/.git/config' }),
  ...['Careful', 'Forbids', 'Wonders', 'Permits', 'Personal', 'Fragile', 'NoSuchTool'].map((name) => call(name)),
];
const settings = {
  permissions: { allow: ['Bash(npm test)', 'Fragile'], ask: ['Bash(git push *)', 'Bash(curl *)'], deny: ['Bash(rm *)', 'Read(.env)'] },
};

/** Every call in all seven modes, with every hook outcome and every answer, and with everything that can go wrong. */
const explore = (more: Partial<ExploreOptions> = {}) =>
  explorePermissions({
    cwd: '/project',
    home: '/home/someone',
    settings,
    tools,
    calls,
    hooks: { outcomes: ALL_HOOK_OUTCOMES, requestOutcomes: ALL_REQUEST_HOOK_OUTCOMES },
    ...more,
  });

/** What no path may do, whatever the settings: the lattice of the decision. */
const lattice = [
  property(
    'a deny rule is never passed',
    [],
    {},
    (path) => !path.ran || path.account().trace.every(({ source, behavior }) => source?.type !== 'rule' || behavior !== 'deny'),
  ),
  property('a hook’s deny is never passed', [], {}, (path) => !path.ran || path.events.every(({ type }) => type !== 'hook.deny')),
  property('an ask rule is passed only by a yes', [], {}, (path) => {
    const asks = path.account().trace.some(({ source, behavior }) => source?.type === 'rule' && behavior === 'ask');
    return !path.ran || !asks || path.asked;
  }),
  property('a person is never passed over where only a person may answer', ['Personal'], {}, (path) => {
    // A hook that brings the answer itself stands for the person (Claude Code docs, hooks).
    return !path.ran || path.askedPerson || path.events.some(({ type }) => type === 'hook.rewriteAndAllow');
  }),
  property(
    'a no is final',
    [],
    {},
    (path) => !path.ran || path.events.every(({ type }) => !/^(person\.(no|stop)|requestHook\.no)/.test(type)),
  ),
  property('mode dontAsk never waits for anyone', [], { mode: 'dontAsk' }, (path) =>
    path.events.every(({ type }) => !type.startsWith('person.')),
  ),
  property('a call that is not parsed never runs', [], {}, (path) => !path.ran || path.events.every(({ type }) => type !== 'input.unfit')),
  property('a broken gate lets nothing through', [], {}, (path) => {
    const broken = path.events.findIndex(({ type }) => type.startsWith('broken.') && !/reporting|reportResult|callTool/.test(type));
    return broken === -1 || !path.ran;
  }),
  property('every path ends in one result', [], {}, (path) => path.outcome !== null && path.states.at(-1) === 'toolCall.yielded'),
];
/** Enough to show a turned guard: calls that are denied, asked, allowed, invalid; two modes. */
const few: Partial<ExploreOptions> = {
  calls: [
    call('Bash', { command: 'rm -rf build' }),
    call('Bash', { command: 'git push' }),
    call('Personal'),
    call('Careful'),
    call('Bash', { command: 'make' }),
  ],
  modes: ['default', 'dontAsk'],
};
const check = async (machines: Partial<ModelMachines>) => {
  const model = await explore({ ...few, machines });
  const violated = checkProperties(model, lattice).flatMap(({ violation }) => (violation === null ? [] : [violation.property]));
  return { model, violated };
};

describe('the tool call and permission machines', () => {
  it('are explored in all modes with all answers in seconds, keep the lattice on every path, and reach every transition that facts call for', async () => {
    const before = process.cpuUsage();
    const model = await explore();
    const cpuMs = process.cpuUsage(before).user / 1_000;
    console.log(model.describe().split('\n', 1)[0]);
    // Processor time: the machine may be busy with other things.
    expect(cpuMs).toBeLessThan(60_000);
    expect(model.modes).toHaveLength(7);
    // A context field that grows without end would show here.
    expect(model.counts.paths).toBeLessThan(20_000);
    for (const { violation, property: held, paths } of checkProperties(model, lattice)) {
      expect(violation && describeViolation(violation), held.name).toBeNull();
      expect(paths).toBeGreaterThan(0);
    }
    // What goes wrong does so alike in every mode.
    const faults = await explore({ faults: true, modes: ['autoWithClassifier'] });
    console.log(`with faults: ${faults.describe().split('\n', 1)[0]}`);
    for (const { violation, property: held } of checkProperties(
      faults,
      lattice.filter(({ modes }) => modes === undefined),
    ))
      expect(violation && describeViolation(violation), held.name).toBeNull();
    model.coverage.merge(faults.coverage);
    expect(model.coverage.unreached()).toEqual([]);
  }, 300_000);

  it('pass through eventless states visibly', async () => {
    const model = await explore({ calls: [call('Bash', { command: 'rm -rf build' })], modes: ['default'] });
    const denied = model.paths.find(({ outcome }) => outcome === 'denied');
    expect(denied?.states).toContain('toolCall.completed.settling');
    expect(denied?.account().trace.map(({ check }) => check)).toContain('checkingDenyRule');
  });
});

describe('a guard that is turned round', () => {
  it('is noticed in the permission machine', async () => {
    const turned = {
      aDenyRuleMatches: () => false,
      aHookDenies: () => false,
      anAskRuleMatches: () => false,
      onlyAPersonMayAnswer: () => false,
      isYesThatCounts: () => true,
      isYesToThisQuestion: () => true,
      theModeNeverAsks: () => false,
    };
    expect((await check({})).violated).toEqual([]);
    for (const [guard, turn] of Object.entries(turned)) {
      const permission = permissionMachine.provide({ guards: { [guard]: turn } });
      expect((await check({ permission })).violated, guard).not.toEqual([]);
    }
  }, 300_000);

  it('is noticed in the tool call machine', async () => {
    const allowing = toolCallMachine.provide({ guards: { isAllowed: () => true } });
    expect((await check({ toolCall: allowing })).violated).toContain('a no is final');
    const unhooked = toolCallMachine.provide({ guards: { noHookIsConfigured: () => true } });
    const lost = (await check({ toolCall: unhooked })).model.coverage.unreached('toolCall').map(({ text }) => text);
    expect(lost.join('\n')).toContain('executing.hooking.running → executing.deciding');
  }, 300_000);
});

describe('an exploration', () => {
  it('loses nothing by walking equal scenarios once', async () => {
    const commands = ['git push', 'git push --force', 'rm a', 'npm test', 'ls', 'ls -l'].map((command) => call('Bash', { command }));
    const together = await explore({ calls: commands, modes: ['default', 'plan'] });
    for (const one of commands) {
      const alone = await explore({ calls: [one], modes: ['default', 'plan'] });
      const ends = (paths: typeof alone.paths) =>
        paths.map(({ events, outcome }) => [events.map(({ type }) => type).join(), outcome].join()).sort();
      const own = together.paths.filter(({ calls: alike }) => alike.some(({ input }) => input.command === one.input.command));
      expect(ends(own), JSON.stringify(one.input)).toEqual(ends(alone.paths));
    }
  });

  it('says so when its paths do not end within the limit', async () => {
    await expect(explore({ limit: 5 })).rejects.toThrow('raise "limit" or give fewer answers');
  });

  it('refuses to hold a property of which the model has no call', async () => {
    const model = await explore({ calls: [call('Careful')] });
    expect(() => checkProperties(model, [never('Bash(rm *)').runs()])).toThrow('speaks of no path of this model');
  });
});
