import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir } from '../support/sessions.js';

const demo = fileURLToPath(new URL('../../examples/demo-project', import.meta.url));

it('a day of work: a long session refactors a real project with every tool, and the project’s own tests pass at its end', async () => {
  const base = tempDir();
  const shop = join(base, 'shop');
  cpSync(demo, shop, { recursive: true });
  const at = (path: string) => join(shop, path);
  const read = (path: string) => toolUse('Read', { file_path: at(path) });
  const edit = (path: string, old_string: string, new_string: string, more: JsonObject = {}) =>
    toolUse('Edit', { file_path: at(path), old_string, new_string, ...more });
  const bash = (command: string) => toolUse('Bash', { command });
  const todo = (...states: ('pending' | 'in_progress' | 'completed')[]) =>
    toolUse('TodoWrite', {
      todos: states.map((status, n) => ({ content: `step ${n + 1}`, activeForm: `doing step ${n + 1}`, status })),
    });
  const cell = (source: string) => ({ cell_type: 'code', id: 'c1', metadata: {}, execution_count: null, outputs: [], source: [source] });
  const notebook = { cells: [cell('1 + 1')], metadata: {}, nbformat: 4, nbformat_minor: 5 };

  const turns = [
    // Looking around.
    [
      todo('in_progress', 'pending', 'pending'),
      read('README.md'),
      read('package.json'),
      toolUse('Glob', { pattern: '**/*.js', path: shop }),
    ],
    [read('src/basket.js'), read('src/money.js'), read('src/receipt.js'), read('test/basket.test.js'), read('scripts/ledger.js')],
    [
      toolUse('Grep', { pattern: 'formatPrice', path: shop, output_mode: 'content', '-n': true }),
      toolUse('Grep', { pattern: 'BULK_', path: shop }),
      bash('npm test'),
    ],
    // Mending the bug.
    [edit('src/basket.js', 'pieces > BULK_FROM', 'pieces >= BULK_FROM'), bash('npm test')],
    [todo('completed', 'in_progress', 'pending')],
    // Renaming a function through the whole project.
    [edit('src/money.js', 'formatPrice', 'priceText')],
    [
      edit('src/receipt.js', 'formatPrice', 'priceText', { replace_all: true }),
      edit('scripts/ledger.js', 'formatPrice', 'priceText', { replace_all: true }),
    ],
    [
      toolUse('Grep', { pattern: 'formatPrice', path: shop, output_mode: 'count' }),
      bash('npm test'),
      bash('node scripts/ledger.js | tail -n 1'),
    ],
    // A new module, with its test.
    [
      toolUse('Write', {
        file_path: at('src/discount.js'),
        content:
          "import { percentOf } from './money.js';\n\nexport const BULK_FROM = 10;\nconst BULK_DISCOUNT = 10;\n\n/** What one piece costs less, given how many are bought. */\nexport function discountOf(price, pieces) {\n  return pieces >= BULK_FROM ? percentOf(price, BULK_DISCOUNT) : 0;\n}\n",
      }),
    ],
    [
      edit(
        'src/basket.js',
        "import { percentOf } from './money.js';\n\nconst BULK_FROM = 10;\nconst BULK_DISCOUNT = 10;\n",
        "import { discountOf } from './discount.js';\n",
      ),
      edit(
        'src/basket.js',
        '  const discount = pieces >= BULK_FROM ? percentOf(price, BULK_DISCOUNT) : 0;\n  return (price - discount) * pieces;',
        '  return (price - discountOf(price, pieces)) * pieces;',
      ),
    ],
    [
      toolUse('Write', {
        file_path: at('test/discount.test.js'),
        content:
          "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { BULK_FROM, discountOf } from '../src/discount.js';\n\ntest('nothing below the limit, a tenth from it on', () => {\n  assert.equal(discountOf(100, BULK_FROM - 1), 0);\n  assert.equal(discountOf(100, BULK_FROM), 10);\n});\n",
      }),
      bash('npm test'),
    ],
    // Tools that are announced by name are loaded before they are used.
    [toolUse('ToolSearch', { query: 'select:AskUserQuestion,NotebookEdit,Sleep' })],
    // What goes wrong in a day: an ambiguous edit, a missing file, a refused command, an edit of a file nobody read.
    [
      edit('src/basket.js', 'pieces', 'count'),
      read('src/missing.js'),
      bash('rm -rf src'),
      edit('test/discount.test.js', 'nothing below', 'nothing is taken off below'),
    ],
    [
      toolUse('AskUserQuestion', {
        questions: [
          {
            question: 'Keep the old name?',
            header: 'Name',
            options: [
              { label: 'No', description: 'rename' },
              { label: 'Yes', description: 'keep' },
            ],
            multiSelect: false,
          },
        ],
      }),
    ],
    // A notebook, a pause, something in the background, something too long to show.
    [toolUse('Write', { file_path: at('notes.ipynb'), content: JSON.stringify(notebook) })],
    [toolUse('Read', { file_path: at('notes.ipynb') })],
    [toolUse('NotebookEdit', { notebook_path: at('notes.ipynb'), cell_id: 'c1', new_source: '2 + 2' })],
    [
      toolUse('Sleep', { seconds: 0.01 }),
      bash('node scripts/ledger.js'),
      toolUse('Bash', { command: 'node scripts/ledger.js > ledger.txt', run_in_background: true }),
    ],
    [bash('cd src && pwd'), bash('cd .. && ls src')],
    [
      todo('completed', 'completed', 'completed'),
      toolUse('Glob', { pattern: '*.md', path: shop }),
      bash('npm test'),
      read('src/basket.js'),
    ],
  ];
  const made = await scene([...turns, [text('Done.')], [text('The ledger is there.')]], {
    cwd: shop,
    store: join(base, 'sessions'),
    builtInTools: true,
    interactive: true,
    permissions: {
      allow: ['Edit(/**)', 'Bash(npm test)', 'Bash(node scripts/*)', 'Bash(cd *)', 'Bash(ls *)', 'Bash(pwd)'],
      deny: ['Bash(rm *)'],
    },
    onUpdate: (update) => {
      if (update.type === 'question.asked') made.session.answerQuestion(update.prompt.callId, { 'Keep the old name?': 'No' });
      if (update.type === 'permission.requested') {
        const { callId, inputDigest } = update.prompt;
        made.session.answer(callId, inputDigest, { behavior: 'allow', source: { type: 'person', surface: 'test' } });
      }
    },
  });
  const ended = await made.session.send('Refactor the shop.').done;
  expect(ended.end).toBe('completed');

  const results = made.of('call.result');
  const count = turns.flat().length;
  expect(count).toBeGreaterThanOrEqual(40);
  expect(results).toHaveLength(count);
  const tools = new Set(results.map(({ tool }) => tool));
  for (const name of [
    'Read',
    'Write',
    'Edit',
    'NotebookEdit',
    'Glob',
    'Grep',
    'Bash',
    'TodoWrite',
    'AskUserQuestion',
    'Sleep',
    'ToolSearch',
  ])
    expect(tools).toContain(name);
  const unsuccessful = results.filter(({ outcome }) => outcome.kind !== 'succeeded').map(({ tool, outcome }) => `${tool} ${outcome.kind}`);
  expect(unsuccessful.sort()).toEqual(['Bash denied', 'Bash failed', 'Edit failed', 'Read failed']);
  expect(made.server.refusals).toEqual([]);

  expect(readFileSync(at('src/basket.js'), 'utf8')).toContain('discountOf(price, pieces)');
  expect(readFileSync(at('notes.ipynb'), 'utf8')).toContain('2 + 2');
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const report = execFileSync(process.execPath, ['--test'], { cwd: shop, encoding: 'utf8', env });
  expect(report).toMatch(/# pass 5/);
  expect(report).toMatch(/# fail 0/);
});
