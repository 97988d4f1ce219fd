import { describe, expect, it } from 'vitest';
import { describeTranscript, parseTranscript } from '../../src/messages/load.js';
import { normalizeMessagesForAPI } from '../../src/messages/normalize.js';
import { assistant, result, text, use, user } from './arbitraries.js';

const entry = (uuid: string, parentUuid: string | null, role: 'user' | 'assistant', content: unknown) =>
  JSON.stringify({ parentUuid, type: role, uuid, message: { role, content } });
const hi = entry('u0', null, 'user', [text('hi')]);
const call = entry('a1', 'u0', 'assistant', [use('A')]);
const answer = entry('r1', 'a1', 'user', [result('A')]);
const end = entry('a2', 'r1', 'assistant', [text('done {"type":"text"}')]);
const whole = [user(text('hi')), assistant(use('A')), user(result('A')), assistant(text('done {"type":"text"}'))];
const load = (file: string) => describeTranscript(parseTranscript(Buffer.from(file)), undefined);

describe('a line that holds more than one entry', () => {
  it.each<[string, string]>([
    ['two that were written at once', `${hi}\n${call}${answer}\n${end}\n`],
    ['all of them', `${hi}${call}${answer}${end}\n`],
    ['zeros of a lost block before it', `${hi}\n\0\0\0\0${call}\n${answer}\n${end}\n`],
    ['half an entry, and whole ones behind it', `${hi}\n${end.slice(0, 60)}${call}${answer}\n${end}\n`],
    ['half an entry behind a whole one', `${hi}\n${call}${end.slice(0, 60)}\n${answer}\n${end}\n`],
    ['half an entry behind a whole one, where the file ends', `${hi}\n${call}\n${answer}\n${end}${hi.slice(0, 20)}`],
  ])('%s: what can be read counts, and the line is reported', (_, file) => {
    const loaded = load(file);
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual(whole);
    expect(loaded.problems).toHaveLength(1);
    expect(loaded.problems[0]?.text).toMatch(/not valid JSON; of it, .* could be read/);
  });

  it('takes nothing from inside a damaged entry', () => {
    const inner = entry('x', null, 'user', [text('inner')]);
    const loaded = load(
      `${hi}\n{"type":"user","uuid":"y","message":{"role":"user","content":"${'{\\"type\\":'}"},"data":${inner.slice(0, -1)}\n`,
    );
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual([user(text('hi'))]);
  });

  it('is bounded, whatever the line', () => {
    const loaded = load(`${'{"type":'.repeat(200_000)}\n${hi}\n`);
    expect(loaded.problems.map(({ code }) => code)).toEqual(['corrupt_json']);
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual([user(text('hi'))]);
  });
});
