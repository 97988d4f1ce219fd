import { describe, expect, it } from 'vitest';
import { createActor, createMachine } from 'xstate';
import { inspectFlow, replayRecording, snapshotRecording } from '../../src/inspect/index.js';
import { call, childOf, eventsOf, settle, startFlow } from './support/flow.js';
import { callMachine, parentMachine } from './support/machines.js';

describe('flow events of an XState system', () => {
  it('names actors by their explicit ids, tool calls by tool and input, and a slot used again by a suffix', async () => {
    const { actor, log } = startFlow();
    actor.send(call('call-0', 'Bash', { command: 'git   status' }));
    actor.send({ type: 'TO', slot: 'call-0', event: { type: 'START' } });
    await settle();
    actor.send(call('call-0', 'Read', { file_path: '/a' }));
    const started = eventsOf(log, 'actor.started');
    expect(started.map(({ actor: path, kind, name, label }) => [path, kind, name, label])).toEqual([
      ['executor', 'executor', 'executor', ''],
      ['executor/call-0', 'toolCall', 'Bash', 'git status'],
      ['executor/call-0/run', 'actor', 'run', ''],
      ['executor/call-0~2', 'toolCall', 'Read', '/a'],
    ]);
    expect(started[1]).toMatchObject({ parent: 'executor', machine: 'toolCall', toolUseId: 'toolu_call-0_Bash' });
    expect(eventsOf(log, 'actor.stopped').map(({ actor: path, status }) => [path, status])).toContainEqual(['executor/call-0', 'done']);
    expect(started.every((event) => !event.late)).toBe(true);
  });

  it('shows passing states, the edges that fired and their guards', () => {
    const { actor, log } = startFlow();
    actor.send(call('call-0', 'Denied'));
    actor.send({ type: 'TO', slot: 'call-0', event: { type: 'START' } });
    const steps = eventsOf(log, 'transition').filter((step) => step.actor === 'executor/call-0');
    expect(steps.map(({ event, from, to, micro }) => [event, from, to, micro])).toEqual([
      ['xstate.init', [], ['toolCall.queued'], 0],
      ['START', ['toolCall.queued'], ['toolCall.executing.deciding'], 0],
      ['START', ['toolCall.executing.deciding'], ['toolCall.denied'], 1],
    ]);
    expect(steps[2]?.edges).toEqual([{ id: 'toolCall.executing.deciding~~0', guard: 'isDenied' }]);
    const graph = log.graphs.find(({ id }) => id === 'toolCall');
    expect(steps.flatMap((step) => step.edges).every((edge) => graph?.edges.some(({ id }) => id === edge.id))).toBe(true);
  });

  it('counts seq without holes and never lets time run backwards', () => {
    let now = 5000;
    const { actor, log } = startFlow({ now: () => (now -= 10) });
    actor.send(call('call-0', 'Ask'));
    const events = log.events(0);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    expect(events.every(({ t }, index) => t >= 0 && t >= (events[index - 1]?.t ?? 0))).toBe(true);
  });

  it('says of an event that no state wants that it was ignored', () => {
    const { actor, log } = startFlow();
    actor.send(call('call-0', 'Ask'));
    actor.send({ type: 'TO', slot: 'call-0', event: { type: 'ANSWER', allow: true } });
    expect(eventsOf(log, 'ignored')).toMatchObject([{ actor: 'executor/call-0', event: 'ANSWER' }]);
  });

  it('replays the living tree to an inspector that comes late, and can still be replayed from there', async () => {
    const actor = createActor(parentMachine, { id: 'executor' }).start();
    actor.send(call('call-0', 'Ask'));
    actor.send({ type: 'TO', slot: 'call-0', event: { type: 'START' } });
    const { log } = inspectFlow(actor, { redaction: { env: {} } });
    expect(eventsOf(log, 'actor.started')).toMatchObject([
      { actor: 'executor', late: true },
      { actor: 'executor/call-0', late: true, name: 'Ask' },
    ]);
    expect(eventsOf(log, 'transition').at(-1)).toMatchObject({ to: ['toolCall.executing.asking'], initial: true });
    actor.send({ type: 'TO', slot: 'call-0', event: { type: 'ANSWER', allow: true } });
    await settle();
    const report = replayRecording(snapshotRecording(log), [parentMachine, callMachine]);
    expect(report).toMatchObject({ mismatches: [], skipped: [] });
    expect(report.steps).toBeGreaterThan(3);
  });

  it('tells the error of an actor whose action throws, which XState announces by no snapshot', async () => {
    const broken = createMachine({
      id: 'broken',
      on: {
        GO: {
          actions: () => {
            throw new Error('boom sk-ant-api03-0123456789abcdefghij');
          },
        },
      },
    });
    const actor = createActor(broken, { id: 'broken' });
    const { log } = inspectFlow(actor, { redaction: { env: {}, salt: 'x' } });
    const seen: unknown[] = [];
    actor.subscribe({ error: (error) => seen.push(error) });
    actor.start();
    actor.send({ type: 'GO' });
    await settle();
    expect(seen).toHaveLength(1);
    expect(eventsOf(log, 'error')[0]?.message).toMatch(/^Error: boom ‹redacted api-key/);
    expect(eventsOf(log, 'actor.stopped')).toMatchObject([{ actor: 'broken', status: 'error' }]);
  });

  it('changes nothing in the flow, even when a listener, a naming rule and the context are hostile', async () => {
    const run = async (inspected: boolean): Promise<unknown> => {
      const actor = createActor(parentMachine, { id: 'executor' });
      if (inspected) {
        const { log } = inspectFlow(actor, {
          nameActor: () => {
            throw new Error('naming');
          },
          redaction: {
            rules: [
              () => {
                throw new Error('rule');
              },
            ],
          },
        });
        log.listen(() => {
          throw new Error('listener');
        });
      }
      actor.start();
      const hostile = {
        command: 'x',
        toJSON() {
          throw new Error('toJSON');
        },
        get trap() {
          throw new Error('getter');
        },
      };
      actor.send(call('call-0', 'Bash', hostile));
      actor.send({ type: 'TO', slot: 'call-0', event: { type: 'START' } });
      await settle();
      return actor.getSnapshot().context;
    };
    expect(await run(true)).toEqual(await run(false));
  });

  it('registers no observer before it is attached nor after it has been detached', () => {
    const actor = createActor(parentMachine, { id: 'executor' }).start();
    const system = inspectFlow(actor);
    system.detach();
    const before = system.log.lastSeq;
    actor.send(call('call-0', 'Ask'));
    expect(system.log.lastSeq).toBe(before);
    expect(childOf(actor, 'call-0').getSnapshot().value).toBe('queued');
  });

  it('keeps its memory bounded: the oldest events leave, and are told as gone', () => {
    const { actor, log } = startFlow({ maxEvents: 100 });
    for (let turn = 0; turn < 500; turn++) actor.send({ type: 'COMPLETED', slot: 'none' });
    expect(log.events(0).length).toBeLessThanOrEqual(125);
    expect(log.firstSeq).toBeGreaterThan(1000);
    expect(log.events(log.firstSeq)[0]?.seq).toBe(log.firstSeq);
  });
});
