import { describe, expect, it } from 'vitest';
import { BreakpointSet } from '../../src/inspect/gate/breakpointSet.js';
import type { FlowEvent } from '../../src/inspect/index.js';
import type { Breakpoint } from '../../src/inspect/protocol/rpc.js';

const base = { seq: 1, t: 0 };
const started = (actor: string, toolUseId: string): FlowEvent => ({
  ...base,
  type: 'actor.started',
  actor,
  parent: 'executor',
  kind: 'toolCall',
  machine: 'toolCall',
  name: 'Bash',
  label: '',
  toolUseId,
});
const asked = (toolUseId: string): FlowEvent => ({ ...base, type: 'approval', toolUseId, toolName: 'Bash', phase: 'asked' });
const onAsk: Breakpoint = { id: 'b', enabled: true, origin: 'page', on: 'verdict', behavior: 'ask', actor: 'executor/call-1' };

describe('a breakpoint of one actor', () => {
  it('is hit by what is said of that actor’s call, and by no other', () => {
    const set = new BreakpointSet([onAsk]);
    for (const n of [1, 2]) expect(set.onFlowEvent(started(`executor/call-${n}`, `toolu_${n}`))).toBeUndefined();
    expect(set.onFlowEvent(asked('toolu_2'))).toBeUndefined();
    expect(set.onFlowEvent(asked('toolu_1'))).toEqual(onAsk);
    expect(set.actorOf(asked('toolu_1'))).toBe('executor/call-1');
  });

  it('knows calls that began before it was set, and forgets those that have their result', () => {
    const set = new BreakpointSet([]);
    set.onFlowEvent(started('executor/call-1', 'toolu_1'));
    set.replace([onAsk]);
    expect(set.onFlowEvent(asked('toolu_1'))?.id).toBe('b');
    set.onFlowEvent({
      ...base,
      type: 'result',
      toolUseId: 'toolu_1',
      toolName: 'Bash',
      outcome: 'succeeded',
      isError: false,
      summary: '',
      body: { hash: 'h', bytes: 1, preview: '' },
    });
    expect(set.actorOf(asked('toolu_1'))).toBeUndefined();
  });

  it('covers what is below the actor, not its namesake', () => {
    const set = new BreakpointSet([{ id: 'e', enabled: true, origin: 'page', on: 'event', event: 'GO', actor: 'executor/call-1' }]);
    const hit = (actor: string) => set.beforeEvent(actor, 'GO', () => [])?.id;
    expect([hit('executor/call-1'), hit('executor/call-1/permission'), hit('executor/call-1~2'), hit('executor')]).toEqual([
      'e',
      'e',
      undefined,
      undefined,
    ]);
  });
});
