import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionModifier } from '../../src/tool/types.js';
import { askUserQuestionTool } from '../../src/tools/ask-user-question.js';
import { notebookEditTool } from '../../src/tools/notebook-edit.js';
import { findPowerShell } from '../../src/tools/powershell.js';
import { readTool } from '../../src/tools/read/read.js';
import { sleepTool } from '../../src/tools/sleep.js';
import { taskOutputTool } from '../../src/tools/task-output.js';
import { taskStopTool } from '../../src/tools/task-stop.js';
import { todoWriteTool } from '../../src/tools/todo-write.js';
import { worktreeTools } from '../../src/tools/worktree.js';
import { contextIn, run, shown, temporaryDirectory } from './context.js';
import { createTaskList } from './tasks.js';

let dir: string;
let remove: () => void;
beforeEach(() => {
  ({ dir, remove } = temporaryDirectory());
});
afterEach(() => remove());

describe('NotebookEdit', () => {
  const edit = notebookEditTool();
  const text = `{
 "cells": [
  {"cell_type": "markdown", "id": "top", "metadata": {}, "source": ["# Title"]},
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "code",
   "metadata": {"tags": ["x"]},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\\n"]}],
   "source": ["print(1)"]
  }
 ],
 "metadata": {"odd": 1.50},
 "nbformat": 4,
 "nbformat_minor": 5
}
`;
  const prepare = async () => {
    const file = path.join(dir, 'n.ipynb');
    writeFileSync(file, text);
    const context = contextIn(dir);
    await run(readTool(), { file_path: file }, context);
    return { file, context };
  };

  it('replaces the source of one cell, clears its outputs and leaves every other byte', async () => {
    const { file, context } = await prepare();
    await run(edit, { notebook_path: file, cell_id: 'code', new_source: 'a = 1\nb = "$&"' }, context);
    const result = readFileSync(file, 'utf8');
    expect(JSON.parse(result).cells[1]).toMatchObject({
      source: ['a = 1\n', 'b = "$&"'],
      outputs: [],
      execution_count: null,
      metadata: { tags: ['x'] },
    });
    expect(result).toContain('{"cell_type": "markdown", "id": "top", "metadata": {}, "source": ["# Title"]}');
    expect(result).toContain('"odd": 1.50');
  });

  it('inserts after a cell or at the start, and deletes', async () => {
    const { file, context } = await prepare();
    const inserted = await run(edit, { notebook_path: file, new_source: 'first', cell_type: 'markdown', edit_mode: 'insert' }, context);
    await run(edit, { notebook_path: file, cell_id: 'top', new_source: 'x = 1', cell_type: 'code', edit_mode: 'insert' }, context);
    const cells = () => JSON.parse(readFileSync(file, 'utf8')).cells.map((cell: { source: string[] }) => cell.source.join(''));
    expect(cells()).toEqual(['first', '# Title', 'x = 1', 'print(1)']);
    await run(edit, { notebook_path: file, cell_id: inserted.cellId, new_source: '', edit_mode: 'delete' }, context);
    expect(cells()).toEqual(['# Title', 'x = 1', 'print(1)']);
  });

  it('does not guess between cells of the same id', async () => {
    const file = path.join(dir, 'twice.ipynb');
    writeFileSync(file, text.replace('"id": "code"', '"id": "top"'));
    const context = contextIn(dir);
    await run(readTool(), { file_path: file }, context);
    await expect(run(edit, { notebook_path: file, cell_id: 'top', new_source: 'x' }, context)).rejects.toThrow('2 cells have the id "top"');
  });

  it('changes cells beside values that JSON does not have, and leaves them', async () => {
    const file = path.join(dir, 'nan.ipynb');
    const output = '"outputs": [{"output_type": "display_data", "data": {"application/json": [NaN, -Infinity, "NaN"]}}]';
    writeFileSync(file, text.replace(/"outputs": .*\]\}\]/, output).replace('1.50', 'NaN'));
    const context = contextIn(dir);
    await run(readTool(), { file_path: file }, context);
    await run(edit, { notebook_path: file, cell_id: 'top', new_source: '"stands for NaN"' }, context);
    const changed = readFileSync(file, 'utf8');
    expect(changed).toContain(output);
    expect(changed).toContain('"odd": NaN');
    expect(changed).toContain('stands for NaN');
  });

  it('takes no number of a cell for another cell that has it now', async () => {
    const file = path.join(dir, 'numbered.ipynb');
    const cells = ['a', 'b', 'c'].map((source) => ({ cell_type: 'markdown', metadata: {}, source: [source] }));
    writeFileSync(file, JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 4 }, null, 1));
    const context = contextIn(dir);
    const read = () => run(readTool(), { file_path: file }, context);
    await read();
    const change = (input: object) => run(edit, { notebook_path: file, new_source: 'new', ...input }, context);
    const inserted = await change({ edit_mode: 'insert', cell_type: 'markdown' });
    expect(shown(edit, inserted)).toContain('other numbers now');
    await expect(change({ cell_id: 'cell-1' })).rejects.toThrow('Read it again');
    await read();
    await change({ cell_id: 'cell-3', edit_mode: 'insert', cell_type: 'markdown' });
    await change({ cell_id: 'cell-1' });
    const sources = JSON.parse(readFileSync(file, 'utf8')).cells.map((cell: { source: string[] }) => cell.source.join(''));
    expect(sources).toEqual(['new', 'new', 'b', 'c', 'new']);
  });

  it('needs a read, a known cell and a kind for a new cell', async () => {
    const { file, context } = await prepare();
    await expect(run(edit, { notebook_path: file, cell_id: 'nope', new_source: '' }, context)).rejects.toThrow('The cells are: top, code');
    await expect(run(edit, { notebook_path: file, new_source: '', edit_mode: 'insert' }, context)).rejects.toThrow('cell_type is needed');
    await expect(run(edit, { notebook_path: file, cell_id: 'top', new_source: '' }, contextIn(dir))).rejects.toThrow('has not been read');
  });
});

