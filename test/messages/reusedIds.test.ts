import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeTranscript, parseTranscript } from '../../src/messages/load.js';
import { normalizeMessagesForAPI } from '../../src/messages/normalize.js';
import { checkPairing } from '../../src/messages/pairing.js';
import { repairMessages } from '../../src/messages/repair.js';
import { resumeState } from '../../src/messages/resume.js';
import type { ContentBlockParam } from '../../src/messages/types.js';
import { assistant, result, text, use, user } from './arbitraries.js';

const u = (uuid: string, parentUuid: string | null, ...content: ContentBlockParam[]) => ({
  type: 'user',
  uuid,
  parentUuid,
  message: { role: 'user', content },
});
const a = (uuid: string, parentUuid: string | null, message: { id?: string; requestId?: string }, ...content: ContentBlockParam[]) => ({
  type: 'assistant',
  uuid,
  parentUuid,
  ...(message.requestId === undefined ? {} : { requestId: message.requestId }),
  message: { role: 'assistant', ...(message.id === undefined ? {} : { id: message.id }), content },
});
const load = (...lines: object[]) =>
  describeTranscript(parseTranscript(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))), undefined);

describe('a call id that a later turn uses again', () => {
  const history = [
    user(text('hi')),
    assistant(use('call_0', { n: 1 })),
    user(result('call_0', 'one')),
    assistant(use('call_0', { n: 2 })),
    user(result('call_0', 'two')),
    assistant(text('done')),
    user(text('more')),
  ];
  const apart = [
    ...history.slice(0, 3),
    assistant(use('call_0_2', { n: 2 })),
    user(result('call_0_2', 'two')),
    assistant(text('done')),
    user(text('more')),
  ];

  it('is told apart in a history: no pair is lost, and each change is reported', () => {
    const { messages, setAside } = repairMessages(history);
    expect(messages).toEqual(apart);
    expect(setAside).toEqual([expect.objectContaining({ code: 'changed', id: 'call_0_2' })]);
    expect(repairMessages(messages)).toEqual({ messages, setAside: [] });
  });

  it('keeps away from an id that the history has already', () => {
    const { messages } = repairMessages([
      user(text('hi')),
      assistant(use('c'), use('c_2')),
      user(result('c'), result('c_2')),
      assistant(use('c', { n: 2 })),
      user(result('c', 'again')),
    ]);
    expect(messages.at(-1)).toEqual(user(result('c_3', 'again')));
  });

  it('is one call where the same pair only comes again', () => {
    const { messages } = repairMessages([...history.slice(0, 3), ...history.slice(1, 3)]);
    expect(messages).toEqual(history.slice(0, 3));
  });

  it('is told apart in a transcript, with parallel results that hang on their own calls', () => {
    const loaded = load(
      u('u0', null, text('hi')),
      a('a1', 'u0', { id: 'm1' }, use('call_0', { n: 1 })),
      a('a2', 'a1', { id: 'm1' }, use('call_1', { n: 2 })),
      u('r1', 'a1', result('call_0', 'one')),
      u('r2', 'a2', result('call_1', 'two')),
      a('a3', 'r2', { id: 'm2' }, use('call_0', { n: 3 })),
      a('a4', 'a3', { id: 'm2' }, use('call_1', { n: 4 })),
      u('r4', 'a4', result('call_1', 'four')),
      u('r3', 'a3', result('call_0', 'three')),
      a('a5', 'r4', { id: 'm3' }, text('done')),
    );
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual([
      user(text('hi')),
      assistant(use('call_0', { n: 1 }), use('call_1', { n: 2 })),
      user(result('call_0', 'one'), result('call_1', 'two')),
      assistant(use('call_0_2', { n: 3 }), use('call_1_2', { n: 4 })),
      user(result('call_0_2', 'three'), result('call_1_2', 'four')),
      assistant(text('done')),
    ]);
    expect(loaded.openCalls).toEqual([]);
    expect(loaded.problems.map(({ code }) => code)).toEqual(['reused_id']);
  });

  it('is an open call when the process ended before its result, and is closed under its own id', () => {
    const lines = [
      u('u0', null, text('hi')),
      a('a1', 'u0', { id: 'm1' }, use('call_0', { n: 1 })),
      u('r1', 'a1', result('call_0', 'one')),
      a('a2', 'r1', { id: 'm2' }, use('call_0', { n: 2 })),
    ];
    const state = resumeState(load(...lines));
    expect(state.openCalls).toMatchObject([{ id: 'call_0_2', input: { n: 2 } }]);
    const closed = load(...lines, ...state.closing.map((draft, n) => ({ ...draft, uuid: `c${n}`, parentUuid: 'a2' })));
    expect(closed.openCalls).toEqual([]);
    expect(normalizeMessagesForAPI(closed.chain)).toEqual(state.messages);
  });

  it('loses no pair whatever ids a gateway counts anew, and later turns change nothing of the earlier ones', () => {
    const turns = fc.array(fc.record({ calls: fc.integer({ min: 1, max: 3 }), named: fc.boolean() }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(turns, (given) => {
        let parent = 'u0';
        const lines: object[] = [u('u0', null, text('hi'))];
        const before: string[] = [];
        given.forEach(({ calls, named }, turn) => {
          for (let n = 0; n < calls; n++) {
            const uuid = `a${turn}_${n}`;
            lines.push(a(uuid, parent, named ? { id: `m${turn}` } : {}, use(`call_${n}`, { turn, n })));
            parent = uuid;
          }
          for (let n = 0; n < calls; n++) {
            lines.push(u(`r${turn}_${n}`, parent, result(`call_${n}`, `${turn}/${n}`)));
            parent = `r${turn}_${n}`;
          }
          const messages = normalizeMessagesForAPI(load(...lines).chain);
          expect(checkPairing(messages)).toEqual([]);
          expect(messages).toHaveLength(1 + 2 * (turn + 1));
          before.push(JSON.stringify(messages).slice(0, -1));
          if (turn > 0) expect(before[turn]?.startsWith(before[turn - 1] ?? '')).toBe(true);
        });
      }),
      { numRuns: 60 },
    );
  });
});

describe('a message id that a later answer has again', () => {
  it('stands for two answers where two requests gave it', () => {
    const loaded = load(
      u('u0', null, text('hi')),
      a('a1', 'u0', { id: 'm', requestId: 'req_1' }, text('first')),
      a('a2', 'a1', { id: 'm', requestId: 'req_1' }, use('t1')),
      u('r1', 'a2', result('t1')),
      a('a3', 'r1', { id: 'm', requestId: 'req_2' }, use('t2')),
      u('r2', 'a3', result('t2')),
      a('a4', 'r2', { id: 'm', requestId: 'req_3' }, text('done')),
    );
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual([
      user(text('hi')),
      assistant(text('first'), use('t1')),
      user(result('t1')),
      assistant(use('t2')),
      user(result('t2')),
      assistant(text('done')),
    ]);
  });

  it('stands for the answer that follows a discarded one: it counts, and so do its calls', () => {
    const loaded = load(
      u('u0', null, text('hi')),
      a('a1', 'u0', { id: 'm' }, use('t1', { n: 1 })),
      { type: 'system', subtype: 'message_discarded', uuid: 'd', parentUuid: 'a1', messageId: 'm' },
      a('a2', 'd', { id: 'm' }, use('t1', { n: 2 })),
      u('r2', 'a2', result('t1')),
    );
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual([user(text('hi')), assistant(use('t1', { n: 2 })), user(result('t1'))]);
    expect(loaded.openCalls).toEqual([]);
  });
});
