import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, initialTransition, type SnapshotFrom, type StateNode, toPromise, transition, waitFor } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { type AddressedAnswer, type ClassifierVerdict, type PermissionQuestion, permissionMachine } from '../../machines/permission.js';
import { CHECKS } from '../../machines/permissionChecks.js';
import type {
  PermissionAnswer,
  PermissionDecision,
  PermissionFacts,
  PermissionMode,
  PermissionRule,
  RuleBehavior,
} from '../../src/permissions/types.js';
import { quietFacts } from '../../src/testing/machines.js';

type Snapshot = SnapshotFrom<typeof permissionMachine>;

const rule = (behavior: RuleBehavior): { rule: PermissionRule } => ({
  rule: { behavior, toolName: 'Bash', text: 'Bash', scope: 'projectSettings', file: '/p/.claude/settings.json', line: 3, root: '/p' },
});

const quiet: PermissionFacts = { ...quietFacts, modeVerdict: { behavior: 'passthrough', reason: 'no say' } };

const inputOf = (facts: PermissionFacts) => ({ callId: 't1', toolName: 'Bash', inputDigest: 'd1', facts });

const yes = (source: PermissionAnswer['source']) => ({ behavior: 'allow', source }) as const;
const no = (source: PermissionAnswer['source']): PermissionAnswer => ({ behavior: 'deny', message: 'no', source });
const person = { type: 'person', surface: 'test' } as const;
const requestHook = { type: 'hook', hookName: 'gate.sh', event: 'PermissionRequest' } as const;

/** Every event that the world may answer a waiting machine with, by the state it waits in. */
function answersTo(snapshot: Snapshot): unknown[] {
  const abort = { type: 'abort', reason: 'userInterrupt' };
  const done = (actor: string, output: unknown) => ({ type: `xstate.done.actor.${actor}`, output, actorId: actor });
  const failed = (actor: string) => ({ type: `xstate.error.actor.${actor}`, error: new Error('down'), actorId: actor });
  const stale = { type: 'permission.answered', callId: 't0', inputDigest: 'd1', answer: yes(person) };
  const oldInput = { type: 'permission.answered', callId: 't1', inputDigest: 'd0', answer: yes(person) };
  if (snapshot.matches('classifying')) {
    return [
      ...(['allow', 'deny', 'ask'] as const).map((behavior) => done('classifier', { behavior, reason: 'model' })),
      failed('classifier'),
      stale,
      abort,
    ];
  }
  if (snapshot.matches({ asking: 'consultingHooks' })) {
    return [
      done('permissionRequestHooks', yes(requestHook)),
      done('permissionRequestHooks', no(requestHook)),
      done('permissionRequestHooks', null),
      failed('permissionRequestHooks'),
      stale,
      abort,
    ];
  }
  return [
    { type: 'permission.answered', callId: 't1', inputDigest: 'd1', answer: yes(person) },
    { type: 'permission.answered', callId: 't1', inputDigest: 'd1', answer: no(person) },
    done('askPerson', { callId: 't1', inputDigest: 'd1', answer: yes(person) }),
    done('askPerson', { callId: 't1', inputDigest: 'd0', answer: yes(person) }),
    failed('askPerson'),
    stale,
    oldInput,
    abort,
  ];
}

interface Path {
  readonly facts: PermissionFacts;
  readonly decision: PermissionDecision;
}

/** Every path from these facts to a decision. Answers that are refused leave the machine where it was and are not followed further. */
function explore(facts: PermissionFacts, reached: Set<string>, visit: (path: Path) => void): void {
  const walk = (snapshot: Snapshot): void => {
    reached.add(JSON.stringify(snapshot.value));
    for (const { check } of snapshot.context.trace) reached.add(JSON.stringify(check));
    if (snapshot.status === 'done') {
      if (snapshot.output === undefined) throw new Error('a final state without output');
      visit({ facts, decision: snapshot.output });
      return;
    }
    for (const answer of answersTo(snapshot)) {
      const [next] = transition(permissionMachine, snapshot, answer as never);
      if (JSON.stringify(next.value) === JSON.stringify(snapshot.value)) expect(next.context).toEqual(snapshot.context);
      else walk(next);
    }
  };
  walk(initialTransition(permissionMachine, inputOf(facts))[0]);
}

