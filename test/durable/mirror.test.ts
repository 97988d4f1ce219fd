import { EMPTY, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { RemoteSession } from '../../src/durable/client.js';
import { inspectable } from '../../src/durable/mirror.js';
import { inspectFlow } from '../../src/inspect/index.js';
import type { SessionUpdate } from '../../src/session/updates.js';

const called = (state: Extract<SessionUpdate, { type: 'call.state' }>['state']): SessionUpdate => ({
  type: 'call.state',
  callId: 'toolu_1',
  tool: 'Echo',
  state,
  ms: 1,
});

function remote(): { readonly session: RemoteSession; readonly updates: Subject<SessionUpdate> } {
  const updates = new Subject<SessionUpdate>();
  const nothing = async () => {};
  const session: RemoteSession = {
    id: 'far',
    updates$: updates,
    numbered$: EMPTY,
    mode: 'default',
    openPermissions: [],
    openQuestions: [],
    send: () => {
      throw new Error('not in this test');
    },
    notify: () => '',
    interrupt: nothing,
    answer: () => ({ accepted: true }),
    answerQuestion: () => ({ accepted: true }),
    updatePermissions: nothing,
    stopTask: nothing,
    compact: nothing,
    sent: nothing,
    detach: () => {},
    close: nothing,
  };
  return { session, updates };
}

describe('a session on another machine, mirrored', () => {
  it('stands where its updates say, call by call', () => {
    const { session, updates } = remote();
    const { actor, close } = inspectable(session);
    const stands = () => {
      const snapshot: AnyMachineSnapshot = actor.getSnapshot();
      const calls: readonly (readonly [string, AnyActorRef])[] = Object.entries(snapshot.children);
      return { value: snapshot.value, calls: calls.map(([id, child]) => [id, child.getSnapshot().value]) };
    };
    updates.next({ type: 'query.started', queryId: 'query-1', prompt: 'go' });
    updates.next(called('queued'));
    expect(stands()).toEqual({ value: { conversation: 'querying', questions: 'none' }, calls: [['call toolu_1', 'queued']] });
    updates.next(called('executing.calling'));
    expect(stands().calls).toEqual([['call toolu_1', { executing: 'calling' }]]);
    updates.next(called('completed.denied'));
    expect(stands().calls).toEqual([['call toolu_1', { completed: 'denied' }]]);
    updates.next(called('yielded'));
    expect(stands().calls).toEqual([]);
    close();
  });

  it('feeds an inspector: its calls are actors, its results lie in the flow', () => {
    const { session, updates } = remote();
    const system = inspectFlow(inspectable(session));
    updates.next({ type: 'query.started', queryId: 'query-1', prompt: 'go' });
    updates.next(called('queued'));
    updates.next(called('executing.calling'));
    updates.next({
      type: 'call.result',
      callId: 'toolu_1',
      tool: 'Echo',
      outcome: { kind: 'succeeded', isError: false, summary: 'done' },
      result: { type: 'tool_result', tool_use_id: 'toolu_1', content: 'echo' },
    });
    const events = system.log.events(0).map((event) => JSON.stringify(event));
    expect(events.some((event) => event.includes('remoteCall'))).toBe(true);
    expect(events.some((event) => event.includes('toolu_1') && event.includes('succeeded'))).toBe(true);
    system.detach();
  });
});
