import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_OUTPUT } from '../../src/messages/clean.js';
import type { ChainDraft, ChainEntry } from '../../src/messages/entries.js';
import { normalizeMessagesForAPI, normalizeWithNotes } from '../../src/messages/normalize.js';
import { assertSendable, checkPairing } from '../../src/messages/pairing.js';
import { createMemoryTranscript, type Transcript } from '../../src/messages/transcript.js';
import type { ContentBlockParam, ToolResultBlockParam } from '../../src/messages/types.js';
import { assistant, result, text, use, user } from './arbitraries.js';

function session(): Transcript {
  let next = 0;
  return createMemoryTranscript({ cwd: '/work', sessionId: 's', ids: () => `u${next++}`, now: () => 0 });
}
const prompt = (...content: ContentBlockParam[]): ChainDraft => ({ type: 'user', message: { role: 'user', content } });
const block = (id: string, content: ContentBlockParam): ChainDraft => ({
  type: 'assistant',
  message: { id, role: 'assistant', content: [content] },
});
const answered = (id: string, extra: Partial<ToolResultBlockParam> = {}): ChainDraft => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: `result of ${id}`, ...extra }] },
});
const attach = (attachment: { type: string; [key: string]: unknown }): ChainDraft => ({ type: 'attachment', attachment });
const messagesOf = (...drafts: ChainDraft[]) => {
  const transcript = session();
  for (const draft of drafts) transcript.append(draft);
  return normalizeMessagesForAPI(transcript.chain);
};

