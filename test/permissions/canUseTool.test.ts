import { describe, expect, it } from 'vitest';
import type { PermissionQuestion } from '../../machines/permission.js';
import { answerWithCanUseTool, type CanUseTool, type CanUseToolOptions } from '../../src/permissions/canUseTool.js';

const question: PermissionQuestion = {
  id: 'ask:t1',
  callId: 't1',
  toolName: 'Bash',
  inputDigest: 'd1',
  cause: {
    check: 'checkingAskRule',
    behavior: 'ask',
    reason: 'Matches ask rule',
    source: {
      type: 'rule',
      rule: { behavior: 'ask', toolName: 'Bash', ruleContent: 'git push *', text: 'Bash(git push *)', scope: 'userSettings', root: '/' },
    },
  },
  suggestions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
  blockedPath: '/etc',
};

const signal = new AbortController().signal;
// A callback from outside may return anything.
const returning =
  (value: unknown): CanUseTool =>
  async () =>
    value as never;
const answer = (value: unknown, warnings: string[] = []) =>
  answerWithCanUseTool(returning(value), (warning) => warnings.push(warning))(question, { command: 'git push' }, signal);

describe('canUseTool', () => {
  it('is told the tool, its input and why it is asked', async () => {
    const calls: unknown[] = [];
    const canUseTool: CanUseTool = async (name, input, options: CanUseToolOptions) => {
      calls.push([name, input, { ...options, signal: options.signal === signal }]);
      return { behavior: 'allow' };
    };
    await answerWithCanUseTool(canUseTool)(question, { command: 'git push' }, signal);
    expect(calls).toEqual([
      [
        'Bash',
        { command: 'git push' },
        {
          signal: true,
          toolUseID: 't1',
          requestId: 'ask:t1',
          decisionReason: 'Matches ask rule',
          suggestions: question.suggestions,
          blockedPath: '/etc',
          matchedAskRule: 'Bash(git push *)',
        },
      ],
    ]);
  });

  it('answers for the call and the exact input that it was shown', async () => {
    expect(await answer({ behavior: 'allow' })).toEqual({
      callId: 't1',
      inputDigest: 'd1',
      answer: { behavior: 'allow', source: { type: 'person', surface: 'canUseTool' } },
    });
  });

  it('may change the input, refuse with a message, and stop the turn', async () => {
    expect(await answer({ behavior: 'allow', updatedInput: { command: 'ls' } })).toMatchObject({
      answer: { updatedInput: { command: 'ls' } },
    });
    expect(await answer({ behavior: 'deny', message: 'not now', interrupt: true })).toMatchObject({
      answer: { behavior: 'deny', message: 'not now', interrupt: true },
    });
  });

  it('may leave the answer to another way', async () => {
    expect(await answer(null)).toBeNull();
  });

  it('keeps its decision when the permission updates are malformed', async () => {
    const warnings: string[] = [];
    const updates = [{ type: 'setMode', mode: 'plan', destination: 'session' }, { type: 'grantAll' }];
    expect(await answer({ behavior: 'allow', updatedPermissions: updates }, warnings)).toMatchObject({
      answer: { behavior: 'allow', updatedPermissions: [{ mode: 'plan' }] },
    });
    expect(warnings).toEqual([expect.stringContaining('Permission update 1 was dropped')]);
  });

  it.each([undefined, true, {}, { behavior: 'allow', updatedInput: 'ls' }, { behavior: 'deny' }])(
    'denies when it answers %j',
    async (value) => {
      expect(await answer(value)).toMatchObject({
        answer: { behavior: 'deny', message: expect.stringContaining('canUseTool gave no usable answer') },
      });
    },
  );
});