describe('AskUserQuestion', () => {
  const ask = askUserQuestionTool();
  const options = [
    { label: 'Yes', description: 'do it' },
    { label: 'No', description: 'leave it' },
  ];
  const questions = [{ question: 'Go on?', header: 'Go', options, multiSelect: false }];

  it('waits for the person and gives the answers by question', async () => {
    const context = contextIn(dir, { askPerson: async (asked) => Object.fromEntries(asked.map(({ question }) => [question, 'Yes'])) });
    expect(shown(ask, await run(ask, { questions }, context))).toBe('Go on?\n→ Yes');
    expect(ask.requiresUserInteraction({ questions })).toBe(true);
  });

  it('takes what a person notes beside an answer', async () => {
    const input = { questions, answers: { 'Go on?': 'Yes' }, annotations: { 'Go on?': { notes: 'but slowly', preview: 'x' } } };
    expect(ask.answeredInputSchema?.safeParse(input).success).toBe(true);
    expect(ask.inputSchema.safeParse(input).success).toBe(false);
    const output = await ask.call(input, contextIn(dir), () => undefined);
    expect(ask.mapToolResultToToolResultBlockParam(output.data).content).toBe('Go on?\n→ Yes\n\nNote on Go on?\nbut slowly');
  });

  it('fails when there is nobody, an answer is missing, or questions cannot be told apart', async () => {
    await expect(run(ask, { questions }, contextIn(dir))).rejects.toThrow('there is no person');
    await expect(run(ask, { questions }, contextIn(dir, { askPerson: async () => ({}) }))).rejects.toThrow('unanswered');
    await expect(run(ask, { questions: [...questions, ...questions] }, contextIn(dir))).rejects.toThrow('a text of its own');
    await expect(run(ask, { questions: [{ ...questions[0], options: [options[0]] }] }, contextIn(dir))).rejects.toThrow(
      'questions[0].options',
    );
  });
});

it('TodoWrite keeps one list a session', async () => {
  const todo = todoWriteTool();
  const item = (status: string) => ({ content: 'Run the tests', activeForm: 'Running the tests', status });
  await run(todo, { todos: [item('pending')] }, contextIn(dir));
  const output = await run(todo, { todos: [item('completed')] }, contextIn(dir));
  expect(output.oldTodos).toEqual([item('pending')]);
  expect(shown(todo, output)).toContain('1 of 1 items completed');
  expect((await run(todo, { todos: [] }, contextIn(dir, { sessionId: 'other' }))).oldTodos).toEqual([]);
});

