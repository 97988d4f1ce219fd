import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chromeTrace } from '../../src/inspect/exports/chromeTrace.js';
import type { FlowEvent } from '../../src/inspect/index.js';
import { transcriptFlow } from '../../src/inspect/transcript/convert.js';
import { Flow } from '../../visualizations/inspector/src/model/flow.js';
import { answer, jsonl, newUuid, result, text, toolUse, user } from './support/transcripts.js';

type Entry = Readonly<Record<string, unknown>>;

interface PlannedCall {
  readonly answered: boolean;
  readonly error: boolean;
  /** Calls of the subagent that this call starts. */
  readonly inner: readonly PlannedCall[] | null;
}
interface PlannedTurn {
  readonly calls: readonly PlannedCall[];
  readonly say: boolean;
  /** Results between the blocks of one message, as when calls run while it streams. */
  readonly eager: boolean;
}

const plannedCall: fc.Arbitrary<PlannedCall> = fc.letrec<{ call: PlannedCall }>((tie) => ({
  call: fc.record({
    answered: fc.boolean(),
    error: fc.boolean(),
    inner: fc.option(fc.array(tie('call'), { maxLength: 3 }), { depthSize: 'small', maxDepth: 2 }),
  }),
})).call;
const plannedTurns = fc.array(
  fc.record({ calls: fc.array(plannedCall, { maxLength: 4 }), say: fc.boolean(), eager: fc.boolean() }) satisfies fc.Arbitrary<PlannedTurn>,
  { minLength: 1, maxLength: 5 },
);
/** What befalls the file after it was written. */
const damage = fc.record({
  seed: fc.integer(),
  shuffleLines: fc.boolean(),
  shuffleParents: fc.boolean(),
  repeat: fc.constantFrom('no', 'same uuid', 'new uuid'),
  times: fc.constantFrom('all', 'some', 'wild', 'none'),
  agentIds: fc.boolean(),
  rubbish: fc.boolean(),
});
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

/** A small generator of its own, so that a failing case is the same again. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const [a, b] = [out[i], out[j]];
    if (a !== undefined && b !== undefined) [out[i], out[j]] = [b, a];
  }
  return out;
}

/** Writes a session as Claude Code would, then damages it. Returns the file and which calls it holds. */
function write(turns: readonly PlannedTurn[], { seed, shuffleLines, shuffleParents, repeat, times, agentIds, rubbish }: Damage) {
  const random = randomOf(seed);
  const entries: Entry[] = [];
  const calls = new Map<string, boolean>();
  let clock = 0;
  let message = 0;
  const parents = new Map<string, string | null>();
  const add = (agent: string | null, make: (common: { s?: number; parent: string | null; more: Entry }) => Entry): void => {
    clock += 1;
    const s = times === 'none' || (times === 'some' && random() < 0.4) ? undefined : times === 'wild' ? (random() - 0.5) * 1e9 : clock;
    const side = agent === null ? {} : { isSidechain: true, ...(agentIds ? { agentId: agent } : {}) };
    const entry = make({ ...(s === undefined ? {} : { s }), parent: parents.get(agent ?? '') ?? null, more: side });
    parents.set(agent ?? '', String(entry.uuid));
    entries.push(entry);
  };
  const turn = ({ calls: planned, say, eager }: PlannedTurn, agent: string | null): void => {
    const id = `msg_${message++}`;
    if (say || planned.length === 0) add(agent, (common) => answer(id, text('words'), common));
    const rest: (() => void)[] = [];
    for (const call of planned) {
      const toolUseId = `toolu_${calls.size}`;
      calls.set(toolUseId, call.answered);
      const prompt = `task ${toolUseId}`;
      const name = call.inner ? 'Task' : 'Bash';
      add(agent, (common) => answer(id, toolUse(toolUseId, name, { description: `about ${toolUseId}`, prompt }), common));
      if (call.inner) {
        add(toolUseId, (common) => user(prompt, common));
        turn({ calls: call.inner, say: false, eager: true }, toolUseId);
      }
      const finish = (): void => {
        if (call.answered) add(agent, (common) => result(toolUseId, 'text', { ...common, isError: call.error }));
      };
      if (eager) finish();
      else rest.push(finish);
    }
    for (const finish of shuffled(rest, random)) finish();
  };
  add(null, (common) => user('the prompt', common));
  for (const planned of turns) turn(planned, null);
  let lines: (Entry | string)[] = entries;
  if (shuffleParents) {
    lines = entries.map((entry) => ({ ...entry, parentUuid: entries[Math.floor(random() * entries.length)]?.uuid ?? null }));
  }
  if (repeat !== 'no') {
    const again = lines
      .filter(() => random() < 0.5)
      .map((entry) => (repeat === 'new uuid' && typeof entry !== 'string' ? { ...entry, uuid: newUuid() } : entry));
    lines = [...lines, ...again];
  }
  if (rubbish)
    lines = lines.flatMap((entry) =>
      random() < 0.2 ? [entry, '', '{"type":', '{"no":"type"}', '{"type":"new-kind","timestamp":7}'] : [entry],
    );
  if (shuffleLines) lines = shuffled(lines, random);
  return { bytes: jsonl(lines), lines: lines.length, calls };
}

