import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HookEffects, NO_EFFECTS } from '../../src/hooks/effects.js';
import {
  loadHooks,
  permissionRequestPayload,
  postToolBatchPayload,
  postToolUsePayload,
  stopPayload,
  userPromptSubmitPayload,
} from '../../src/hooks/index.js';
import { interpret } from '../../src/hooks/interpret.js';
import { type HookShare, mergeEffects } from '../../src/hooks/merge.js';
import { bashCall, decides, rig } from './support.js';

const STRENGTH = ['passthrough', 'allow', 'ask', 'defer', 'deny'] as const;

describe('the joined verdict', () => {
  it.each([
    [['allow', 'ask', 'deny'], 'deny', undefined],
    [['allow', 'ask'], 'ask', undefined],
    [['allow', undefined], 'allow', undefined],
    [[undefined, undefined], 'passthrough', undefined],
    [['defer', 'deny'], 'deny', undefined],
    [['defer', 'ask'], 'ask', true],
    [['allow', 'defer'], 'allow', true],
  ])('of %j is %s', async (decisions, behavior, defer) => {
    const callbacks = decisions.map(
      (decision) => () => (decision === undefined ? {} : decides(decision, { permissionDecisionReason: `because ${decision}` })),
    );
    for (const hooks of [callbacks, [...callbacks].reverse()]) {
      const { verdict } = await rig({ callbacks: { PreToolUse: [{ hooks }] } }).run(bashCall());
      expect(verdict.behavior).toBe(behavior);
      expect(verdict.defer).toBe(defer);
      if (behavior !== 'passthrough') expect(verdict.reason).toBe(`because ${behavior}`);
    }
  });

  it('reads the older top-level approve and block as allow and deny; the stricter of two fields counts', async () => {
    const verdictOf = async (answer: unknown) =>
      (await rig({ callbacks: { PreToolUse: [{ hooks: [() => answer] }] } }).run(bashCall())).verdict;
    expect(await verdictOf({ decision: 'approve', reason: 'fine' })).toMatchObject({ behavior: 'allow', reason: 'fine' });
    expect(await verdictOf({ decision: 'block', reason: 'no' })).toMatchObject({ behavior: 'deny', reason: 'no' });
    expect(await verdictOf({ decision: 'approve', ...decides('deny') })).toMatchObject({ behavior: 'deny' });
    expect(await verdictOf({ decision: 'block', reason: 'no', ...decides('allow') })).toMatchObject({ behavior: 'deny', reason: 'no' });
  });

  it.each([
    [{ hookSpecificOutput: { hookEventName: 'PostToolUse', permissionDecision: 'allow' } }, 'must be "PreToolUse"'],
    [{ hookSpecificOutput: { permissionDecision: 'allow' } }, 'hookEventName'],
    [decides('maybe'), 'permissionDecision'],
    [{ decision: 'allow' }, 'decision'],
    [{ ...decides('allow'), extra: 1 }, 'Unknown field "extra"'],
    [{ hookSpecificOutput: { hookEventName: 'PreToolUse', decision: 'approve' } }, 'belongs at the top level'],
    ['allow', 'not an object'],
    [1n, 'not plain JSON'],
  ])('is never an allow when the answer is not valid: %o', async (answer, complaint) => {
    const { run, runs } = rig({ callbacks: { PreToolUse: [{ hooks: [() => answer] }] } });
    const result = await run(bashCall());
    expect(result.verdict).toEqual({ behavior: 'passthrough' });
    expect(result.notices.join()).toContain(complaint);
    expect(runs).toMatchObject([{ status: 'error' }]);
  });

  it('keeps a deny that stands beside an unknown field', async () => {
    const { run } = rig({ callbacks: { PreToolUse: [{ hooks: [() => ({ ...decides('deny'), extra: 1 })] }] } });
    const result = await run(bashCall());
    expect(result.verdict.behavior).toBe('deny');
    expect(result.notices.join()).toContain('"extra"');
  });
});

