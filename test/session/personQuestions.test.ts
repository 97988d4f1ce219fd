import { describe, expect, it } from 'vitest';
import type { SessionOptions } from '../../src/session/options.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene } from '../support/sessions.js';

const question = (text_: string, multiSelect = false) => ({
  question: text_,
  header: 'Way',
  options: [
    { label: 'Left', description: 'along the river' },
    { label: 'Right', description: 'over the hill' },
  ],
  multiSelect,
});
const questions = [question('Which way?'), question('What to take?', true)];
const ask = (more = {}) => [[toolUse('AskUserQuestion', { questions, ...more })], [text('done')]];
const options = (more: SessionOptions): SessionOptions => ({ builtInTools: ['AskUserQuestion'], ...more });
const only = <T>(values: Iterable<T>): T => {
  const [value] = values;
  if (value === undefined) throw new Error('there is none');
  return value;
};

describe('AskUserQuestion', () => {
  it('is answered by the answer to its permission question: canUseTool gives the input back with the answers in it', async () => {
    const { session, results, of } = await scene(
      ask(),
      options({
        canUseTool: async (_tool, input) => ({
          behavior: 'allow',
          updatedInput: { ...input, answers: { 'Which way?': 'Left', 'What to take?': ['Right', 'a map'] }, response: 'Take care.' },
        }),
      }),
    );
    await session.send('go').done;
    expect(only(results().values())).toEqual({ isError: false, text: 'Which way?\n→ Left\n\nWhat to take?\n→ Right, a map\n\nTake care.' });
    expect(of('question.asked')).toEqual([]);
  });

  it('is answered by a hook that allows it and gives the answers; one that only allows leaves the question to a person', async () => {
    const answered = async (answers?: Record<string, string>) => {
      const { session, results } = await scene(
        ask(),
        options({
          canUseTool: async () => ({ behavior: 'deny', message: 'a person was asked' }),
          hooks: {
            PreToolUse: [
              {
                hooks: [
                  async () => ({
                    hookSpecificOutput: {
                      hookEventName: 'PreToolUse',
                      permissionDecision: 'allow',
                      ...(answers ? { updatedInput: { questions, answers } } : {}),
                    },
                  }),
                ],
              },
            ],
          },
        }),
      );
      await session.send('go').done;
      return only(results().values()).text;
    };
    expect(await answered({ 'Which way?': 'Left', 'What to take?': 'Right' })).toBe('Which way?\n→ Left\n\nWhat to take?\n→ Right');
    expect(await answered()).toContain('a person was asked');
  });

  it('asks its questions when it was allowed without answers', async () => {
    const made = await scene(
      ask(),
      options({
        interactive: true,
        onUpdate: (update) => {
          if (update.type === 'permission.requested')
            made.session.answer(update.prompt.callId, update.prompt.inputDigest, {
              behavior: 'allow',
              source: { type: 'person', surface: 'test' },
            });
          if (update.type === 'question.asked')
            made.session.answerQuestion(update.prompt.callId, { 'Which way?': 'Right', 'What to take?': 'Left' });
        },
      }),
    );
    await made.session.send('go').done;
    expect(only(made.results().values())).toEqual({ isError: false, text: 'Which way?\n→ Right\n\nWhat to take?\n→ Left' });
  });

  it('cannot be answered by the model that asks', async () => {
    const asked: unknown[] = [];
    const { session, results } = await scene(
      ask({ answers: { 'Which way?': 'Left', 'What to take?': 'Left' } }),
      options({
        canUseTool: async (_tool, input) => {
          asked.push(input);
          return { behavior: 'allow' };
        },
      }),
    );
    await session.send('go').done;
    const { isError, text: said } = only(results().values());
    expect(isError).toBe(true);
    expect(said).toContain('answers');
    expect(asked).toEqual([]);
  });

  it('says which question an answer left open', async () => {
    const { session, results } = await scene(
      ask(),
      options({
        canUseTool: async (_tool, input) => ({ behavior: 'allow', updatedInput: { ...input, answers: { 'Which way?': 'Left' } } }),
      }),
    );
    await session.send('go').done;
    expect(only(results().values())).toEqual({ isError: true, text: expect.stringContaining('left "What to take?" unanswered') });
  });
});
