import { describe, expect, it } from 'vitest';
import { createYesTo, readChoice, readPermissionAnswer, TerminalAsker } from '../../src/cli/ask.js';
import { CliError } from '../../src/cli/failure.js';
import { Prompter } from '../../src/cli/prompter.js';
import { createScreen } from '../../src/cli/screen.js';
import type { PermissionPrompt } from '../../src/session/questions.js';
import { tempDir } from '../support/sessions.js';
import { FakeTerminal } from './support/fakeTerminal.js';

const prompt = (callId: string, command: string): PermissionPrompt => ({
  id: `ask:${callId}`,
  callId,
  toolName: 'Bash',
  inputDigest: `digest-${callId}`,
  cause: { check: 'mode', behavior: 'ask', reason: 'Nothing allows it' },
  suggestions: [
    { type: 'addRules', rules: [{ toolName: 'Bash', ruleContent: 'npm test *' }], behavior: 'allow', destination: 'localSettings' },
  ],
  input: { command },
  title: 'Run it',
});

function desk() {
  const terminal = new FakeTerminal();
  const screen = createScreen(terminal.output);
  const prompter = new Prompter(terminal.input, terminal.output, screen);
  const interrupts: string[] = [];
  const asker = new TerminalAsker(prompter, screen, () => interrupts.push('interrupt'));
  return { terminal, screen, prompter, asker, interrupts, never: new AbortController().signal };
}

describe('questions at the terminal', () => {
  it('show the exact input, and take a plain yes only', async () => {
    const { terminal, asker, never } = desk();
    const answer = asker.permission(prompt('c1', 'rm -rf build\u202e'), never);
    await terminal.shows('allow? ');
    expect(terminal.text).toContain('command: rm -rf build\\u{202e}');
    expect(terminal.text).toContain('Nothing allows it');
    terminal.type('yes but not that\r');
    await terminal.shows('Please answer y, a, n or s.');
    terminal.type('y\r');
    expect(await answer).toEqual({ behavior: 'allow', source: { type: 'person', surface: 'terminal' } });
    expect(terminal.rawModes.at(-1)).toBe(false);
  });

  it('are put one after another, and one that was withdrawn meanwhile is not put', async () => {
    const { terminal, asker, never } = desk();
    const withdrawn = new AbortController();
    const first = asker.permission(prompt('c1', 'first'), never);
    const second = asker.permission(prompt('c2', 'second'), withdrawn.signal);
    const third = asker.permission(prompt('c3', 'third'), never);
    await terminal.shows('command: first');
    expect(terminal.text).not.toContain('command: third');
    withdrawn.abort();
    terminal.type('n use the script\r');
    expect(await first).toMatchObject({ behavior: 'deny', message: 'use the script' });
    await expect(second).rejects.toThrow('withdrawn');
    await terminal.shows('command: third');
    expect(terminal.text).not.toContain('command: second');
    terminal.type('s\r');
    expect(await third).toMatchObject({ behavior: 'deny', interrupt: true });
  });

  it('leave the screen when somebody else answers first, and give back what was being typed', async () => {
    const { terminal, prompter, asker, screen } = desk();
    const lines: string[] = [];
    prompter.open({ prompt: '› ', onLine: (text) => lines.push(text), onInterrupt: () => {}, onEnd: () => {} });
    terminal.type('half a li');
    const elsewhere = new AbortController();
    const answer = asker.permission(prompt('c1', 'ls'), elsewhere.signal);
    await terminal.shows('allow? ');
    terminal.type('n no');
    await terminal.shows('n no');
    elsewhere.abort();
    await expect(answer).rejects.toThrow('withdrawn');
    terminal.type('ne\r');
    screen.refresh();
    expect(lines).toEqual(['half a line']);
  });

  it('turn Ctrl-C into an interrupt', async () => {
    const { terminal, asker, interrupts } = desk();
    const aborted = new AbortController();
    const answer = asker.permission(prompt('c1', 'ls'), aborted.signal);
    await terminal.shows('allow? ');
    terminal.type('\u0003');
    expect(interrupts).toEqual(['interrupt']);
    aborted.abort();
    await expect(answer).rejects.toThrow('withdrawn');
  });

  it('of a tool are answered by number, by several numbers, or in own words', async () => {
    const { terminal, asker, never } = desk();
    const options = [
      { label: 'Red', description: 'warm' },
      { label: 'Blue', description: 'cold' },
    ];
    const questions = [
      { question: 'Which colour?', header: 'Colour', options, multiSelect: false },
      { question: 'Which ones?', header: 'Colours', options, multiSelect: true },
      { question: 'And else?', header: 'Else', options, multiSelect: false },
    ];
    const answers = asker.questions({ callId: 'c1', questions }, never);
    await terminal.shows('Which colour?');
    terminal.type('7\r');
    await terminal.shows('Please answer with 1 to 2');
    terminal.type('2\r');
    await terminal.shows('Which ones?');
    terminal.type('1, 2\r');
    await terminal.shows('And else?');
    terminal.type('something green\r');
    expect(await answers).toEqual({ 'Which colour?': 'Blue', 'Which ones?': 'Red, Blue', 'And else?': 'something green' });
  });

  it('of AskUserQuestion need no permission first: whoever answers has agreed to be asked', async () => {
    const { asker, never } = desk();
    expect(await asker.permission({ ...prompt('c1', ''), toolName: 'AskUserQuestion' }, never)).toMatchObject({ behavior: 'allow' });
  });
});

describe('an answer', () => {
  it('"always" holds for this session, whatever file was suggested', () => {
    expect(readPermissionAnswer('a', prompt('c1', 'x'))).toMatchObject({
      behavior: 'allow',
      updatedPermissions: [{ type: 'addRules', destination: 'session' }],
    });
    expect(readPermissionAnswer('a', { suggestions: [] })).toBeUndefined();
  });
  it('that is none of the choices is not taken for one', () => {
    for (const words of ['', '  ', 'yup', 'y then rm', 'a bit', 'maybe'])
      expect(readPermissionAnswer(words, prompt('c1', 'x'))).toBeUndefined();
  });
  it('with a number outside the choices is not taken for words', () => {
    const question = { options: [{ label: 'A', description: '' }], multiSelect: true };
    expect(readChoice('1,3', question)).toBeUndefined();
    expect(readChoice('1', question)).toBe('A');
    expect(readChoice('', question)).toBeUndefined();
  });
});

describe('--yes-to', () => {
  const yesTo = createYesTo(['Bash(npm test *)'], tempDir(), tempDir());
  it('says yes to exactly what the rule covers', () => {
    expect(yesTo(prompt('c1', 'npm test --watch'))).toMatchObject({ behavior: 'allow' });
    expect(yesTo(prompt('c1', 'npm test && rm -rf .'))).toBeUndefined();
    expect(yesTo(prompt('c1', 'npm install'))).toBeUndefined();
  });
  it('refuses what is not a rule and says what one looks like', () => {
    expect(() => createYesTo(['(('], '/', '/')).toThrow(CliError);
    expect(() => createYesTo(['(('], '/', '/')).toThrow(/A rule looks like/);
  });
});
