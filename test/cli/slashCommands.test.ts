import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toMarkdown } from '../../src/cli/exportSession.js';
import { createScreen } from '../../src/cli/screen.js';
import { isSlashCommand, runSlashCommand, type Talk } from '../../src/cli/slashCommands.js';
import { type Script, text, toolUse } from '../../src/testing/index.js';
import { scene, testTool } from '../support/sessions.js';
import { FakeTerminal } from './support/fakeTerminal.js';

async function talk(script: Script = [], isBusy = false) {
  const made = await scene(script, { tools: [testTool({ name: 'Look' })], permissions: { allow: ['Look'], deny: ['Bash(rm *)'] } });
  const terminal = new FakeTerminal({ isTTY: false });
  const switched: unknown[] = [];
  const left: string[] = [];
  const it: Talk = {
    session: made.session,
    screen: createScreen(terminal.output),
    place: { cwd: made.cwd, dataDir: join(made.cwd, 'data') },
    model: 'the-model',
    isBusy,
    switchTo: async (change) => {
      switched.push(change);
    },
    inspect: async () => 'http://127.0.0.1:1/#token=x',
    leave: () => left.push('left'),
  };
  return { ...made, terminal, switched, left, run: (line: string) => runSlashCommand(line, it) };
}

describe('slash commands', () => {
  it('are first words, not paths', () => {
    expect(['/help', '/tasks stop x', '/foo'].map(isSlashCommand)).toEqual([true, true, true]);
    expect(['/etc/hosts', ' /help', 'a /help', '/'].map(isSlashCommand)).toEqual([false, false, false, false]);
  });

  it('that do not exist are named, with the nearest one', async () => {
    const { run } = await talk();
    await expect(run('/mdoe plan')).rejects.toThrow('There is no command /mdoe. Did you mean /mode?');
  });

  it('/permissions lists every rule with its origin, and changes them for this session', async () => {
    const { run, terminal, session } = await talk();
    await run('/permissions ask Write');
    await run('/permissions');
    expect(terminal.raw).toContain('  deny   Bash(rm *)  (option)\n');
    expect(terminal.raw).toContain('  ask    Write  (session)\n');
    await run('/permissions remove Write');
    expect(session.rules.map((rule) => rule.text)).not.toContain('Write');
    await expect(run('/permissions allow ((')).rejects.toThrow('is not a rule');
    await expect(run('/permissions loosen Write')).rejects.toThrow('allow|ask|deny|remove');
  });

  it('/mode changes the mode and refuses one that does not exist', async () => {
    const { run, session, terminal } = await talk();
    await run('/mode acceptEdits');
    expect(session.mode).toBe('acceptEdits');
    expect(terminal.raw).toContain('Mode: acceptEdits');
    await expect(run('/mode yolo')).rejects.toThrow('There is no mode yolo');
  });

  it('/model and /resume wait until the query has ended', async () => {
    const busy = await talk([], true);
    await expect(busy.run('/model other')).rejects.toThrow('must wait');
    const idle = await talk();
    await idle.run('/model other');
    expect(idle.switched).toEqual([{ model: 'other' }]);
    await expect(idle.run('/resume nosuch')).rejects.toThrow('There is no session nosuch');
  });

  it('/tasks says that there are none, and that an id is unknown', async () => {
    const { run, terminal } = await talk();
    await run('/tasks');
    expect(terminal.raw).toContain('No background tasks.');
    await expect(run('/tasks stop nosuch')).rejects.toThrow('nosuch');
  });

  it('/export writes the conversation, and never over a file', async () => {
    const { run, session, cwd } = await talk([[text('I will look.'), toolUse('Look', { at: 'it' })], [text('Seen.')]]);
    await session.send('look at it').done;
    await run('/export talk.md');
    const written = readFileSync(join(cwd, 'talk.md'), 'utf8');
    expect(written).toContain('**You:** look at it');
    expect(written).toContain('**Look**');
    expect(written).toContain('Seen.');
    await expect(run('/export talk.md')).rejects.toThrow('it exists already');
  });

  it('/exit and /quit leave', async () => {
    const { run, left } = await talk();
    await run('/exit');
    await run('/quit');
    expect(left).toHaveLength(2);
  });
});

describe('a conversation as Markdown', () => {
  it('fences a text that has fences of its own', () => {
    const content = [{ type: 'tool_result' as const, tool_use_id: 't', content: '```js\n1\n```', is_error: true }];
    expect(toMarkdown('s', [{ role: 'user', content }])).toBe('# Session s\n\nFailed:\n\n````\n```js\n1\n```\n````\n');
  });
});