describe('whatever a transcript went through', () => {
  it('every call is told exactly once, paired if and only if its result is in the file, and no bar is negative', () => {
    fc.assert(
      fc.property(plannedTurns, damage, (turns, harm) => {
        const { bytes, lines, calls } = write(turns, harm);
        const flow = transcriptFlow([{ name: undefined, bytes }], { name: 'random', redaction: { env: {}, salt: 'fixed' } });
        if (!flow) throw new Error('no message was found');

        const told = flow.events.flatMap((event) => (event.type === 'actor.started' && event.kind === 'toolCall' ? [event.toolUseId] : []));
        expect(told.sort()).toEqual([...calls.keys()].sort());
        const paired = flow.events.flatMap((event) => (event.type === 'result' ? [event.toolUseId] : []));
        expect(paired.sort()).toEqual([...calls].flatMap(([id, answered]) => (answered ? [id] : [])).sort());
        const { source } = flow.header;
        expect(source).toMatchObject({ lines, calls: told.length, paired: paired.length });
        const counted = [...Object.values(source?.read ?? {}), ...Object.values(source?.ignored ?? {})];
        expect(counted.reduce((sum, count) => sum + count, 0)).toBe(lines);
        checkOrder(flow.events);

        const page = new Flow();
        for (const event of [flow.header, ...flow.events]) page.add(event);
        expect(page.calls).toHaveLength(calls.size);
        for (const call of page.calls) {
          expect(call.endT).toBeGreaterThanOrEqual(call.startT);
          expect(call.result !== undefined).toBe(calls.get(call.toolUseId));
          for (const { from, to } of call.segments) expect(to).toBeGreaterThanOrEqual(from);
          expect(new Set(call.gates.map(({ status }) => status))).toEqual(new Set(['unknown']));
        }
        checkTrace(chromeTrace(flow));
      }),
      { numRuns: 200 },
    );
  });

  it('a subagent stands below its call when the file tells which one that is', () => {
    fc.assert(
      fc.property(plannedTurns, fc.boolean(), fc.integer(), (turns, shuffleLines, seed) => {
        const harm = { seed, shuffleLines, shuffleParents: false, repeat: 'no', times: 'all', agentIds: false, rubbish: false } as const;
        const { bytes } = write(turns, harm);
        const flow = transcriptFlow([{ name: undefined, bytes }], { name: 'random', redaction: { env: {}, salt: 'fixed' } });
        const calls = new Map(
          flow?.events.flatMap((event) =>
            event.type === 'actor.started' && event.kind === 'toolCall' ? [[event.actor, event.label]] : [],
          ),
        );
        for (const event of flow?.events ?? []) {
          if (event.type === 'actor.started' && event.kind === 'session' && event.parent !== null) {
            expect(calls.get(event.parent)).toBe(event.label);
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** Times never decrease; actors start below what has started, and each ends once. */
function checkOrder(events: readonly FlowEvent[]): void {
  const started = new Set<string>();
  const stopped = new Set<string>();
  let last = 0;
  for (const event of events) {
    expect(event.t).toBeGreaterThanOrEqual(last);
    last = event.t;
    if (event.type === 'actor.started') {
      expect(started.has(event.actor)).toBe(false);
      if (event.parent !== null) expect(started.has(event.parent)).toBe(true);
      started.add(event.actor);
    } else if (event.type === 'actor.stopped') {
      expect(started.has(event.actor) && !stopped.has(event.actor)).toBe(true);
      stopped.add(event.actor);
    } else if (event.type === 'event') expect(started.has(event.actor)).toBe(true);
  }
  expect(stopped).toEqual(started);
}

/** Every bar that begins ends, and not before it began. */
function checkTrace(trace: string): void {
  const { traceEvents }: { traceEvents: { ph: string; id?: string; ts?: number }[] } = JSON.parse(trace);
  const open = new Map<string, number>();
  for (const { ph, id = '', ts = 0 } of traceEvents) {
    if (ph === 'b') open.set(id, ts);
    if (ph !== 'e') continue;
    expect(ts).toBeGreaterThanOrEqual(open.get(id) ?? Number.POSITIVE_INFINITY);
    open.delete(id);
  }
  expect(open.size).toBe(0);
}