describe('continue: false', () => {
  const after = postToolUsePayload({ toolName: 'Bash', toolInput: {}, toolUseId: 't', toolResponse: {}, durationMs: 1 });

  it('wins over a block of the same hook and over other hooks, and its reason is for the person', async () => {
    const stopper = () => ({ continue: false, stopReason: 'enough', decision: 'block', reason: 'redo' });
    const { run } = rig({ callbacks: { PostToolUse: [{ hooks: [() => ({ decision: 'block', reason: 'other' }), stopper, () => ({})] }] } });
    const result = await run(after);
    expect(result.stop).toEqual({ reason: 'enough', hookName: 'stopper' });
    expect(result.block).toBeUndefined();
    expect(result.additionalContext).toEqual([]);
  });

  it('leaves a deny standing', async () => {
    const { run } = rig({ callbacks: { PreToolUse: [{ hooks: [() => decides('deny'), () => ({ continue: false })] }] } });
    const result = await run(bashCall());
    expect(result.verdict.behavior).toBe('deny');
    expect(result.stop).toBeDefined();
  });

  it('is not meant by continue: true, which leaves the block as feedback', async () => {
    const { run } = rig({ callbacks: { PostToolUse: [{ hooks: [() => ({ continue: true, decision: 'block', reason: 'redo' })] }] } });
    const result = await run(after);
    expect(result.stop).toBeUndefined();
    expect(result.block).toMatchObject({ reason: 'redo' });
  });
});

describe('exit code 2 by event', () => {
  const command = 'echo because >&2; exit 2';
  const hooks = (event: string) => ({ [event]: [{ hooks: [{ type: 'command', command }] }] });
  it.each([
    ['UserPromptSubmit', userPromptSubmitPayload('q', 'hi')],
    ['Stop', stopPayload('q', { stopHookActive: false })],
    ['PostToolUse', postToolUsePayload({ toolName: 'Bash', toolInput: {}, toolUseId: 't', toolResponse: {}, durationMs: 1 })],
    ['PostToolBatch', postToolBatchPayload('turn', [])],
  ])('blocks on %s with stderr as the reason', async (event, request) => {
    expect((await rig({ hooks: hooks(event) }).run(request)).block).toEqual({ reason: 'because', hookName: command });
  });

  it('answers no PermissionRequest, and says how to', async () => {
    const { run } = rig({ hooks: hooks('PermissionRequest') });
    const result = await run(permissionRequestPayload({ toolName: 'Bash', toolInput: { command: 'x' }, toolUseId: 't' }));
    expect(result.permission).toBeUndefined();
    expect(result.block).toBeUndefined();
    expect(result.notices.join()).toContain('no effect on PermissionRequest');
  });
});

describe('a PermissionRequest hook', () => {
  const request = permissionRequestPayload({ toolName: 'Bash', toolInput: { command: 'x' }, toolUseId: 't' });
  const decide = (decision: unknown) => () => ({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });
  const ask = (...decisions: unknown[]) => rig({ callbacks: { PermissionRequest: [{ hooks: decisions.map(decide) }] } }).run(request);

  it('allows with changed input and new rules', async () => {
    const update = { type: 'addRules', rules: [{ toolName: 'Bash', ruleContent: 'x' }], behavior: 'allow', destination: 'session' };
    const result = await ask({ behavior: 'allow', updatedInput: { command: 'y' }, updatedPermissions: [update] });
    expect(result.permission).toMatchObject({ behavior: 'allow', updatedInput: { command: 'y' }, updatedPermissions: [update] });
  });

  it('denies whatever another one allows, and interrupts if any deny does', async () => {
    const result = await ask({ behavior: 'allow' }, { behavior: 'deny', message: 'no' }, { behavior: 'deny', interrupt: true });
    expect(result.permission).toMatchObject({ behavior: 'deny', message: 'no', interrupt: true });
  });

  it('that says nothing leaves the question open', async () => {
    expect((await rig({ callbacks: { PermissionRequest: [{ hooks: [() => ({})] }] } }).run(request)).permission).toBeUndefined();
  });
});

