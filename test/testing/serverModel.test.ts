import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { ModelStreamEvent } from '../../src/model/types.js';
import {
  apiError,
  block,
  cutOff,
  delay,
  errorEvent,
  event,
  gate,
  ping,
  raw,
  rawToolUse,
  type Step,
  scriptedModel,
  stop,
  type Turn,
  text,
  thinking,
  toolUse,
} from '../../src/testing/index.js';
import { collect, modelRequest, outcome } from '../model/support.js';
import { clientOf, serve } from './support.js';

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.string({ minLength: 1 }).map((content) => text(content)),
  fc.constantFrom(
    text('half', { open: true }),
    thinking('hm'),
    toolUse('Read', { a: 1 }),
    toolUse('Read', {}, { id: 'toolu_same' }),
    rawToolUse('Read', ''),
    rawToolUse('Read', ['{"a"', ':']),
    rawToolUse('Read', '{"a":', { open: true }),
    block({ type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }),
    event({ type: 'novelty' }),
    raw(': comment\n\nevent: nothing\n\n'),
    ping(),
    stop('max_tokens'),
  ),
);
const last = fc.constantFrom<readonly Step[]>([], [], [errorEvent()], [cutOff('end')]);
const turn: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.array(step, { maxLength: 6 }), last).map(([steps, end]) => [...steps, ...end]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      [apiError(529, 'overloaded_error', { headers: { 'retry-after': '3' } })],
      [apiError(400, 'invalid_request_error')],
    ),
  },
);

/** The two ports name themselves in the words of an error; all else is equal. */
const withoutPlace = (events: readonly ModelStreamEvent[]) =>
  JSON.parse(JSON.stringify(events).replaceAll(/http:\/\/127\.0\.0\.1:\d+|the scripted model/g, 'here'));

test('a script gives the same events with and without HTTP', async () => {
  await fc.assert(
    fc.asyncProperty(turn, async (steps) => {
      const server = await serve([steps]);
      const overHttp = await collect(clientOf(server));
      await server.close();
      expect(withoutPlace(await collect(scriptedModel([steps])))).toEqual(withoutPlace(overHttp));
    }),
    { numRuns: 40 },
  );
});

test('both ports record the same request body, but for streaming', async () => {
  const server = await serve([[text('a')]]);
  const model = scriptedModel([[text('a')]]);
  const request = modelRequest({ system: 'be brief', tools: [{ name: 'Read', input_schema: { type: 'object' } }] });
  await collect(clientOf(server), request);
  await collect(model, request);
  expect(model.requests[0]?.body).toEqual(server.requests[0]?.body);
});

test('nothing arrives during subscribe', async () => {
  const events: ModelStreamEvent[] = [];
  const done = new Promise<void>((resolve) => {
    scriptedModel([[text('a')]])
      .stream(modelRequest(), () => {})
      .subscribe({ next: (given) => events.push(given), complete: resolve });
  });
  expect(events).toEqual([]);
  await done;
  expect(events.map(({ type }) => type)).toEqual(['message.started', 'block.completed', 'stream.ended']);
});

test('a gate holds the answer between blocks, and says when it is reached', async () => {
  const wait = gate();
  const events: ModelStreamEvent[] = [];
  const done = new Promise<void>((resolve) => {
    scriptedModel([[toolUse('Read', { a: 1 }), wait, text('later')]])
      .stream(modelRequest(), () => {})
      .subscribe({ next: (given) => events.push(given), complete: resolve });
  });
  await wait.reached;
  expect(outcome(events).calls).toHaveLength(1);
  wait.open();
  await done;
  expect(outcome(events).blocks).toHaveLength(2);
});

test('after unsubscribing nothing arrives, and the rest of the script stays unplayed', async () => {
  const wait = gate();
  const model = scriptedModel([[text('a'), wait, text('b')]]);
  const events: ModelStreamEvent[] = [];
  const subscription = model.stream(modelRequest(), () => {}).subscribe((given) => events.push(given));
  await wait.reached;
  const before = events.length;
  subscription.unsubscribe();
  wait.open();
  await wait.pass();
  await Promise.resolve();
  expect(events).toHaveLength(before);
  expect(() => model.assertConsumed()).toThrow(/turn 1, step 3 \(text\) was not played/);
});

test('a delay runs on the given clock', async () => {
  const clock = new SimulatedClock();
  const marker = gate();
  const model = scriptedModel([[marker, delay(1000), text('b')]], { clock });
  const done = collect(model);
  marker.open();
  await marker.reached;
  // The delay is set one microtask after the gate has opened; how many hops that takes is not the test's business.
  for (let hop = 0; hop < 20; hop += 1) await Promise.resolve();
  clock.increment(1000);
  expect(outcome(await done).blocks).toMatchObject([{ text: 'b' }]);
});

test('a broken history is refused in the API’s words', async () => {
  const model = scriptedModel([[text('never')]]);
  const messages = [
    { role: 'user' as const, content: 'hi' },
    { role: 'assistant' as const, content: [{ type: 'tool_use' as const, id: 't1', name: 'Read', input: {} }] },
    { role: 'user' as const, content: 'and?' },
  ];
  const { end } = outcome(await collect(model, modelRequest({ messages })));
  expect(end).toMatchObject({
    kind: 'broken',
    error: { status: 400, retryable: false, message: expect.stringContaining('without `tool_result` blocks') },
  });
  expect(() => model.assertConsumed()).toThrow(/request 1 was refused \(400\)/);
});

test('the end of the script is an error, and so is a mistake in it', async () => {
  const model = scriptedModel([]);
  expect(outcome(await collect(model)).end).toMatchObject({ error: { message: expect.stringContaining('The script has 0 turns') } });
  const throwing = scriptedModel(() => {
    throw new Error('cannot decide');
  });
  expect(outcome(await collect(throwing)).end).toMatchObject({ error: { message: expect.stringContaining('cannot decide') } });
});
