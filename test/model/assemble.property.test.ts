import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { isThinking } from '../../src/messages/blocks.js';
import { looseBlock } from '../../src/model/shapes.js';
import { parseToolInput } from '../../src/model/toolInput.js';
import { assembled, close, finish, json, open, openText, openTool, outcome, say, start, tool } from './support.js';

/** A block: its events in order, and what it must come out as. */
interface Planned {
  readonly events: readonly JsonObject[];
  readonly block: unknown;
}

const pieces = (whole: string, cuts: readonly number[]): string[] => {
  const at = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b);
  return [...at, whole.length].map((end, place) => whole.slice(at[place - 1] ?? 0, end));
};
const cuts = fc.array(fc.nat(200), { maxLength: 6 });
const input = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue({ noUnicodeString: false }))
  .filter((value) => parseToolInput(JSON.stringify(value)).kind === 'object');

const planned = (index: number): fc.Arbitrary<Planned> =>
  fc.oneof(
    fc.tuple(fc.string({ unit: 'grapheme', minLength: 1 }), cuts).map(([content, at]) => ({
      events: [openText(index), ...pieces(content, at).map((piece) => say(index, piece)), close(index)],
      block: { type: 'text', text: content },
    })),
    fc.tuple(input, cuts).map(([value, at]) => {
      const id = `toolu_${index}`;
      const raw = JSON.stringify(value);
      const events = [openTool(index, id), ...pieces(raw, at).map((piece) => json(index, piece)), close(index)];
      return { events, block: { type: 'tool_use', id, name: 'Read', input: JSON.parse(raw) } };
    }),
    fc
      .constantFrom({ type: 'redacted_thinking', data: 'x' }, { type: 'web_search_tool_result', tool_use_id: 's', content: [] })
      .map((block) => ({
        events: [open(index, block), close(index)],
        block,
      })),
  );
const plans = fc.integer({ min: 0, max: 5 }).chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => planned(index))));

/** Merges the blocks' events into one order that keeps each block's own. */
function interleave(blocks: readonly Planned[], choices: readonly number[]): JsonObject[] {
  const queues = blocks.map(({ events }) => [...events]);
  const merged: JsonObject[] = [];
  for (let turn = 0; queues.some((queue) => queue.length > 0); turn += 1) {
    const left = queues.filter((queue) => queue.length > 0);
    const next = left[(choices[turn % Math.max(1, choices.length)] ?? 0) % left.length]?.shift();
    if (next !== undefined) merged.push(next);
  }
  return merged;
}

test('blocks come out whole and in index order, however their events are cut and interleaved', () => {
  fc.assert(
    fc.property(plans, fc.array(fc.nat(50), { maxLength: 40 }), (blocks, choices) => {
      const { blocks: got, notes, end } = outcome(assembled([start(), ...interleave(blocks, choices), ...finish()]));
      expect(got).toEqual(blocks.map(({ block }) => block));
      expect(notes).toEqual([]);
      expect(end?.kind).toBe('complete');
    }),
  );
});

test('replaying any stretch of a stream runs nothing twice and changes nothing', () => {
  fc.assert(
    fc.property(plans, fc.nat(), fc.nat(), (blocks, a, b) => {
      const events = [start(), ...blocks.flatMap((block) => block.events)];
      // A replay after a reconnect goes back to the start of a block that is complete.
      const ends = events.flatMap((event, at) => (event.type === 'content_block_stop' || at === 0 ? [at + 1] : []));
      const to = ends[a % ends.length] ?? 1;
      const from = [...ends.filter((end) => end <= to), 0][b % (ends.filter((end) => end <= to).length + 1)] ?? 0;
      const replayed = [...events.slice(0, to), ...events.slice(from, to), ...events.slice(to), ...finish()];
      const plain = outcome(assembled([...events, ...finish()]));
      const { blocks: got, calls, end } = outcome(assembled(replayed));
      expect({ got, calls, end }).toEqual({ got: plain.blocks, calls: plain.calls, end: plain.end });
    }),
  );
});

test('cut anywhere, a stream gives exactly the blocks whose stop has arrived, or none where that is but thinking', () => {
  fc.assert(
    fc.property(plans, fc.nat(), (blocks, at) => {
      const events = [start(), ...blocks.flatMap((block) => block.events)];
      const cut = events.slice(0, at % (events.length + 1));
      const stopped = cut.filter(({ type }) => type === 'content_block_stop').length;
      const { blocks: got, end } = outcome(assembled(cut));
      const complete = blocks.slice(0, stopped).map(({ block }) => block);
      expect(got).toEqual(complete.every((block) => isThinking(looseBlock(block))) ? [] : complete);
      expect(end?.kind).toBe('broken');
    }),
  );
});

const anything: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.nat(3), fc.constantFrom('t1', 't2', 't3'), fc.constantFrom('', '{}', '{"a":1}', '{"a"', '[]'))
      .chain(([index, id, text]) => fc.constantFrom<JsonObject>(...tool(index, id, text), openText(index), say(index, id))),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(start('msg_1'), start('msg_2'), ...finish('tool_use'), ...finish('max_tokens'), ...finish('refusal')),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      open(2, { type: 'fallback', to: { model: 'b' } }),
      close(2),
      { type: 'ping' },
      { type: 'error', error: {} },
      { type: 'content_block_delta' },
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);

test('whatever arrives: no throw, one end and it comes last, no call id and no index twice in what counts', () => {
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 60 }), (events) => {
      const got = assembled(events);
      const { blocks, calls, ends } = outcome(got);
      expect(ends).toBe(1);
      expect(got.at(-1)?.type).toBe('stream.ended');
      expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
      expect(new Set(calls.map(({ index }) => index)).size).toBe(calls.length);
      for (const block of blocks) if (block.type === 'tool_use') expect(block.input).toBeTypeOf('object');
      expect(assembled(events)).toEqual(got);
    }),
    { numRuns: 500 },
  );
});