describe('any answer of a command', () => {
  const word = fc.constantFrom<unknown>(
    'allow',
    'deny',
    'ask',
    'defer',
    'approve',
    'block',
    'PreToolUse',
    'Stop',
    true,
    false,
    null,
    1,
    '',
  );
  const specific = fc.dictionary(
    fc.constantFrom('hookEventName', 'permissionDecision', 'updatedInput', 'decision', 'additionalContext', 'other'),
    word,
  );
  const answer = fc.dictionary(
    fc.constantFrom('continue', 'decision', 'reason', 'permissionDecision', 'hookSpecificOutput', 'systemMessage', 'other'),
    fc.oneof(word, specific),
  );
  const stdout = fc.oneof(
    answer.map((value) => JSON.stringify(value)),
    fc.json(),
    fc.string(),
    fc.constant('{bad'),
  );
  const hook = loadHooks([], { PreToolUse: [{ hooks: [() => ({})] }] }).hooks[0];

  it('is understood without throwing: exit 2 always denies, and only a clean allow allows', () => {
    if (hook === undefined) throw new Error('no hook was loaded');
    fc.assert(
      fc.property(stdout, fc.constantFrom(0, 1, 2, 127, null), (text, code) => {
        const effects = interpret(hook, { kind: 'exit', code, stdout: text, stderr: '', overflow: false });
        if (code === 2) expect(effects.decision?.behavior).toBe('deny');
        if (effects.decision?.behavior === 'allow') {
          const parsed = JSON.parse(text);
          expect([parsed.hookSpecificOutput?.permissionDecision, parsed.decision]).toContainEqual(
            expect.stringMatching(/^(allow|approve)$/),
          );
          expect(Object.keys(parsed)).not.toContain('other');
        }
        if (effects.status === 'error') expect(effects.notices.length).toBeGreaterThan(0);
        if (code !== 0 && effects.status === 'ok') expect(text.trim().startsWith('{')).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('merging', () => {
  const effects: fc.Arbitrary<HookEffects> = fc.record(
    {
      status: fc.constantFrom<HookEffects['status']>('ok', 'blocked', 'error', 'timeout'),
      context: fc.array(fc.string(), { maxLength: 2 }),
      notices: fc.array(fc.string(), { maxLength: 2 }),
      decision: fc.record({ behavior: fc.constantFrom<'deny' | 'defer' | 'ask' | 'allow'>('deny', 'defer', 'ask', 'allow') }),
      stop: fc.record({ reason: fc.string() }),
      block: fc.record({ reason: fc.string() }),
      updatedInput: fc.record({ value: fc.record({ command: fc.string() }) }),
    },
    { requiredKeys: ['status', 'context', 'notices'] },
  );
  const shares = fc.array(effects, { maxLength: 6 }).map((all) =>
    all.map(
      (entry, index): HookShare => ({
        hookName: `h${index}`,
        effects: entry,
        run: { event: 'PreToolUse', name: `h${index}`, handler: 'function', ms: 0, status: entry.status },
      }),
    ),
  );

  it('is independent of the order of hooks, but for which rewrite and which reason is used', () => {
    fc.assert(
      fc.property(
        shares.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          const a = mergeEffects('PreToolUse', all);
          const b = mergeEffects('PreToolUse', shuffled);
          expect([b.verdict.behavior, b.verdict.defer]).toEqual([a.verdict.behavior, a.verdict.defer]);
          expect([...b.additionalContext].sort()).toEqual([...a.additionalContext].sort());
          expect([b.stop !== undefined, b.block !== undefined, b.updatedInput !== undefined]).toEqual([
            a.stop !== undefined,
            a.block !== undefined,
            a.updatedInput !== undefined,
          ]);
          expect(b.updatedInput?.hookName).toBe(shuffled.findLast((share) => share.effects.updatedInput !== undefined)?.hookName);
        },
      ),
    );
  });

  it('gives the strongest verdict: one more hook never weakens it', () => {
    const strength = (all: readonly HookShare[]) => {
      const { verdict } = mergeEffects('PreToolUse', all);
      return Math.max(STRENGTH.indexOf(verdict.behavior), verdict.defer ? STRENGTH.indexOf('defer') : 0);
    };
    fc.assert(
      fc.property(shares, (all) => {
        const strongest = Math.max(0, ...all.map((share) => STRENGTH.indexOf(share.effects.decision?.behavior ?? 'passthrough')));
        expect(strength(all)).toBe(strongest);
      }),
    );
  });

  it('of nothing says nothing', () => {
    expect(mergeEffects('PreToolUse', [])).toEqual({
      runs: [],
      verdict: { behavior: 'passthrough' },
      additionalContext: [],
      systemMessages: [],
      notices: [],
    });
    expect(NO_EFFECTS.status).toBe('ok');
  });
});
