import { describe, expect, it } from 'vitest';
import { createActor, createMachine, sendTo, setup } from 'xstate';
import { Coverage } from '../../src/testing/index.js';

/** Decides by eventless transitions alone, at once. */
const deciding = setup({
  types: { input: {} as { says: string }, context: {} as { says: string }, events: {} as { type: 'yes' } },
  guards: {
    isDeny: ({ context }) => context.says === 'deny',
    isAsk: ({ context }) => context.says === 'ask',
  },
}).createMachine({
  id: 'deciding',
  context: ({ input }) => ({ says: input.says }),
  initial: 'judging',
  states: {
    judging: { always: [{ guard: 'isDeny', target: 'denied' }, { guard: 'isAsk', target: 'asked' }, { target: 'allowed' }] },
    asked: { on: { yes: 'granted' } },
    granted: { always: 'allowed' },
    denied: { type: 'final' },
    allowed: { type: 'final' },
  },
});
const missing = (coverage: Coverage, machine?: string) => coverage.unreached(machine).map(({ text }) => text);

describe('coverage of a watched actor', () => {
  it('counts the state that a machine begins in and what it decides there at once, branch by branch', () => {
    const coverage = new Coverage([deciding]);
    for (const says of ['ask', 'nothing']) {
      const actor = createActor(deciding, { input: { says } });
      const end = coverage.watch(actor);
      actor.start();
      if (says === 'ask') actor.send({ type: 'yes' });
      end();
    }
    expect(missing(coverage)).toEqual(['denied', 'judging → denied on always [isDeny]']);
    const actor = createActor(deciding, { input: { says: 'deny' } });
    coverage.watch(actor);
    actor.start();
    expect(missing(coverage)).toEqual([]);
  });

  it('claims nothing of what an actor did before it was watched, or before its snapshot', () => {
    const running = createActor(deciding, { input: { says: 'ask' } }).start();
    const restored = createActor(deciding, { input: { says: 'ask' }, snapshot: running.getPersistedSnapshot() });
    for (const actor of [running, restored]) {
      const coverage = new Coverage([deciding]);
      coverage.watch(actor);
      actor.start();
      actor.send({ type: 'yes' });
      expect(missing(coverage)).toEqual([
        'judging',
        'denied',
        'judging → denied on always [isDeny]',
        'judging → asked on always [isAsk]',
        'judging → allowed on always',
      ]);
    }
  });

  it('keeps machines apart that were given no id, and counts a child that never leaves its first state', () => {
    const child = createMachine({ initial: 'waiting', states: { waiting: { on: { go: 'gone' } }, gone: { type: 'final' } } });
    const parent = setup({ actors: { child } }).createMachine({
      initial: 'working',
      invoke: { id: 'child', src: 'child' },
      states: { working: { on: { go: { actions: sendTo('child', { type: 'go' }) } } }, idle: {} },
    });
    const coverage = new Coverage();
    const actor = createActor(parent);
    coverage.watch(actor);
    actor.start();
    expect(coverage.machines).toEqual(['(machine)', '(machine) (2)']);
    expect(missing(coverage, '(machine)')).toEqual(['idle', 'working → itself on go']);
    expect(missing(coverage, '(machine) (2)')).toEqual(['gone', 'waiting → gone on go']);
    actor.send({ type: 'go' });
    expect(missing(coverage)).toEqual(['idle']);
  });

  it('counts copies of a machine with other implementations as that machine', () => {
    const coverage = new Coverage([deciding]);
    const copy = deciding.provide({ guards: { isDeny: () => true } });
    const actor = createActor(copy, { input: { says: 'nothing' } });
    coverage.watch(actor);
    actor.start();
    expect(coverage.machines).toEqual(['deciding']);
    expect(missing(coverage)).not.toContain('denied');
  });
});
