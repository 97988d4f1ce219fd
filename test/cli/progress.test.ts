import stringWidth from 'string-width';
import stripAnsi from 'strip-ansi';
import { describe, expect, it } from 'vitest';
import { CallTree } from '../../src/cli/callTree.js';
import { createProgressView } from '../../src/cli/progress.js';
import { createScreen } from '../../src/cli/screen.js';
import type { SessionUpdate } from '../../src/session/updates.js';
import { FakeTerminal } from './support/fakeTerminal.js';

const input = (callId: string, tool: string, title: string): SessionUpdate => ({ type: 'call.input', callId, tool, title, input: {} });
const result = (callId: string, tool: string): SessionUpdate => ({
  type: 'call.result',
  callId,
  tool,
  outcome: { kind: 'succeeded', isError: false, summary: 'done' },
  result: { type: 'tool_result', tool_use_id: callId, content: 'ok' },
});
const ofAgent = (agentId: string, callId: string, update: SessionUpdate): SessionUpdate => ({
  type: 'agent.update',
  agentId,
  callId,
  update,
});
const task = (id: string, callId: string) =>
  ({ id, kind: 'agent', title: 'Look around', callId, outputFile: '/tmp/o', startedAt: 0, status: 'running' }) as const;
const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, requests: 1 };
const queryEnded: SessionUpdate = {
  type: 'query.ended',
  queryId: 'q',
  end: 'completed',
  reason: 'done',
  turns: 1,
  text: 'The answer.',
  usage,
};

describe('the tree of what runs', () => {
  it("puts a subagent's calls below the call that started it, at any depth", () => {
    const tree = new CallTree();
    for (const update of [
      input('c1', 'Agent', 'Explore'),
      input('c2', 'Read', 'a.ts'),
      ofAgent('agent-1', 'c1', input('c1', 'Grep', 'needle')),
      ofAgent('agent-1', 'c1', input('c9', 'Agent', 'Deeper')),
      ofAgent('agent-2', 'c9', input('c1', 'Bash', 'ls')),
    ])
      tree.see(update, 0);
    const rows = tree.rows().map(({ depth, item }) => [depth, item.kind === 'call' ? item.call.title : item.task.title]);
    expect(rows).toEqual([
      [0, 'Explore'],
      [1, 'needle'],
      [1, 'Deeper'],
      [2, 'ls'],
      [0, 'a.ts'],
    ]);
  });

  it("keeps a background agent's calls below its task when the call that started it has ended", () => {
    const tree = new CallTree();
    tree.see(input('c1', 'Agent', 'Look around'), 0);
    tree.see({ type: 'task.started', task: task('t1', 'c1') }, 0);
    tree.end('c1');
    tree.see(ofAgent('agent-1', 'c1', input('c5', 'Read', 'b.ts')), 0);
    expect(tree.rows().map(({ depth, item }) => [depth, item.kind])).toEqual([
      [0, 'task'],
      [1, 'call'],
    ]);
    tree.see(ofAgent('agent-1', 'c1', { type: 'session.ended', sessionId: 's' }), 0);
    tree.see({ type: 'task.ended', task: { ...task('t1', 'c1'), status: 'completed' } }, 0);
    expect(tree.isEmpty).toBe(true);
  });
});

describe('the progress view', () => {
  it('prints a call once where it is no terminal, and leaves the answer to whoever prints it', () => {
    const terminal = new FakeTerminal({ isTTY: false });
    const view = createProgressView(createScreen(terminal.output), { now: () => 0, withholdAnswer: true });
    view.show({ type: 'text.delta', text: 'I will look.' });
    view.show(input('c1', 'Read', 'a.ts'));
    view.show({ type: 'call.state', callId: 'c1', tool: 'Read', state: 'executing.calling', ms: 1 });
    view.show(result('c1', 'Read'));
    view.show({ type: 'turn.started', queryId: 'q', turn: 2 });
    view.show({ type: 'text.delta', text: 'The answer.' });
    view.show(queryEnded);
    view.close();
    expect(terminal.raw).toBe('I will look.\n✓ Read a.ts  0 ms\n');
  });

  it('redraws running calls in place on a terminal, no line wider than it, with what they last said', () => {
    const terminal = new FakeTerminal({ columns: 30 });
    const screen = createScreen(terminal.output);
    const view = createProgressView(screen, { now: () => 0 });
    view.show(input('c1', 'Bash', 'a title that is far too long for this terminal'));
    view.show({ type: 'call.progress', callId: 'c1', progress: { message: 'half way' } });
    screen.refresh();
    view.show(ofAgent('agent-1', 'c1', input('c2', 'Read', 'below it, and just as long as the other')));
    screen.refresh();
    const rows = stripAnsi(terminal.raw).split('\n');
    expect(rows.filter((row) => stringWidth(row) > 30)).toEqual([]);
    expect(rows.some((row) => row.startsWith('● Bash'))).toBe(true);
    expect(rows.some((row) => row.startsWith('  ● Read'))).toBe(true);
    view.show(result('c1', 'Bash'));
    view.close();
    screen.close();
    expect(terminal.text).toContain('✓ Bash');
  });

  it('names the agent of a finished call', () => {
    const terminal = new FakeTerminal({ isTTY: false });
    const view = createProgressView(createScreen(terminal.output), { now: () => 0 });
    view.show(input('c1', 'Agent', 'Explore: where is it'));
    view.show(ofAgent('agent-1', 'c1', input('c1', 'Grep', 'needle')));
    view.show(ofAgent('agent-1', 'c1', result('c1', 'Grep')));
    view.show(result('c1', 'Agent'));
    expect(terminal.raw).toBe('  ✓ [Explore: where is it] Grep needle  0 ms\n✓ Agent Explore: where is it  0 ms\n');
  });

  it('writes a paragraph that is longer than the screen without losing a word', () => {
    const terminal = new FakeTerminal({ columns: 20, rows: 6 });
    const screen = createScreen(terminal.output);
    const words = Array.from({ length: 60 }, (_, n) => `word${n}`);
    for (const word of words) screen.stream(`${word} `);
    screen.close();
    const text = terminal.text;
    for (const word of words) expect(text).toContain(word);
  });

  it('shows control characters of a model as text', () => {
    const terminal = new FakeTerminal({ isTTY: false });
    const screen = createScreen(terminal.output);
    screen.stream('\u001b[2Jgone?\n');
    expect(terminal.raw).toBe('\\u{1b}[2Jgone?\n');
  });
});
