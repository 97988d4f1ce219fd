import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { apiError, stop, text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';

/** A project whose hook for the event keeps what it is told in `told.json`. */
function project(event: string, command = 'cat > told.tmp; mv told.tmp told.json', matcher?: string): string {
  const cwd = tempDir();
  mkdirSync(join(cwd, '.claude'));
  const group = { ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: 'command', command }] };
  writeFileSync(join(cwd, '.claude/settings.json'), JSON.stringify({ hooks: { [event]: [group] } }));
  return cwd;
}
const told = (cwd: string): JsonObject => JSON.parse(readFileSync(join(cwd, 'told.json'), 'utf8'));
const settings = () => ({ home: tempDir() });

describe('a Notification hook', () => {
  it('is told that a question waits, and the question does not wait for it', async () => {
    const cwd = project('Notification', 'cat > told.json; sleep 60');
    const made = await scene([[toolUse('Ask', { what: 'x' }, { id: 't1' })], [text('done')]], {
      cwd,
      settings: settings(),
      interactive: true,
      tools: [testTool({ name: 'Ask' })],
    });
    const asked = new Promise<void>((resolve) => {
      made.session.updates$.subscribe((update) => update.type === 'permission.requested' && setImmediate(resolve));
    });
    const sending = made.session.send('go');
    await asked;
    await expect.poll(() => existsSync(join(cwd, 'told.json')) && readFileSync(join(cwd, 'told.json'), 'utf8').endsWith('\n')).toBe(true);
    expect(told(cwd)).toMatchObject({
      hook_event_name: 'Notification',
      notification_type: 'permission_prompt',
      message: expect.stringContaining('Ask'),
    });
    const [prompt] = made.of('permission.requested');
    if (prompt === undefined) throw new Error('nothing was asked');
    const { callId, inputDigest } = prompt.prompt;
    made.session.answer(callId, inputDigest, { behavior: 'allow', source: { type: 'person', surface: 'test' } });
    expect((await sending.done).end).toBe('completed');
    await made.session.close();
    expect(made.of('hook.run').map(({ run }) => run.status)).toEqual(['cancelled']);
  });
});

describe('a StopFailure hook', () => {
  it.each([
    ['rate_limit', [apiError(429, 'rate_limit_error')], undefined],
    ['authentication_failed', [apiError(401, 'authentication_error')], 'authentication_failed'],
    ['max_output_tokens', [text('half'), stop('max_tokens')], undefined],
  ])('is told of a query that ended by %s', async (error, turn, matcher) => {
    const cwd = project('StopFailure', undefined, matcher);
    const made = await scene([turn], { cwd, settings: settings(), model: { retry: { maxRetries: 0 } } });
    await made.session.send('go').done;
    await expect.poll(() => existsSync(join(cwd, 'told.json'))).toBe(true);
    expect(told(cwd)).toMatchObject({ hook_event_name: 'StopFailure', error, error_details: expect.any(String) });
  });

  it('is not told of a query that ended well', async () => {
    const cwd = project('StopFailure');
    const made = await scene([[text('fine')]], { cwd, settings: settings() });
    await made.session.send('go').done;
    await made.session.close();
    expect(made.of('hook.run')).toEqual([]);
  });
});

describe('a PermissionDenied hook', () => {
  it.each([
    [false, 'too risky'],
    [true, 'too risky You may try this call again.'],
  ])('is told of what the classifier denies; with retry %s the model reads: %s', async (retry, words) => {
    const answer = JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionDenied', retry } });
    const cwd = project('PermissionDenied', `cat > told.json; echo '${answer}'`);
    const made = await scene([[toolUse('Act', { what: 'x' }, { id: 't1' })], [text('done')]], {
      cwd,
      settings: settings(),
      permissions: { mode: 'auto' },
      classifier: async () => ({ behavior: 'deny', reason: 'too risky' }),
      tools: [testTool({ name: 'Act', isReadOnly: () => false })],
    });
    await made.session.send('go').done;
    expect(made.results().get('t1')).toEqual({ text: expect.stringContaining(words), isError: true });
    expect(told(cwd)).toMatchObject({ tool_name: 'Act', tool_input: { what: 'x' }, tool_use_id: 't1', reason: 'too risky' });
  });
});