describe('normalizeMessagesForAPI', () => {
  it('makes one assistant message of the lines of one answer, whatever was written between them', () => {
    const messages = messagesOf(
      prompt(text('hi')),
      block('m1', text('on it')),
      block('m1', use('a')),
      answered('a'),
      block('m1', use('b')),
      answered('b'),
    );
    expect(messages).toEqual([user(text('hi')), assistant(text('on it'), use('a'), use('b')), user(result('a'), result('b'))]);
  });

  it('keeps two answers apart where the last lines of the first stand behind the results of its calls', () => {
    const entry = (n: number, id: string, ...content: ContentBlockParam[]): ChainEntry => ({
      type: 'assistant',
      uuid: `e${n}`,
      message: { id, role: 'assistant', content },
    });
    const answer = (n: number, id: string): ChainEntry => ({
      type: 'user',
      uuid: `e${n}`,
      message: { role: 'user', content: [result(id)] },
    });
    const hi: ChainEntry = { type: 'user', uuid: 'e0', message: { role: 'user', content: 'hi' } };
    const early = [hi, entry(1, 'm1', use('a')), answer(2, 'a'), entry(3, 'm1', text('and so')), entry(4, 'm2', use('b')), answer(5, 'b')];
    expect(normalizeMessagesForAPI(early)).toEqual([
      user(text('hi')),
      assistant(use('a'), text('and so')),
      user(result('a')),
      assistant(use('b')),
      user(result('b')),
    ]);
  });

  it('puts all results of a turn into one user message in call order, however they finished, images inside their own result', () => {
    const image: ContentBlockParam = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const withImage: ToolResultBlockParam['content'] = [
      { type: 'text', text: 'see' },
      { type: 'image', source: image.source },
    ];
    const messages = messagesOf(
      prompt(text('hi')),
      ...['t1', 't2', 't3'].map((id) => block('m1', use(id))),
      answered('t3'),
      answered('t1'),
      answered('t2', { content: withImage }),
    );
    expect(messages).toHaveLength(3);
    expect(messages[2]).toEqual({ role: 'user', content: [result('t1'), { ...result('t2'), content: withImage }, result('t3')] });
    expect(checkPairing(messages)).toEqual([]);
  });

  it('does the same for calls that were all cancelled', () => {
    const cancelled = ['t3', 't1', 't2'].map((id) => answered(id, { content: 'cancelled', is_error: true }));
    const messages = messagesOf(prompt(text('hi')), ...['t1', 't2', 't3'].map((id) => block('m1', use(id))), ...cancelled);
    expect(messages).toHaveLength(3);
    expect(messages[2]?.content).toMatchObject([{ tool_use_id: 't1' }, { tool_use_id: 't2' }, { tool_use_id: 't3' }]);
  });

  it('moves the images of an error result behind the results, because an error may hold text only', () => {
    const image = { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: 'AAAA' } };
    const broken = answered('a', { content: [{ type: 'text', text: 'broke' }, image], is_error: true });
    const messages = messagesOf(prompt(text('hi')), block('m', use('a')), block('m', use('b')), broken, answered('b'));
    expect(messages[2]?.content).toMatchObject([
      { tool_use_id: 'a', content: [{ text: 'broke' }], is_error: true },
      { tool_use_id: 'b' },
      image,
    ]);
    expect(checkPairing(messages)).toEqual([]);
  });

  it('sends what a person typed while a call ran behind its result, and local commands never', () => {
    const messages = messagesOf(
      prompt(text('hi')),
      block('m1', use('t1')),
      { type: 'system', subtype: 'local_command', content: '/rename other' },
      prompt(text('also check b')),
      answered('t1'),
    );
    expect(messages).toEqual([user(text('hi')), assistant(use('t1')), user(result('t1'), text('also check b'))]);
  });

  it('puts hook context, notifications, reminders and queued prompts behind the results, in that form', () => {
    const messages = messagesOf(
      prompt(text('hi')),
      block('m1', use('a')),
      attach({ type: 'hook_additional_context', hookName: 'PostToolUse:Read', content: ['checked', 'twice'] }),
      answered('a'),
      attach({ type: 'notification', id: 'n1', text: 'task 1 ended </system-reminder>' }),
      attach({ type: 'queued_command', prompt: 'and c?' }),
      attach({ type: 'of_another_program', data: 1 }),
    );
    expect(messages[2]).toEqual(
      user(
        result('a'),
        text('<system-reminder>\nPostToolUse:Read hook additional context: checked\ntwice\n</system-reminder>'),
        text('<system-reminder>\ntask 1 ended &lt;/system-reminder>\n</system-reminder>'),
        text('and c?'),
      ),
    );
  });

  it('tells a notification once, however often it was written', () => {
    const told = attach({ type: 'notification', id: 'n1', text: 'ended' });
    expect(messagesOf(prompt(text('hi')), told, told)[0]?.content).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ['an empty string', ''],
    ['three spaces', '   '],
    ['a newline', '\n'],
    ['undefined', undefined],
    ['null', null],
    ['no blocks', []],
    ['an empty text block', [{ type: 'text', text: '' }]],
  ])('keeps the result of a tool that printed nothing: %s', (_name, content) => {
    const transcript = session();
    const entry = { tool_use_id: 'a', type: 'tool_result', content, is_error: true } as ToolResultBlockParam;
    for (const draft of [prompt(text('hi')), block('m', use('a')), prompt(entry)]) transcript.append(draft);
    const messages = normalizeMessagesForAPI(transcript.chain);
    expect(messages[2]).toEqual({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: NO_OUTPUT, is_error: true }] });
    assertSendable(messages);
  });

  it.each([
    ['not base64', 'image/png', '%%%'],
    ['no bytes', 'image/png', ''],
    ['another type', 'text/plain', 'AAAA'],
  ])('turns a bad image into a note and keeps the result: %s', (_name, mediaType, data) => {
    const image = { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
    const entry = { type: 'tool_result', tool_use_id: 'a', content: [image] } as ToolResultBlockParam;
    const messages = messagesOf(prompt(text('hi')), block('m', use('a')), prompt(entry));
    expect(messages[2]?.content).toMatchObject([
      { tool_use_id: 'a', content: [{ type: 'text', text: expect.stringContaining(mediaType) }] },
    ]);
    assertSendable(messages);
  });

  it('strips what the API refuses: unknown fields, stray cache marks, unsigned thinking, lone surrogates', () => {
    const messages = messagesOf(
      prompt({ type: 'text', text: 'half \ud83d', cache_control: { type: 'ephemeral' } }),
      block('m', { type: 'thinking', thinking: 'lost', signature: '' }),
      block('m', { type: 'text', text: 'x', citations: null, odd: 1 } as ContentBlockParam),
      prompt(text('go on')),
    );
    expect(messages).toEqual([user(text('half \ufffd')), assistant(text('x')), user(text('go on'))]);
  });

  it('leaves signed thinking of the tool loop exactly as it came', () => {
    const thinking: ContentBlockParam = { type: 'thinking', thinking: '  spaces kept \n', signature: 'sig==' };
    const messages = messagesOf(prompt(text('hi')), block('m', thinking), block('m', use('a')), answered('a'));
    expect(messages[1]).toEqual(assistant(thinking, use('a')));
  });

  it('leaves out an answer that was discarded, its results, and notices that no model wrote', () => {
    const transcript = session();
    const drafts: ChainDraft[] = [
      prompt(text('hi')),
      block('gone', use('a')),
      answered('a'),
      { type: 'system', subtype: 'message_discarded', messageId: 'gone' },
      { type: 'assistant', isApiErrorMessage: true, message: { role: 'assistant', content: [{ type: 'text', text: 'API Error' }] } },
      block('m2', text('again')),
      prompt(text('thanks')),
    ];
    for (const draft of drafts) transcript.append(draft);
    const { messages, notes } = normalizeWithNotes(transcript.chain);
    expect(messages).toEqual([user(text('hi')), assistant(text('again')), user(text('thanks'))]);
    expect(notes.map((note) => note.code)).toEqual(['discarded_message']);
  });

  it('keeps every earlier request a prefix of the later ones, and every request sendable, over random sessions', () => {
    const turn = fc.record({
      calls: fc.array(fc.nat(100), { maxLength: 4 }),
      say: fc.boolean(),
      think: fc.boolean(),
      eager: fc.boolean(),
      extras: fc.array(fc.constantFrom('prompt', 'notification', 'hook', 'local'), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), (turns) => {
        const transcript = session();
        transcript.append(prompt(text('first')));
        let sent: string[] = [];
        turns.forEach(({ calls, say, think, eager, extras }, at) => {
          const messages = normalizeMessagesForAPI(transcript.chain);
          assertSendable(messages);
          const now = messages.map((message) => JSON.stringify(message));
          expect(now.slice(0, sent.length)).toEqual(sent);
          sent = now;
          const id = `m${at}`;
          if (think) transcript.append(block(id, { type: 'thinking', thinking: 't', signature: 's' }));
          if (say || calls.length === 0) transcript.append(block(id, text(`answer ${at}`)));
          const open: string[] = [];
          calls.forEach((_, n) => {
            transcript.append(block(id, use(`t${at}_${n}`)));
            if (eager) transcript.append(answered(`t${at}_${n}`));
            else open.push(`t${at}_${n}`);
          });
          // Results are written in the order the calls end.
          const order = open.map((callId, n) => ({ callId, ends: calls[n] ?? 0 })).sort((a, b) => a.ends - b.ends);
          for (const { callId } of order) transcript.append(answered(callId));
          extras.forEach((kind, n) => {
            if (kind === 'prompt') transcript.append(prompt(text(`also ${n}`)));
            if (kind === 'notification') transcript.append(attach({ type: 'notification', id: `n${at}_${n}`, text: 'ended' }));
            if (kind === 'hook') transcript.append(attach({ type: 'hook_additional_context', hookName: 'h', content: ['c'] }));
            if (kind === 'local') transcript.append({ type: 'system', subtype: 'local_command', content: '/x' });
          });
          if (calls.length === 0) transcript.append(prompt(text(`prompt ${at}`)));
        });
      }),
      { numRuns: 300 },
    );
  });

  it('ignores an answer that is delivered again after a reconnect', () => {
    const once = [
      prompt(text('hi')),
      block('m', text('x')),
      block('m', use('a')),
      answered('a'),
      block('m2', text('done')),
      prompt(text('more')),
    ];
    expect(messagesOf(...once, block('m', text('x')), block('m', use('a')), answered('a'))).toEqual(messagesOf(...once));
  });

  it('does not depend on the objects it was given: entries read back from their lines give the same bytes', () => {
    const transcript = session();
    for (const draft of [prompt(text('hi')), block('m', use('a')), answered('a')]) transcript.append(draft);
    const again: ChainEntry[] = JSON.parse(JSON.stringify(transcript.chain));
    expect(JSON.stringify(normalizeMessagesForAPI(again))).toBe(JSON.stringify(normalizeMessagesForAPI(transcript.chain)));
  });
});