const MODES: readonly {
  readonly mode: PermissionMode;
  readonly modeVerdict: PermissionFacts['modeVerdict'];
  readonly hasClassifier?: boolean;
}[] = [
  { mode: 'default', modeVerdict: { behavior: 'passthrough', reason: 'm' } },
  { mode: 'acceptEdits', modeVerdict: { behavior: 'passthrough', reason: 'm' } },
  { mode: 'acceptEdits', modeVerdict: { behavior: 'allow', reason: 'm' } },
  { mode: 'plan', modeVerdict: { behavior: 'passthrough', reason: 'm' } },
  { mode: 'plan', modeVerdict: { behavior: 'ask', reason: 'm' } },
  { mode: 'auto', modeVerdict: { behavior: 'passthrough', reason: 'm' } },
  { mode: 'auto', modeVerdict: { behavior: 'passthrough', reason: 'm' }, hasClassifier: true },
  { mode: 'dontAsk', modeVerdict: { behavior: 'passthrough', reason: 'm' } },
  { mode: 'bypassPermissions', modeVerdict: { behavior: 'allow', reason: 'm' } },
];

function* allFacts(): Generator<PermissionFacts> {
  for (const denyRule of [null, rule('deny')])
    for (const askRule of [null, rule('ask')])
      for (const [allowRule, builtInAllow] of [
        [null, null],
        [rule('allow'), null],
        [null, 'reads only'],
      ] as const)
        for (const hook of [null, 'allow', 'ask', 'deny'] as const)
          for (const tool of ['passthrough', 'allow', 'ask', 'deny'] as const)
            for (const requiresPerson of [null, 'a person must answer'])
              for (const safety of [null, true, false])
                for (const modes of MODES)
                  for (const canAsk of [true, false])
                    for (const hasPermissionRequestHooks of [true, false])
                      yield {
                        ...quiet,
                        ...modes,
                        denyRule,
                        askRule,
                        allowRule,
                        builtInAllow,
                        hook: hook === null ? null : { behavior: hook, hookName: 'pre.sh' },
                        tool: tool === 'passthrough' ? { behavior: tool } : { behavior: tool, reason: 'the tool' },
                        requiresPerson,
                        safety: safety === null ? null : { kind: 'protectedPath', reason: 'protected', bypassable: safety },
                        canAsk,
                        hasPermissionRequestHooks,
                      };
}

const isDenied = ({ denyRule, hook, tool }: PermissionFacts): boolean =>
  denyRule !== null || hook?.behavior === 'deny' || tool.behavior === 'deny';

const isAsked = ({ askRule, requiresPerson, safety, hook, tool, modeVerdict, mode }: PermissionFacts): boolean =>
  askRule !== null ||
  requiresPerson !== null ||
  (safety !== null && !(safety.bypassable && mode === 'bypassPermissions')) ||
  hook?.behavior === 'ask' ||
  tool.behavior === 'ask' ||
  modeVerdict.behavior === 'ask';

const isAllowed = ({ hook, tool, allowRule, builtInAllow, modeVerdict }: PermissionFacts): boolean =>
  hook?.behavior === 'allow' ||
  tool.behavior === 'allow' ||
  allowRule !== null ||
  builtInAllow !== null ||
  modeVerdict.behavior === 'allow';

