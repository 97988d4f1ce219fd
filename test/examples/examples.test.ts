import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { text, toolUse } from '../../src/testing/index.js';
import { tempDir } from '../support/sessions.js';
import { freePort } from '../support/system.js';
import { playExample } from './support.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

it('embeds beside the SDK: the tool of one’s own runs, what the callback refuses does not', async () => {
  const stage = await playExample('embed.ts', [
    [toolUse('Weather', { city: 'Oslo' }), toolUse('Read', { file_path: '/etc/hostname' })],
    [text('It is 8 degrees in Oslo.')],
  ]);
  const said = await stage.ended;
  expect(said).toContain('It is 8 degrees in Oslo.');
  expect(said).toContain('Weather: succeeded');
  expect(said).toContain('Read: denied');
  stage.server.assertConsumed();
});

it('embeds in twenty lines', () => {
  const code = readFileSync(join(root, 'examples/embed.ts'), 'utf8').replace(/^\/\*\*[\s\S]*?\*\/\n/, '');
  expect(code.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(20);
});

it('builds a tool: its own check, its own rules, its own failure', async () => {
  const stage = await playExample('custom-tool.ts', [
    [
      toolUse('Order', { article: 'pencil', count: 2 }),
      toolUse('Order', { article: 'pencil', count: 20 }),
      toolUse('Order', { article: 'rubber', count: 1 }),
      toolUse('Order', { article: 'ruler', count: 1 }),
      toolUse('Order', { article: 'pencil', count: 0 }),
    ],
    [text('Done.')],
  ]);
  const said = await stage.ended;
  expect(
    said
      .split('\n')
      .filter((line) => line.startsWith('Order'))
      .map((line) => line.split(':')[0])
      .sort(),
  ).toEqual(['Order denied', 'Order failed', 'Order invalid', 'Order invalid', 'Order succeeded']);
  expect(said).toContain('Only 10 of pencil are left; 20 were ordered.');
  expect(said).toContain('There is no ruler. There are: pencil, rubber.');
});

it('asks over HTTP, and refuses an answer to another input', { timeout: 300_000 }, async () => {
  const port = await freePort();
  const command = 'rm -rf build';
  const stage = await playExample('approval-server.ts', [[toolUse('Bash', { command })], [text('It is gone.')]], [], {
    PORT: String(port),
  });
  await vi.waitFor(() => expect(stage.said()).toContain('for a yes to'), { timeout: 60_000 });
  const url = `http://127.0.0.1:${port}`;
  expect(await (await fetch(url)).text()).toContain('<title>Approvals</title>');
  const [question] = (await (await fetch(`${url}/questions`)).json()) as { callId: string; digest: string; input: unknown }[];
  expect(question?.input).toMatchObject({ command });
  const post = (body: unknown) => fetch(`${url}/${question?.callId}`, { method: 'POST', body: JSON.stringify(body) });
  expect((await post({ yes: true })).status).toBe(400);
  expect((await post({ digest: 'of something else', yes: true })).status).toBe(409);
  expect((await post({ digest: question?.digest, yes: true })).status).toBe(200);
  const said = await stage.ended;
  expect(said).toContain('Bash: succeeded');
  expect(said).toContain('It is gone.');
});

it('holds settings against statements, as tests of Node’s own runner', { timeout: 300_000 }, async () => {
  const file = join(root, 'examples/settings.test.ts');
  const env = { ...process.env, HOME: tempDir(), NODE_TEST_CONTEXT: undefined, NO_COLOR: '1' };
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--test', '--test-reporter=tap', file], { cwd: root, env });
  expect(stdout).toMatch(/# fail 0/);
  expect(Number(/# pass (\d+)/.exec(stdout)?.[1])).toBeGreaterThan(5);
});

it('serves tools over MCP in this process', async () => {
  const stage = await playExample('mcp.ts', [
    [toolUse('mcp__notebook__add', { text: 'ten o’clock' })],
    [toolUse('mcp__notebook__list', {})],
    [text('You meet at ten.')],
  ]);
  const said = await stage.ended;
  expect(said).toContain('mcp__notebook__add: succeeded');
  expect(said).toContain('mcp__notebook__list: succeeded');
  expect(said).toContain('You meet at ten.');
  expect(JSON.stringify(stage.server.requests.at(-1)?.body)).toContain('ten o’clock');
});

it('lets two subagents work side by side', async () => {
  const prompts = ['what src does', 'what test covers'];
  const stage = await playExample('subagents.ts', (request) => {
    const said = JSON.stringify(request.body.messages);
    const ours = prompts.find((prompt) => said.includes(prompt) && !said.includes('Ask two Explore agents'));
    if (ours !== undefined) return said.includes('tool_result') ? [text(`I looked at ${ours}.`)] : [toolUse('Glob', { pattern: '*' })];
    if (said.includes('I looked at')) return [text('Both have looked.')];
    return prompts.map((prompt) => toolUse('Agent', { description: 'Look around', prompt, subagent_type: 'Explore' }));
  });
  const said = await stage.ended;
  expect(said.match(/^Agent: succeeded$/gm)).toHaveLength(2);
  expect(said.match(/^ {2}.{8}: Glob succeeded$/gm)).toHaveLength(2);
  expect(said).toContain('6 requests, those of the agents included');
  expect(said).toContain('Both have looked.');
});

it('makes spans, with the decision on the call’s own', async () => {
  const stage = await playExample('open-telemetry.ts', [[toolUse('Dice', {})], [text('Four.')]]);
  const said = await stage.ended;
  expect(said).toMatch(/execute_tool Dice .*allow rule/i);
  expect(said).toMatch(/^chat /m);
  expect(said).toMatch(/^invoke_agent /m);
});

it('records a flow, folds it again, and plays it again', async () => {
  const stage = await playExample('record-replay.ts', [[toolUse('Clock', {})], [text('Half past nine.')]]);
  const said = await stage.ended;
  expect(Number(/(\d+) steps come out/.exec(said)?.[1])).toBeGreaterThan(10);
  expect(said).toContain('1 call played again, 0 differences');
});

it('has examples that fit a screen or two, each of them run by a test', () => {
  const own = readFileSync(fileURLToPath(import.meta.url), 'utf8');
  const examples = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.ts'));
  expect(examples.filter((name) => !own.includes(name))).toEqual([]);
  const long = examples.filter((name) => readFileSync(join(root, 'examples', name), 'utf8').split('\n').length > 65);
  expect(long).toEqual([]);
});
