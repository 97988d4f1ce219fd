import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MISSING_BEGINNING, UNKNOWN_OUTCOME } from '../../src/messages/assemble.js';
import { blocksOf, isClientToolUse, textField } from '../../src/messages/blocks.js';
import { checkPairing } from '../../src/messages/pairing.js';
import { repairMessages } from '../../src/messages/repair.js';
import type { MessageParam } from '../../src/messages/types.js';
import { anyHistory, assistant, damagedHistory, found, goodHistory, result, search, text, use, user } from './arbitraries.js';

const hi = user(text('hi'));
const repaired = (...messages: MessageParam[]) => repairMessages(messages);
const synthetic = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: UNKNOWN_OUTCOME, is_error: true });
const allBlocks = (messages: readonly MessageParam[]) => messages.flatMap((message) => blocksOf(message.content));

describe('repairMessages', () => {
  it('leaves a good history as it is, byte for byte', () => {
    fc.assert(
      fc.property(goodHistory, (history) => {
        const { messages, setAside } = repairMessages(history);
        expect(JSON.stringify(messages)).toBe(JSON.stringify(history));
        expect(setAside).toEqual([]);
      }),
    );
  });

  it.each([
    ['any blocks under any roles', anyHistory],
    ['good histories that were damaged', damagedHistory],
  ])('always produces what the API takes, and is idempotent: %s', (_name, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (history) => {
        const once = repairMessages(history).messages;
        expect(checkPairing(once).map((problem) => problem.text)).toEqual([]);
        const twice = repairMessages(once);
        expect(twice.messages).toEqual(once);
        expect(twice.setAside).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  it('never drops a call that has a result, nor the first result of a call', () => {
    fc.assert(
      fc.property(damagedHistory, (history) => {
        const blocks = allBlocks(history);
        const after = allBlocks(repairMessages(history).messages);
        for (const call of blocks.filter(isClientToolUse)) {
          const first = blocks.find((block) => block.type === 'tool_result' && block.tool_use_id === call.id);
          if (first === undefined) continue;
          expect(after.filter((block) => isClientToolUse(block) && block.id === call.id)).toHaveLength(1);
          expect(after.filter((block) => block.tool_use_id === call.id)).toEqual([first]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('accounts for every block: sent, or reported with the block itself', () => {
    fc.assert(
      fc.property(damagedHistory, (history) => {
        const { messages, setAside } = repairMessages(history);
        const kept = new Set(
          [...allBlocks(messages), ...setAside.flatMap(({ block }) => block ?? [])].map((block) => JSON.stringify(block)),
        );
        for (const block of allBlocks(history)) expect(kept).toContain(JSON.stringify(block));
      }),
      { numRuns: 500 },
    );
  });

  it('puts an error result right behind an unanswered call, at the end and in the middle', () => {
    expect(repaired(hi, assistant(use('a'))).messages).toEqual([hi, assistant(use('a')), { role: 'user', content: [synthetic('a')] }]);
    expect(repaired(hi, assistant(use('a')), user(text('go on')), assistant(text('yes')), hi).messages[2]).toEqual({
      role: 'user',
      content: [synthetic('a'), text('go on')],
    });
    expect(repaired(hi, assistant(use('a')), assistant(text('lost')), hi).messages).toEqual([
      hi,
      assistant(use('a')),
      { role: 'user', content: [synthetic('a')] },
      assistant(text('lost')),
      hi,
    ]);
  });

  it('keeps a reason the caller gives for an unanswered call', () => {
    const { messages } = repairMessages([hi, assistant(use('a'))], { unanswered: ({ id, name }) => `${name} ${id}: not run` });
    expect(allBlocks(messages).at(-1)).toMatchObject({ content: 'Read a: not run', is_error: true });
  });

  it('sets orphan results aside and reports them with their id', () => {
    const { messages, setAside } = repaired(user(result('gone'), text('hi')));
    expect(messages).toEqual([hi]);
    expect(setAside).toMatchObject([{ code: 'orphan_result', id: 'gone', block: result('gone') }]);
  });

  it.each<[string, unknown, unknown]>([
    ['texts without blocks', ['one', 'two'], [text('one'), text('two')]],
    ['a value', { ok: true, rows: [1] }, [text('{"ok":true,"rows":[1]}')]],
    ['values in a list', [{ ok: true }, 7, null], [text('{"ok":true}'), text('7')]],
    ['one block without a list', text('alone'), [text('alone')]],
    ['a number', 7, '7'],
    ['nothing', null, '(no output)'],
  ])('keeps a result that is %s', (_, content, expected) => {
    const damaged = JSON.parse(JSON.stringify([hi, assistant(use('a')), user({ type: 'tool_result', tool_use_id: 'a' })]));
    damaged[2].content[0].content = content;
    const { messages } = repaired(...damaged);
    expect(messages[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'a', content: expected }]);
  });

  it('sets aside what is no message, and says so of what is no history', () => {
    const damaged = JSON.parse(JSON.stringify([null, hi, 'text', assistant(text('yes')), { content: 'x' }, [], hi]));
    expect(checkPairing(damaged).map(({ code }) => code)).toContain('bad_role');
    const { messages, setAside } = repaired(...damaged);
    expect(messages).toEqual([hi, assistant(text('yes')), hi]);
    expect(setAside.map(({ code }) => code)).toEqual(['set_aside', 'set_aside', 'set_aside', 'set_aside']);
    expect(() => repairMessages(JSON.parse('{"messages":[]}'))).toThrow(/takes an array/);
  });

  it('keeps the first of duplicate calls and results', () => {
    const { messages, setAside } = repaired(hi, assistant(use('a'), use('a')), user(result('a', 'first'), result('a', 'second')));
    expect(messages).toEqual([hi, assistant(use('a')), user(result('a', 'first'))]);
    expect(setAside.map((note) => note.code).toSorted()).toEqual(['duplicate_call', 'duplicate_result']);
  });

  it('brings parallel calls that were split over messages together, results in call order', () => {
    const split = [
      hi,
      assistant(use('a')),
      assistant(use('b')),
      assistant(use('c')),
      user(result('c')),
      user(result('a')),
      user(result('b'), text('x')),
    ];
    expect(repaired(...split).messages).toEqual([
      hi,
      assistant(use('a'), use('b'), use('c')),
      user(result('a'), result('b'), result('c'), text('x')),
    ]);
  });

  it('moves a result that came too late back to its call', () => {
    const late = [hi, assistant(use('a')), user(text('local command')), assistant(text('hm')), user(result('a'), text('next'))];
    expect(repaired(...late).messages).toEqual([
      hi,
      assistant(use('a')),
      user(result('a'), text('local command')),
      assistant(text('hm')),
      user(text('next')),
    ]);
  });

  it('never answers a server call, and holds text back while one is pending', () => {
    const mixed = [hi, assistant(search('srvtoolu_1'), use('a')), user(result('a'), result('srvtoolu_1'), text('also'))];
    const now = repaired(...mixed);
    expect(now.messages.at(-1)).toEqual(user(result('a')));
    expect(now.setAside.map((note) => note.code).toSorted()).toEqual(['deferred', 'orphan_result']);
    const later = repaired(...mixed, assistant(found('srvtoolu_1'), text('done')));
    expect(later.messages.slice(2)).toEqual([user(result('a')), assistant(found('srvtoolu_1'), text('done')), user(text('also'))]);
  });

  it('gives ids of other programs an acceptable form, the same for call and result, without collisions', () => {
    const { messages } = repaired(hi, assistant(use('call|1'), use('call_1')), user(result('call_1', 'two'), result('call|1', 'one')));
    expect(messages.slice(1)).toEqual([
      assistant(use('call_1'), use('call_1_2')),
      user(result('call_1', 'one'), result('call_1_2', 'two')),
    ]);
  });

  it('puts a user message before a conversation whose beginning is lost', () => {
    expect(repaired(assistant(use('a')), user(result('a'))).messages[0]).toEqual(user(text(MISSING_BEGINNING)));
  });

  it('drops what a model asked for before a fallback to another model, with the results', () => {
    const fallback = { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } };
    const answer = { role: 'assistant', content: [text('so far'), use('old'), fallback, use('new')] } as MessageParam;
    const { messages, setAside } = repaired(hi, answer, user(result('old'), result('new')));
    expect(messages).toEqual([hi, { role: 'assistant', content: [text('so far'), fallback, use('new')] }, user(result('new'))]);
    expect(setAside.map((note) => textField(note.block ?? { type: '' }, 'type'))).toEqual(['tool_use', 'tool_result']);
  });

  it('gives what stands in for a result the toolset of its call', () => {
    const call = { ...use('a'), toolset_name: 'browser' };
    const { messages } = repaired(hi, { role: 'assistant', content: [call] });
    expect(messages[2]?.content).toMatchObject([{ tool_use_id: 'a', toolset_name: 'browser', is_error: true }]);
  });

  it('puts words in the place of a document without a source', () => {
    const broken: unknown = JSON.parse('[{"role":"user","content":[{"type":"document"}]}]');
    const { messages } = repairMessages(Array.isArray(broken) ? broken : []);
    expect(messages).toEqual([user(text('[Document left out: it has no source]'))]);
    expect(checkPairing(Array.isArray(broken) ? broken : []).map(({ code }) => code)).toEqual(['bad_block']);
  });

  it('leaves changes of the tools in the middle of a conversation as they are', () => {
    const change: unknown = JSON.parse(
      '{"role":"system","content":[{"type":"tool_addition","tool":{"name":"New"}},{"type":"text","text":"note"}]}',
    );
    const history = [hi, change, assistant(text('yes')), user(text('go on'))].filter((one): one is MessageParam => typeof one === 'object');
    expect(checkPairing(history)).toEqual([]);
    expect(repairMessages(history).messages).toEqual(history);
  });

  it('reads what other programs write as text: an input, and that a result is an error', () => {
    const history: MessageParam[] = JSON.parse(
      JSON.stringify([
        hi,
        {
          role: 'assistant',
          content: [
            { ...use('a'), input: '{"path":"x"}' },
            { ...use('b'), input: 'no JSON' },
          ],
        },
        { role: 'user', content: [{ ...result('a', 'broke'), is_error: 'true' }, result('b')] },
      ]),
    );
    const { messages } = repairMessages(history);
    expect(messages[1]?.content).toMatchObject([{ input: { path: 'x' } }, { input: { input: 'no JSON' } }]);
    expect(messages[2]?.content).toMatchObject([{ tool_use_id: 'a', is_error: true }, { tool_use_id: 'b' }]);
  });

  it.each(['{"type":"url"}', '{"type":"url","url":" "}', '{"type":"file"}'])(
    'puts words in the place of an image that refers to nothing: %s',
    (source) => {
      const history: MessageParam[] = JSON.parse(`[{"role":"user","content":[{"type":"image","source":${source}}]}]`);
      expect(checkPairing(history).map(({ code }) => code)).toEqual(['bad_image']);
      expect(repairMessages(history).messages).toMatchObject([{ content: [{ type: 'text' }] }]);
    },
  );
});
