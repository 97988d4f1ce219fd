import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, createActor, createMachine, setup } from 'xstate';
import { sessionMachine } from '../../machines/index.js';
import { isMachine } from '../../src/inspect/actorRefs.js';
import { DebugGate } from '../../src/inspect/index.js';
import type { Breakpoint } from '../../src/inspect/protocol/rpc.js';
import { simulatedClock } from '../../src/testing/clock.js';
import { call, childOf, eventsOf, settle, startFlow } from './support/flow.js';

const stateBreakpoint = (state: string, when: 'before' | 'after', id = 'b1'): Breakpoint => ({
  id,
  enabled: true,
  origin: 'page',
  on: 'state',
  state,
  when,
});

function gated() {
  const flow = startFlow({}, true);
  if (!flow.gate) throw new Error('no gate');
  return { ...flow, gate: flow.gate };
}

describe('pause and step', () => {
  it('holds events while paused; each step makes exactly one transition', () => {
    const { actor, gate } = gated();
    actor.send(call('call-0', 'Ask'));
    const child = childOf(actor, 'call-0');
    gate.pause();
    child.send({ type: 'START' });
    child.send({ type: 'ANSWER', allow: false });
    expect(child.getSnapshot().value).toBe('queued');
    expect(gate.state.held.map(({ actor: path, event, next }) => [path, event, next])).toEqual([
      ['executor/call-0', 'START', ['toolCall.executing', 'toolCall.executing.deciding', 'toolCall.executing.asking']],
      ['executor/call-0', 'ANSWER', []],
    ]);
    gate.step();
    expect(child.getSnapshot().value).toEqual({ executing: 'asking' });
    gate.step();
    expect(child.getSnapshot().value).toBe('denied');
    // The call's report to its parent waits there.
    expect(gate.state.held.map(({ actor: path }) => path)).toEqual(['executor', 'executor']);
    gate.resume();
    expect(gate.state.held).toEqual([]);
    expect(actor.getSnapshot().context.done).toEqual(['call-0']);
  });

  it('freezes `after` timers and lets them go on with what was left', () => {
    const { actor, gate, clock } = gated();
    actor.send(call('call-0', 'Ask'));
    const child = childOf(actor, 'call-0');
    child.send({ type: 'START' });
    clock.advance(59_000);
    gate.pause();
    expect(gate.state.frozenTimers).toBe(1);
    clock.advance(600_000);
    expect(child.getSnapshot().value).toEqual({ executing: 'asking' });
    gate.resume();
    clock.advance(999);
    expect(child.getSnapshot().value).toEqual({ executing: 'asking' });
    clock.advance(1);
    expect(child.getSnapshot().value).toBe('denied');
  });

  it('lets one actor run to its end while the rest stays paused', async () => {
    const { actor, gate } = gated();
    actor.send(call('call-0', 'Bash'));
    actor.send(call('call-1', 'Bash'));
    gate.pause();
    const [first, second] = [childOf(actor, 'call-0'), childOf(actor, 'call-1')];
    first.send({ type: 'START' });
    second.send({ type: 'START' });
    gate.runToEnd('executor/call-0');
    await settle();
    expect(first.getSnapshot().status).toBe('done');
    expect(second.getSnapshot().value).toBe('queued');
    gate.resume();
    await settle();
    expect(actor.getSnapshot().context.done).toEqual(['call-0', 'call-1']);
  });

  it('keeps the order of events per actor, and records each once', () => {
    const { actor, gate, log } = gated();
    gate.pause();
    for (let turn = 0; turn < 5; turn++) actor.send({ type: 'COMPLETED', slot: `s${turn}` });
    gate.step();
    actor.send({ type: 'COMPLETED', slot: 's5' });
    gate.resume();
    expect(actor.getSnapshot().context.done).toEqual(['s0', 's1', 's2', 's3', 's4', 's5']);
    expect(eventsOf(log, 'event').filter(({ event }) => event === 'COMPLETED')).toHaveLength(6);
    expect(eventsOf(log, 'transition').filter(({ event }) => event === 'COMPLETED')).toHaveLength(6);
    expect(eventsOf(log, 'ignored')).toEqual([]);
  });

  it('does not keep a person’s abort waiting: it ends the pause', async () => {
    const { actor, gate } = gated();
    actor.send(call('call-0', 'Ask'));
    const child = childOf(actor, 'call-0');
    gate.pause();
    child.send({ type: 'START' });
    child.send({ type: 'abort', reason: 'siblingError' });
    expect(gate.paused).toBe(true);
    child.send({ type: 'abort', reason: 'userInterrupt' });
    await settle();
    expect(gate.paused).toBe(false);
    expect(child.getSnapshot().value).toBe('cancelled');
  });

  it('drops what waits for an actor that is stopped meanwhile', () => {
    const { actor, gate } = gated();
    actor.send(call('call-0', 'Ask'));
    gate.pause();
    childOf(actor, 'call-0').send({ type: 'START' });
    actor.stop();
    expect(gate.state.held).toEqual([]);
    gate.resume();
  });

  it('does the same things without a pause as an ungated flow', async () => {
    const run = async (gate: boolean): Promise<unknown> => {
      const { actor } = startFlow({}, gate);
      for (const [slot, name] of [
        ['a', 'Bash'],
        ['b', 'Denied'],
        ['c', 'Read'],
      ] as const) {
        actor.send(call(slot, name));
        actor.send({ type: 'TO', slot, event: { type: 'START' } });
      }
      await settle();
      return actor.getSnapshot().context;
    };
    expect(await run(true)).toEqual(await run(false));
  });
});