/** What is wrong with a path, or null. */
function fault({ facts, decision }: Path): string | null {
  const { winner, behavior, asked, trace } = decision;
  if (trace.at(-1) !== winner) return 'the winner is not the last entry of the trace';
  if (winner.behavior !== behavior) return 'the winner says something else than the decision';
  if (behavior === 'deny') {
    const unforced = !isDenied(facts) && !isAsked(facts) && isAllowed(facts);
    return unforced ? 'denied although something allows it and nothing forbids or asks' : null;
  }
  if (isDenied(facts)) return 'allowed past a deny';
  const said = winner.source;
  const byPerson = asked && said?.type === 'person';
  const byHook = asked && said?.type === 'hook' && said.event === 'PermissionRequest' && facts.requiresPerson === null;
  if (isAsked(facts)) {
    if (facts.mode === 'dontAsk') return 'dontAsk let an ask through';
    return byPerson || byHook ? null : 'allowed past an ask without a yes';
  }
  if (isAllowed(facts) || byPerson || byHook) return null;
  return said?.type === 'classifier' && facts.mode === 'auto' ? null : 'allowed although nothing allows it';
}

function allStates(node: StateNode<never, never>, path: readonly string[] = []): string[] {
  const children = Object.values(node.states);
  return children.length === 0 ? [path.join('.')] : children.flatMap((child) => allStates(child, [...path, child.key]));
}

const graphEvents = [
  { type: 'xstate.done.actor.classifier', output: { behavior: 'ask', reason: 'unsure' }, actorId: 'classifier' },
  { type: 'xstate.done.actor.permissionRequestHooks', output: null, actorId: 'permissionRequestHooks' },
  { type: 'permission.answered', callId: 't1', inputDigest: 'd1', answer: yes(person) },
  { type: 'permission.answered', callId: 't1', inputDigest: 'd1', answer: no(person) },
];

describe('permission machine', () => {
  it('reaches allowed on no path past a deny, nor past an ask without a yes', () => {
    const reached = new Set<string>();
    const faults = new Map<string, PermissionFacts>();
    let paths = 0;
    let combinations = 0;
    for (const facts of allFacts()) {
      combinations++;
      explore(facts, reached, (path) => {
        paths++;
        const found = fault(path);
        if (found !== null && !faults.has(found)) faults.set(found, path.facts);
      });
    }
    console.log(`permission machine: ${paths} paths from ${combinations} combinations of facts`);
    expect(Object.fromEntries(faults)).toEqual({});
    expect(paths).toBeGreaterThan(combinations);
    const names = [...reached].join(' ');
    // A state that is left in the step that entered it shows by the checks it made.
    const firstCheckOf: Readonly<Record<string, string>> = {
      refusing: 'checkingDenyRule',
      demanding: 'checkingAskRule',
      permitting: 'checkingMode',
    };
    for (const state of allStates(permissionMachine.root as never))
      expect(names, state).toContain(firstCheckOf[state] ?? state.split('.').at(-1));
    for (const check of CHECKS) expect(names).toContain(check);
  }, 300_000);

  it('finds every state in which it can wait or end, by the graph of its transitions', () => {
    const facts: PermissionFacts = { ...quiet, mode: 'auto', hasClassifier: true, hasPermissionRequestHooks: true };
    const paths = getShortestPaths(permissionMachine, { input: inputOf(facts), events: graphEvents as never });
    const ends = new Set(paths.map(({ state }) => JSON.stringify(state.value)));
    expect(ends).toEqual(
      new Set(['"classifying"', '{"asking":"consultingHooks"}', '{"asking":"waitingForPerson"}', '"allowed"', '"denied"']),
    );
  });
});

