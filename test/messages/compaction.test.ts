import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blocksOf } from '../../src/messages/blocks.js';
import { CLEARED_RESULT, chooseCut, clearOldToolResults, compactMessages, planCompaction } from '../../src/messages/compaction.js';
import { describeTranscript, parseTranscript } from '../../src/messages/load.js';
import { limitMedia } from '../../src/messages/mediaBudget.js';
import { normalizeMessagesForAPI, normalizeWithNotes } from '../../src/messages/normalize.js';
import { checkPairing } from '../../src/messages/pairing.js';
import { serializeTranscript } from '../../src/messages/sessions.js';
import { createMemoryTranscript } from '../../src/messages/transcript.js';
import type { ContentBlockParam, MessageParam } from '../../src/messages/types.js';
import { assistant, found, goodHistory, result, search, text, use, user } from './arbitraries.js';

const history = [
  user(text('first')),
  assistant(use('t1'), use('t2')),
  user(result('t1'), result('t2')),
  assistant(use('t3')),
  user(result('t3')),
  assistant(text('done')),
  user(text('second')),
];
const codes = (messages: readonly MessageParam[]) => checkPairing(messages).map((problem) => problem.code);
/** What is wrong with a history besides what is still open at its end. */
const problemsBut = (messages: readonly MessageParam[], allowed: readonly string[]) =>
  codes(messages).filter((code) => !allowed.includes(code));

