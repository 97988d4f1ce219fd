import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FlowEvent } from '../../src/inspect/index.js';
import { Sequencer } from '../../visualizations/inspector/src/link/sequencer.js';
import { isWithin } from '../../visualizations/inspector/src/model/actors.js';
import { filterCalls, parseFilter } from '../../visualizations/inspector/src/model/filter.js';
import { Flow } from '../../visualizations/inspector/src/model/flow.js';
import { changes } from '../../visualizations/inspector/src/model/json.js';
import { treeRows } from '../../visualizations/inspector/src/model/tree.js';
import { firstView } from '../../visualizations/inspector/src/model/view.js';
import { endOf, niceStep } from '../../visualizations/inspector/src/panels/timelineDraw.js';
import { visiblePieces } from '../../visualizations/inspector/src/ui/visible.js';
import { tellCalls, toldFlow } from './support/flows.js';
import { simulate } from './support/simulate.js';
import { bugfix } from './support/story.js';

async function storyFlow(): Promise<{ readonly flow: Flow; readonly events: readonly FlowEvent[] }> {
  const { system, time } = await simulate(bugfix({ after: 900, behavior: 'allow' }));
  await time.play();
  const events = system.log.events(0);
  const flow = new Flow();
  for (const event of events) flow.add(event);
  return { flow, events };
}