/** A machine whose ports answer when the test says so. */
function running(facts: Partial<PermissionFacts>, more: { callId?: string; inputDigest?: string } = {}) {
  const asked: PermissionQuestion[] = [];
  const ports = {
    askPerson: deferred<AddressedAnswer>(),
    hooks: deferred<PermissionAnswer | null>(),
    classifier: deferred<ClassifierVerdict>(),
  };
  const machine = permissionMachine.provide({
    actors: {
      askPerson: fromPromise(({ input }) => {
        asked.push(input);
        return ports.askPerson.promise;
      }),
      permissionRequestHooks: fromPromise(() => ports.hooks.promise),
      classifyCall: fromPromise(() => ports.classifier.promise),
    },
  });
  const refused: unknown[] = [];
  const actor = createActor(machine, { input: { ...inputOf({ ...quiet, ...facts }), ...more } });
  actor.on('permission.answerRefused', (event) => refused.push(event));
  actor.subscribe({ error: (error) => expect.unreachable(String(error)) });
  actor.start();
  return { actor, asked, ports, refused, decision: () => toPromise(actor) };
}

function deferred<Value>() {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

const answered = (callId: string, inputDigest: string, answer: PermissionAnswer) => ({
  type: 'permission.answered' as const,
  callId,
  inputDigest,
  answer,
});

describe('answers', () => {
  it('refuses an old click for another call, and keeps waiting', async () => {
    const { actor, refused, decision } = running({}, { callId: 't2' });
    actor.send(answered('t1', 'd1', yes(person)));
    expect(actor.getSnapshot().value).toEqual({ asking: 'waitingForPerson' });
    expect(refused).toEqual([{ type: 'permission.answerRefused', callId: 't1', inputDigest: 'd1' }]);
    actor.send(answered('t2', 'd1', no(person)));
    expect(await decision()).toMatchObject({ behavior: 'deny', reason: 'no', asked: true });
  });

  it('refuses an answer to the input as it was before it was edited', () => {
    const { actor, refused } = running({}, { inputDigest: 'after' });
    actor.send(answered('t1', 'before', yes(person)));
    expect(actor.getSnapshot().status).toBe('active');
    expect(refused).toHaveLength(1);
  });

  it('gives two questions about the same tool each its own answer, in whatever order they come', async () => {
    const [first, second] = [running({}, { callId: 't1' }), running({}, { callId: 't2' })];
    first.actor.send(answered('t2', 'd1', yes(person)));
    second.actor.send(answered('t1', 'd1', no(person)));
    expect([first, second].map(({ actor }) => actor.getSnapshot().status)).toEqual(['active', 'active']);
    second.actor.send(answered('t2', 'd1', yes(person)));
    first.actor.send(answered('t1', 'd1', no(person)));
    expect(await first.decision()).toMatchObject({ behavior: 'deny' });
    expect(await second.decision()).toMatchObject({ behavior: 'allow' });
  });

  it('takes an answer from the port as well as from an event', async () => {
    const { ports, asked, decision } = running({ suggestions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }] });
    ports.askPerson.resolve({ callId: 't1', inputDigest: 'd1', answer: { ...yes(person), updatedInput: { command: 'ls -l' } } });
    expect(await decision()).toMatchObject({ behavior: 'allow', updatedInput: { command: 'ls -l' } });
    expect(asked).toMatchObject([
      { id: 'ask:t1', callId: 't1', cause: { check: 'findingNothingThatAllows' }, suggestions: [{ type: 'setMode' }] },
    ]);
  });

  it('denies when the question cannot be put', async () => {
    const { ports, decision } = running({});
    ports.askPerson.reject(new Error('terminal closed'));
    expect(await decision()).toMatchObject({ behavior: 'deny', reason: 'Asking failed: terminal closed', asked: false });
  });

  it('ends with the reason of an abort', async () => {
    const { actor, decision } = running({});
    actor.send({ type: 'abort', reason: 'userInterrupt' });
    expect(await decision()).toMatchObject({ behavior: 'deny', winner: { source: { type: 'abort' } }, reason: 'Aborted: userInterrupt' });
  });
});