describe('where a history may be cut', () => {
  it('is never between a call and its result, for every number of messages to keep', () => {
    const cuts = Array.from({ length: 10 }, (_, keep) => chooseCut(history, keep));
    expect(cuts).toEqual([7, 6, 5, 3, 3, 1, 1, 0, 0, 0]);
    for (const cut of cuts) expect(codes(compactMessages(history, cut, 'summary'))).toEqual([]);
  });

  it('is before a call that is still running, whose result comes later', () => {
    const running = history.slice(0, 4);
    for (let keep = 0; keep < 5; keep++) {
      const cut = chooseCut(running, keep);
      const later = [...compactMessages(running, cut, 'summary'), user(result('t3'))];
      expect(codes(later)).toEqual([]);
    }
  });

  it('is not before a server result whose call would be summarised away', () => {
    const mixed = [
      user(text('x')),
      assistant(search('srvtoolu_1'), use('a')),
      user(result('a')),
      assistant(found('srvtoolu_1'), text('y')),
      user(text('z')),
    ];
    expect([1, 2, 3, 4].map((keep) => chooseCut(mixed, keep))).toEqual([4, 1, 1, 1]);
  });

  it('always leaves a sendable history whose summary is the first entry and the only one, however often it is compacted', () => {
    fc.assert(
      fc.property(goodHistory, fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }), fc.nat(3), (start, keeps, dropped) => {
        // Any point in time: also while the last calls still run.
        let messages: MessageParam[] = start.slice(0, Math.max(1, start.length - dropped));
        const open = ['missing_result', 'trailing_assistant'];
        keeps.forEach((keep, round) => {
          const cut = chooseCut(messages, keep);
          if (cut === 0) return;
          const before = messages;
          messages = compactMessages(before, cut, `summary ${round}`);
          expect(problemsBut(messages, open)).toEqual([]);
          expect(codes(messages).filter((code) => open.includes(code)).length).toBeLessThanOrEqual(codes(before).length);
          expect(before.length - cut).toBeGreaterThanOrEqual(keep);
          const summaries = messages.flatMap(({ content }, at) =>
            blocksOf(content).flatMap((block, n) => (String(block.text).startsWith('summary ') ? [[at, n]] : [])),
          );
          expect(summaries).toEqual([[0, 0]]);
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe('clearing old tool results', () => {
  it('keeps the newest, every pair and every flag, and is idempotent', () => {
    const cleared = clearOldToolResults(history, 1);
    expect(cleared[2]).toEqual(user(result('t1', CLEARED_RESULT), result('t2', CLEARED_RESULT)));
    expect(cleared[4]).toEqual(history[4]);
    fc.assert(
      fc.property(goodHistory, fc.nat(6), (messages, keep) => {
        const once = clearOldToolResults(messages, keep);
        expect(codes(once)).toEqual([]);
        expect(clearOldToolResults(once, keep)).toEqual(once);
        const contents = once.flatMap(({ content }) =>
          blocksOf(content).flatMap((block) => (block.type === 'tool_result' ? [block.content] : [])),
        );
        expect(contents.filter((content) => content !== CLEARED_RESULT)).toHaveLength(Math.min(keep, contents.length));
      }),
    );
  });
});

describe('a budget for the images of a request', () => {
  const image = (data: string): ContentBlockParam => ({
    type: 'tool_result',
    tool_use_id: data.slice(0, 2),
    content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
  });
  const picture = (n: number) => `${String(n).padStart(2, '0')}${'A'.repeat(98)}`;
  const shots = (count: number) =>
    Array.from({ length: count }, (_, n) => [assistant(use(picture(n).slice(0, 2))), user(image(picture(n)))]).flat();
  const size = (messages: readonly MessageParam[]) => JSON.stringify(messages).match(/A{98}/g)?.length ?? 0;

  it('replaces the oldest by a placeholder that names the saved file, keeps the newest and every pair', () => {
    const messages = [user(text('go')), ...shots(60), assistant(text('seen')), user(text('continue'))];
    const limited = limitMedia(messages, { maxChars: 1000, savedAs: (callId) => `/results/${callId}.png` });
    expect(size(limited)).toBeLessThanOrEqual(10);
    expect(JSON.stringify(limited)).toContain(picture(59));
    expect(JSON.stringify(limited[2])).toContain('saved at /results/00.png');
    expect(codes(limited)).toEqual([]);
  });

  it('leaves a request within the budget alone', () => {
    const messages = [user(text('go')), ...shots(10)];
    expect(limitMedia(messages, { maxChars: 1000 })).toEqual(messages);
  });

  it('never brings back what it cleared, and changes earlier messages rarely as the conversation grows', () => {
    let changes = 0;
    let before: MessageParam[] = [];
    for (let count = 1; count <= 60; count++) {
      const now = limitMedia([user(text('go')), ...shots(count)], { maxChars: 1000 });
      const prefix = JSON.stringify(now.slice(0, before.length));
      if (prefix !== JSON.stringify(before)) changes += 1;
      before = now;
    }
    expect(changes).toBeLessThanOrEqual(60 / 5 + 1);
  });
});

describe('compacting a transcript', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('turn' as const), calls: fc.integer({ min: 0, max: 3 }), eager: fc.boolean(), queued: fc.boolean() }),
    fc.record({ kind: fc.constant('compact' as const), keep: fc.nat(6) }),
  );

  it('at any time, also while calls run, leaves every later request sendable, with one summary as its first entry', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 12 }), fc.nat(4), (steps, interruptAt) => {
        let next = 0;
        const transcript = createMemoryTranscript({ cwd: '/x', sessionId: 's', ids: () => `u${next++}`, now: () => 0 });
        const say = (...content: ContentBlockParam[]) => transcript.append({ type: 'user', message: { role: 'user', content } });
        const answer = (id: string, content: ContentBlockParam) =>
          transcript.append({ type: 'assistant', message: { id, role: 'assistant', content: [content] } });
        const compact = (keep: number) => {
          const plan = planCompaction(transcript.chain, keep);
          if (plan === undefined) return;
          const { keepFromUuid, summarize } = plan;
          const before = normalizeMessagesForAPI(transcript.chain);
          const summary = `summary ${next}`;
          transcript.appendCompaction({ summary, trigger: 'auto', ...(keepFromUuid === undefined ? {} : { keepFromUuid }) });
          // What is not summarised stays, byte for byte, in memory and when the lines are read again.
          const expected = compactMessages(before, summarize.length, summary);
          expect(normalizeMessagesForAPI(transcript.chain)).toEqual(expected);
          const lines = parseTranscript(Buffer.from(serializeTranscript(transcript.lines)));
          expect(normalizeMessagesForAPI(describeTranscript(lines, undefined).chain)).toEqual(expected);
        };
        say(text('start'));
        steps.forEach((one, at) => {
          if (one.kind === 'compact') compact(one.keep);
          else {
            const ids = Array.from({ length: one.calls }, (_, n) => `t${at}_${n}`);
            if (ids.length === 0) answer(`m${at}`, text('done'));
            for (const id of ids) {
              answer(`m${at}`, use(id));
              if (one.eager) say(result(id));
            }
            if (at % 5 === interruptAt) compact(at % 2);
            if (!one.eager) for (const id of ids.toReversed()) say(result(id));
            if (one.queued || ids.length === 0) say(text(`prompt ${at}`));
          }
          const { messages, notes } = normalizeWithNotes(transcript.chain);
          expect(notes).toEqual([]);
          expect(codes(messages)).toEqual([]);
          const summaries = messages.flatMap(({ content }, index) =>
            blocksOf(content).flatMap((block, n) => (String(block.text).startsWith('summary ') ? [[index, n]] : [])),
          );
          expect(summaries.every(([index, n]) => index === 0 && n === 0) && summaries.length <= 1).toBe(true);
        });
      }),
      { numRuns: 500 },
    );
  });
});