describe('Sleep', () => {
  it('wakes by time, by a notification, and ends on abort', async () => {
    const sleep = sleepTool();
    expect(await run(sleep, { seconds: 0.01 }, contextIn(dir))).toMatchObject({ wokenBy: 'time' });
    const list = createTaskList();
    const waiting = run(sleep, { seconds: 3600 }, contextIn(dir, { capabilities: { tasks: list.tasks } }));
    list.notify();
    expect(await waiting).toMatchObject({ wokenBy: 'notification' });
    const abort = new AbortController();
    const stopped = run(sleep, { seconds: 3600 }, contextIn(dir, { signal: abort.signal }));
    abort.abort('userInterrupt');
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('tasks', () => {
  it('are stopped and shown by id; an unknown id names those there are', async () => {
    const list = createTaskList();
    const outputFile = path.join(dir, 'out.txt');
    writeFileSync(outputFile, `${'x\n'.repeat(40_000)}end\n`);
    list.tasks.adopt({ kind: 'bash', title: 'Serve', callId: 'c', outputFile, done: new Promise(() => undefined), stop: () => undefined });
    const context = contextIn(dir, { capabilities: { tasks: list.tasks } });
    const seen = await run(taskOutputTool(), { task_id: 't1', block: false }, context);
    expect(seen).toMatchObject({ truncated: true });
    expect(shown(taskOutputTool(), seen)).toMatch(/^Task t1 \(Serve\): running\n(?:.*\n)*x\nend\n$/);
    expect((await run(taskOutputTool(), { task_id: 't1', timeout: 0 }, context)).task.status).toBe('running');
    expect(await run(taskStopTool(), { task_id: 't1' }, context)).toMatchObject({ status: 'killed' });
    await expect(run(taskStopTool(), { task_id: 't9' }, context)).rejects.toThrow('There are: t1 (killed)');
    await expect(run(taskStopTool(), { task_id: 't1' }, contextIn(dir))).rejects.toThrow('no background tasks');
  });
});

describe('worktrees', () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: dir, encoding: 'utf8' });
  /** A repository of one commit, the two tools, and how to leave a worktree without giving anything up. */
  const inRepository = () => {
    git('init', '-q', '-b', 'main');
    writeFileSync(path.join(dir, 'f'), 'x');
    git('add', 'f');
    git('commit', '-q', '-m', 'start');
    const [enter, exit] = worktreeTools();
    if (enter === undefined || exit === undefined) throw new Error('two tools expected');
    const context = contextIn(dir);
    const leave = () => exit.call({ action: 'remove', discard_changes: false }, context, () => undefined);
    return { enter, exit, context, leave };
  };

  it('are entered and left; work that exists nowhere else is not removed', async () => {
    const { enter, exit, context, leave } = inRepository();
    const cwds: string[] = [];
    const session: SessionModifier = {
      setCwd: (cwd) => void cwds.push(cwd),
      loadTools: () => undefined,
      updatePermissions: () => undefined,
    };
    const entered = await enter.call({ name: 'try' }, context, () => undefined);
    entered.modify?.(session);
    const worktree = path.join(dir, '.claude/worktrees/try');
    expect(cwds).toEqual([worktree]);
    expect(git('branch', '--list', 'worktree-try')).toContain('worktree-try');
    await expect(enter.call({ name: 'again' }, context, () => undefined)).rejects.toThrow('in a worktree already');
    writeFileSync(path.join(worktree, 'new'), 'work');
    await expect(leave()).rejects.toThrow('1 changed files');
    const left = await exit.call({ action: 'remove', discard_changes: true }, context, () => undefined);
    left.modify?.(session);
    expect(cwds.at(-1)).toBe(dir);
    expect(existsSync(worktree)).toBe(false);
    await expect(exit.call({ action: 'keep', discard_changes: false }, context, () => undefined)).rejects.toThrow('not in a worktree');
  });

  it('keep commits that only their branch has, whatever is checked out; those of another branch are not lost', async () => {
    const { enter, exit, context, leave } = inRepository();
    await enter.call({ name: 'try' }, context, () => undefined);
    const worktree = path.join(dir, '.claude/worktrees/try');
    git('-C', worktree, 'commit', '-q', '--allow-empty', '-m', 'work');
    git('-C', worktree, 'checkout', '-q', '--detach', 'main');
    await expect(leave()).rejects.toThrow('1 commits of its own');
    git('branch', 'saved', 'worktree-try');
    const left = await leave();
    expect(exit.mapToolResultToToolResultBlockParam(left.data).content).toContain('was removed with its branch worktree-try.');
    expect(git('branch', '--list')).not.toContain('worktree-try');
  });

  it('are left although their branch got another name, or they were removed by a command', async () => {
    const { enter, exit, context, leave } = inRepository();
    await enter.call({ name: 'one' }, context, () => undefined);
    git('branch', '-m', 'worktree-one', 'feature');
    const left = await leave();
    expect(exit.mapToolResultToToolResultBlockParam(left.data).content).toMatch(/one was removed\. The session works in/);
    expect(git('branch', '--list')).toContain('feature');
    await enter.call({ name: 'two' }, context, () => undefined);
    git('worktree', 'remove', path.join(dir, '.claude/worktrees/two'));
    await leave();
    expect(git('branch', '--list')).not.toContain('worktree-two');
  });

  it('need a git repository', async () => {
    const [enter] = worktreeTools();
    mkdirSync(path.join(dir, 'plain'));
    await expect(enter?.call({}, contextIn('/'), () => undefined)).rejects.toThrow('git rev-parse');
  });
});

it('finds PowerShell only where it is', () => {
  expect(findPowerShell(dir)).toBeUndefined();
  writeFileSync(path.join(dir, 'pwsh'), '#!/bin/sh\n', { mode: 0o755 });
  expect(findPowerShell(`/nowhere:${dir}`)).toBe(path.join(dir, 'pwsh'));
});