describe('PermissionRequest hooks', () => {
  it('are asked before the person, and their yes is enough', async () => {
    const { ports, asked, decision } = running({ hasPermissionRequestHooks: true });
    ports.hooks.resolve(yes(requestHook));
    expect(await decision()).toMatchObject({ behavior: 'allow', winner: { source: requestHook } });
    expect(asked).toEqual([]);
  });

  it('cannot answer for a tool that only a person may answer', async () => {
    const { ports, actor, decision } = running({ hasPermissionRequestHooks: true, requiresPerson: 'a person must answer' });
    ports.hooks.resolve(yes(requestHook));
    await waitFor(actor, (snapshot) => snapshot.matches({ asking: 'waitingForPerson' }));
    actor.send(answered('t1', 'd1', yes(person)));
    expect(await decision()).toMatchObject({ behavior: 'allow', winner: { source: person } });
  });

  it('that fail or say nothing leave the question to the person', async () => {
    const { ports, actor } = running({ hasPermissionRequestHooks: true });
    ports.hooks.reject(new Error('exit 1'));
    const waiting = await waitFor(actor, (snapshot) => snapshot.matches({ asking: 'waitingForPerson' }));
    expect(waiting.context.trace.at(-1)).toMatchObject({
      check: 'consultingHooks',
      behavior: 'passthrough',
      reason: 'PermissionRequest hooks failed: exit 1',
    });
  });

  it('that say nothing where nobody else can be asked end in a denial', async () => {
    const { ports, decision } = running({ hasPermissionRequestHooks: true, canAsk: false });
    ports.hooks.resolve(null);
    expect(await decision()).toMatchObject({ behavior: 'deny', winner: { source: { type: 'nobody' } } });
  });
});

describe('a rewritten input', () => {
  const approval = (source: PermissionAnswer['source']) => ({
    approval: { check: 'waitingForPerson', behavior: 'allow', source, reason: 'Approved' } as const,
  });

  it('that a person wrote is not asked about again, but still denied', async () => {
    expect(await running({ askRule: rule('ask'), ...approval(person) }).decision()).toMatchObject({ behavior: 'allow', asked: true });
    expect(await running({ denyRule: rule('deny'), ...approval(person) }).decision()).toMatchObject({ behavior: 'deny' });
  });

  it('that a hook wrote meets the ask rules, and is else not asked about again', async () => {
    expect(running({ askRule: rule('ask'), ...approval(requestHook) }).actor.getSnapshot().value).toEqual({ asking: 'waitingForPerson' });
    expect(await running(approval(requestHook)).decision()).toMatchObject({ behavior: 'allow', asked: true });
  });
});

describe('mode auto', () => {
  it('asks when the classifier fails', async () => {
    const { ports, actor } = running({ mode: 'auto', hasClassifier: true });
    ports.classifier.reject(new Error('overloaded'));
    const waiting = await waitFor(actor, (snapshot) => snapshot.matches({ asking: 'waitingForPerson' }));
    expect(waiting.context.trace.at(-1)?.reason).toBe('The classifier failed: overloaded');
    expect(waiting.context.cause?.check).toBe('findingNothingThatAllows');
  });

  it('asks when there is no classifier', () => {
    expect(running({ mode: 'auto' }).actor.getSnapshot().value).toEqual({ asking: 'waitingForPerson' });
  });
});

describe('trace', () => {
  it('names every check in the order in which it was made', async () => {
    const { decision } = running({ allowRule: rule('allow') });
    const { trace, winner } = await decision();
    expect(trace.map(({ check }) => check)).toEqual([
      'checkingDenyRule',
      'checkingHookDeny',
      'checkingToolDeny',
      'checkingAskRule',
      'checkingRequiredPerson',
      'checkingSafety',
      'checkingHookAsk',
      'checkingToolAsk',
      'checkingMode',
      'checkingHookAllow',
      'checkingToolAllow',
      'checkingAllowRule',
    ]);
    expect(winner.reason).toBe('Matches allow rule Bash of /p/.claude/settings.json:3');
  });
});