describe('a call, folded from its events', () => {
  test('walks the six gates and spends its time on parts that follow one another', async () => {
    const { flow } = await storyFlow();
    const push = flow.calls.at(-1);
    expect(push?.gates.map((gate) => gate.status)).toEqual(['passed', 'passed', 'passed', 'passed', 'passed', 'passed']);
    expect(push?.segments.map(({ part }) => part)).toEqual(expect.arrayContaining(['hooks', 'asking', 'running']));
    const asking = push?.segments.find(({ part }) => part === 'asking');
    expect((asking?.to ?? 0) - (asking?.from ?? 0)).toBe(900);
    const statuses = (label: RegExp) => flow.calls.find((call) => label.test(call.label))?.gates.map((gate) => gate.status);
    expect(statuses(/rm -rf/)).toEqual(['passed', 'passed', 'passed', 'passed', 'refused', 'ahead']);
    expect(statuses(/CHANGELOG/)).toEqual(['passed', 'failed', 'ahead', 'ahead', 'ahead', 'ahead']);
    expect(statuses(/npm test -- tax/)?.[5]).toBe('failed');
  });

  test('at any moment equals the fold of the events up to it', async () => {
    const { flow, events } = await storyFlow();
    for (const seq of [300, 700, 1100, flow.lastSeq - 40]) {
      const until = new Flow();
      for (const event of events) if (event.seq <= seq) until.add(event);
      for (const then of until.calls) {
        const call = flow.call(then.toolUseId);
        const folded = call && flow.callAt(call, seq);
        expect({ ...folded, lane: 0, lastSeq: 0, input: null }).toEqual({ ...then, lane: 0, lastSeq: 0, input: null });
      }
    }
  });

  test('never takes a negative time, however its events are cut, shuffled or timed', async () => {
    const { events } = await storyFlow();
    const body = events.filter((event) => event.type !== 'header');
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...body.keys()], { minLength: 30, maxLength: 400 }),
        fc.array(fc.integer({ min: -5000, max: 5000 }), { minLength: 1, maxLength: 40 }),
        (order, shifts) => {
          const flow = new Flow();
          order.forEach((at, index) => {
            const event = body[at];
            if (event) flow.add({ ...event, seq: index + 1, t: Math.max(0, event.t + (shifts[index % shifts.length] ?? 0)) });
          });
          for (const call of flow.calls) {
            expect(endOf(call, flow.lastT)).toBeGreaterThanOrEqual(call.startT);
            for (const { from, to } of call.segments) if (to !== null) expect(to).toBeGreaterThanOrEqual(from);
            for (const gate of call.gates) expect(gate.ms).toBeGreaterThanOrEqual(0);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('shares no lane with another call at the same time', async () => {
    const { flow } = await storyFlow();
    for (const a of flow.calls) {
      for (const b of flow.calls) {
        if (a === b || a.lane !== b.lane) continue;
        const apart = (a.endT ?? Infinity) <= b.startT || (b.endT ?? Infinity) <= a.startT;
        expect(apart, `${a.toolUseId} and ${b.toolUseId}`).toBe(true);
      }
    }
  });
});

describe('the actor tree', () => {
  const options = { toggled: new Map<string, boolean>(), selected: null, showHelpers: false, seq: null, filter: '' };

  test('folds what has ended, and keeps what is selected in view', () => {
    const system = toldFlow();
    tellCalls(system, 200);
    const flow = new Flow();
    for (const event of system.log.events(0)) flow.add(event);
    const rows = treeRows(flow, options);
    expect(rows.length).toBeLessThan(8);
    expect(rows.find((row) => row.kind === 'fold')).toMatchObject({ done: 193, failed: 4 });
    const selected = treeRows(flow, { ...options, selected: 'executor/call-20' });
    expect(selected.some((row) => row.kind === 'actor' && row.actor.id === 'executor/call-20')).toBe(true);
  });

  test('marks everything above a problem or a question, in a subagent too', async () => {
    const { system, time } = await simulate(bugfix(null));
    await time.play();
    const flow = new Flow();
    for (const event of system.log.events(0)) flow.add(event);
    expect(flow.actors.get('session')).toMatchObject({ waiting: 1, problems: 3 });
    expect(flow.actors.get('session/query/turn~3')?.problems).toBe(2);
    expect(flow.actors.get('session/query/turn')?.problems).toBe(0);
  });
});

describe('events from a server', () => {
  const event = (seq: number): FlowEvent => ({ type: 'note', seq, t: seq, level: 'info', text: `n${seq}` });

  test('end up in order, each once, whatever batches and holes they come in', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 12 }),
        async (batches) => {
          const flow = new Flow();
          const list = async (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => event(from + i));
          const sequencer = new Sequencer(flow, list, () => undefined);
          let highest = 0;
          for (const [from, size] of batches) {
            sequencer.take(Array.from({ length: size }, (_, i) => event(from + i)));
            highest = Math.max(highest, from + size - 1);
            await new Promise((done) => setImmediate(done));
          }
          await new Promise((done) => setImmediate(done));
          expect(flow.events.map(({ seq }) => seq)).toEqual(
            Array.from({ length: highest + 1 }, (_, i) => i).slice(flow.events[0]?.seq === 0 ? 0 : 1),
          );
          expect(flow.holes).toEqual([]);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('that nobody has any more are marked as missing, once', async () => {
    const flow = new Flow();
    const sequencer = new Sequencer(
      flow,
      async () => [],
      () => undefined,
    );
    flow.add(event(1));
    sequencer.take([event(5), event(6)]);
    await new Promise((done) => setImmediate(done));
    sequencer.take([event(7)]);
    expect(flow.events.map(({ seq }) => seq)).toEqual([1, 5, 6, 7]);
    expect(flow.holes).toMatchObject([{ from: 2, to: 4 }]);
  });
});

describe('small things', () => {
  test('a filter takes words and fields', async () => {
    const { flow } = await storyFlow();
    const labels = (filter: string) => filterCalls(flow, { ...firstView, filter }, null).map((call) => call.label);
    expect(labels('is:denied')).toEqual(['rm -rf node_modules/.cache && npm test']);
    expect(labels('tool:bash push')).toEqual([expect.stringContaining('git push')]);
    expect(labels('agent:explore').length).toBe(5);
    expect(parseFilter('a:b C')).toEqual([
      { field: '', word: 'a:b' },
      { field: '', word: 'c' },
    ]);
  });

  test('a scope holds an actor and what is below it, not its namesake', () => {
    expect(isWithin('s/call-0', 's/call-0')).toBe(true);
    expect(isWithin('s/call-0/tool', 's/call-0')).toBe(true);
    expect(isWithin('s/call-0~2', 's/call-0')).toBe(false);
  });

  test('a difference names the leaves', () => {
    expect(changes({ a: { b: 1, c: [1] } }, { a: { b: 2, c: [1, 2] } })).toEqual([
      { path: 'a.b', before: 1, after: 2, kind: 'changed' },
      { path: 'a.c.1', before: undefined, after: 2, kind: 'added' },
    ]);
  });

  test('hidden characters are written out, line breaks and tabs stay', () => {
    expect(visiblePieces('a\n\tb')).toEqual([{ text: 'a\n\tb', hidden: false }]);
    const hidden = (text: string) =>
      visiblePieces(text)
        .filter((piece) => piece.hidden)
        .map((piece) => piece.text);
    expect(hidden('\u202e\u2066\u200b\u00ad\u0007\u2028\ufe0f\u{e0041}')).toEqual([
      '\\u202E',
      '\\u2066',
      '\\u200B',
      '\\u00AD',
      '\\u0007',
      '\\u2028',
      '\\uFE0F',
      '\\u{e0041}',
    ]);
  });

  test('axis steps are 1, 2 or 5 times a power of ten', () => {
    expect([niceStep(1000, 10), niceStep(1300, 10), niceStep(2600, 10), niceStep(0.9, 3)]).toEqual([100, 200, 500, 0.5]);
  });
});
