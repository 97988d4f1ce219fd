import { describe, expect, it } from 'vitest';
import { ApprovalDesk, FlowLog } from '../../src/inspect/index.js';
import type { QuestionChoice } from '../../src/inspect/protocol/rpc.js';
import type { PermissionAnswer } from '../../src/permissions/types.js';

const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
const question = (text: string, multiSelect = false) => ({
  question: text,
  header: 'Way',
  options: [
    { label: 'Left', description: 'along the river' },
    { label: `Use ${SECRET}`, description: 'with the key' },
  ],
  multiSelect,
});

function asked() {
  const desk = new ApprovalDesk(new FlowLog({ redaction: { env: {}, salt: 'fixed' } }));
  const answers: PermissionAnswer[] = [];
  const questions = [question('Which way?'), question('What to take?', true)];
  const input = { questions };
  desk.open(
    { id: 'ask:1', toolUseId: '1', toolName: 'AskUserQuestion', title: 'Question', input, inputDigest: 'd', questions },
    (answer) => {
      answers.push(answer);
      return undefined;
    },
  );
  const give = (...given: readonly QuestionChoice[]) => desk.answer({ id: 'ask:1', inputDigest: 'd', behavior: 'allow', answers: given });
  return { desk, answers, input, give };
}

describe('questions with choices', () => {
  it('are shown masked and answered by what they really say', () => {
    const { desk, answers, input, give } = asked();
    expect(JSON.stringify(desk.pending)).not.toContain(SECRET);
    expect(desk.pending[0]?.questions?.[0]?.options[0]).toEqual({ label: 'Left', description: 'along the river' });
    expect(give({ options: [1], other: '' }, { options: [0, 1], other: ' a map ' })).toBeUndefined();
    expect(answers).toEqual([
      {
        behavior: 'allow',
        source: { type: 'person', surface: 'inspector' },
        updatedInput: { ...input, answers: { 'Which way?': `Use ${SECRET}`, 'What to take?': `Left, Use ${SECRET}, a map` } },
      },
    ]);
    expect(desk.pending).toEqual([]);
  });

  it.each([
    ['no answers', []],
    ['one too few', [{ options: [0], other: '' }]],
    [
      'blank words',
      [
        { options: [0], other: '' },
        { options: [], other: '  ' },
      ],
    ],
    [
      'a choice that is none',
      [
        { options: [7], other: '' },
        { options: [0], other: '' },
      ],
    ],
  ])('stay open after %s', (_what, given: readonly QuestionChoice[]) => {
    const { desk, answers, give } = asked();
    expect(give(...given)).toEqual({ code: 'invalidArguments', message: expect.stringContaining('Every question needs an answer') });
    expect(answers).toEqual([]);
    expect(desk.pending).toHaveLength(1);
  });

  it('can be refused without an answer', () => {
    const { desk, answers } = asked();
    expect(desk.answer({ id: 'ask:1', inputDigest: 'd', behavior: 'deny', message: 'not now' })).toBeUndefined();
    expect(answers).toMatchObject([{ behavior: 'deny', message: 'not now' }]);
  });
});