describe('breakpoints', () => {
  it('before a state: no action of the entering transition has run, also in a nested actor', () => {
    let ran = 0;
    const child = setup({ actions: { act: () => void ran++ } }).createMachine({
      id: 'child',
      initial: 'a',
      states: { a: { on: { GO: { target: 'b', actions: 'act' } } }, b: { entry: 'act', always: 'c' }, c: { entry: 'act' } },
    });
    const parent = setup({ actors: { child } }).createMachine({ id: 'parent', invoke: { id: 'kid', src: 'child' } });
    const gate = new DebugGate({ clock: simulatedClock(), breakpoints: [{ ...stateBreakpoint('child.c', 'before'), origin: 'code' }] });
    const actor = createActor(gate.instrument(parent), { clock: gate.clock }).start();
    childOf(actor, 'kid').send({ type: 'GO' });
    expect(gate.state).toMatchObject({ paused: true, why: { kind: 'breakpoint', by: 'b1', state: 'child.c' }, held: [{ event: 'GO' }] });
    expect(childOf(actor, 'kid').getSnapshot().value).toBe('a');
    expect(ran).toBe(0);
    gate.resume();
    expect(childOf(actor, 'kid').getSnapshot().value).toBe('c');
    expect(ran).toBe(3);
  });

  it('before a state of a machine that reports to its parent', () => {
    const { actor, gate } = gated();
    gate.setBreakpoints([stateBreakpoint('toolCall.denied', 'before')]);
    actor.send(call('call-0', 'Denied'));
    childOf(actor, 'call-0').send({ type: 'START' });
    expect(gate.state.held).toMatchObject([{ actor: 'executor/call-0', event: 'START' }]);
    expect(childOf(actor, 'call-0').getSnapshot().value).toBe('queued');
  });

  it('after a state: it is entered, and the next event waits', () => {
    const { actor, gate } = gated();
    gate.setBreakpoints([stateBreakpoint('toolCall.executing.asking', 'after')]);
    actor.send(call('call-0', 'Ask'));
    const child = childOf(actor, 'call-0');
    child.send({ type: 'START' });
    expect(gate.paused).toBe(true);
    expect(child.getSnapshot().value).toEqual({ executing: 'asking' });
    child.send({ type: 'ANSWER', allow: true });
    expect(child.getSnapshot().value).toEqual({ executing: 'asking' });
  });

  it('on an event, by prefix; within one actor only; never when disabled', () => {
    const { actor, gate } = gated();
    gate.setBreakpoints([{ id: 'e', enabled: true, origin: 'page', on: 'event', event: 'COMP*', actor: 'executor/other' }]);
    actor.send({ type: 'COMPLETED', slot: 'x' });
    expect(gate.paused).toBe(false);
    gate.setBreakpoints([{ id: 'e', enabled: false, origin: 'page', on: 'event', event: 'COMP*' }]);
    actor.send({ type: 'COMPLETED', slot: 'x' });
    expect(gate.paused).toBe(false);
    gate.setBreakpoints([{ id: 'e', enabled: true, origin: 'page', on: 'event', event: 'COMP*' }]);
    actor.send({ type: 'COMPLETED', slot: 'x' });
    expect(gate.state).toMatchObject({ paused: true, held: [{ event: 'COMPLETED' }] });
  });

  it('on a tool, a verdict, a question and an error', () => {
    const cases: readonly [Breakpoint, (flow: ReturnType<typeof gated>) => void][] = [
      [{ id: '1', enabled: true, origin: 'page', on: 'tool', tool: 'Bash' }, ({ actor }) => actor.send(call('call-0', 'Bash'))],
      [
        { id: '2', enabled: true, origin: 'page', on: 'verdict', behavior: 'ask' },
        ({ sink }) => sink.approval({ toolUseId: 't', toolName: 'Bash', phase: 'asked' }),
      ],
      [
        { id: '3', enabled: true, origin: 'page', on: 'error' },
        ({ sink }) =>
          sink.result({ toolUseId: 't', toolName: 'Bash', outcome: { kind: 'failed', isError: true, summary: 'no' }, body: 'no' }),
      ],
    ];
    for (const [breakpoint, act] of cases) {
      const flow = gated();
      flow.gate.setBreakpoints([breakpoint]);
      act(flow);
      expect(flow.gate.state.why).toMatchObject({ kind: 'breakpoint', by: breakpoint.id });
    }
  });

  it('set in code stay when a page sets its own; a page may only switch them', () => {
    const gate = new DebugGate({ breakpoints: [{ ...stateBreakpoint('a', 'after', 'code-1'), origin: 'code' }] });
    gate.setBreakpoints([
      { ...stateBreakpoint('z', 'before', 'code-1'), enabled: false },
      { ...stateBreakpoint('b', 'after', 'p'), origin: 'code' },
    ]);
    expect(gate.breakpoints).toMatchObject([
      { id: 'code-1', state: 'a', when: 'after', enabled: false, origin: 'code' },
      { id: 'p', state: 'b', origin: 'page' },
    ]);
  });
});

describe('a pause that nobody controls', () => {
  it('ends after the grace once the last controlling page is gone', () => {
    const { actor, gate, clock } = gated();
    gate.resumeWhenAlone(10_000);
    gate.setControllers(1);
    gate.pause('page-1');
    actor.send({ type: 'COMPLETED', slot: 'x' });
    clock.advance(60_000);
    expect(gate.paused).toBe(true);
    gate.setControllers(0);
    expect(gate.state.resumesInMs).toBe(10_000);
    clock.advance(9_999);
    gate.setControllers(1);
    clock.advance(60_000);
    expect(gate.paused).toBe(true);
    gate.setControllers(0);
    clock.advance(10_000);
    expect(gate.paused).toBe(false);
    expect(actor.getSnapshot().context.done).toEqual(['x']);
  });

  it('ends at once with the server', () => {
    const { gate } = gated();
    gate.resumeWhenAlone(10_000);
    gate.setControllers(1);
    gate.pause('page-1');
    gate.abandon();
    expect(gate.paused).toBe(false);
  });
});

it('instruments a machine once and leaves machines without children as they are', () => {
  const gate = new DebugGate();
  const machine = createMachine({ id: 'm' });
  expect(gate.instrument(machine)).toBe(gate.instrument(machine));
  expect(gate.instrument(gate.instrument(machine))).toBe(gate.instrument(machine));
});

it('instruments every machine of a session, at any depth', () => {
  const gate = new DebugGate();
  const reached: string[] = [];
  const visit = (machine: AnyStateMachine): void => {
    expect(gate.instrument(machine)).toBe(machine);
    reached.push(machine.id);
    for (const logic of Object.values(machine.implementations.actors)) if (isMachine(logic)) visit(logic);
  };
  visit(gate.instrument(sessionMachine));
  expect(reached).toEqual(expect.arrayContaining(['session', 'query', 'turn', 'executor', 'toolCall', 'permission']));
});
