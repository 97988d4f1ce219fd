import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkPairing } from '../../src/messages/pairing.js';
import { listSessions, readSession } from '../../src/session/stored.js';
import { type Script, type ScriptedServer, scriptedServer, text, toolUse } from '../../src/testing/index.js';
import { UP_TO_DECISION, UP_TO_END } from '../support/callStates.js';
import { tempDir } from '../support/sessions.js';
import { Cli } from './support/runCli.js';

const TIMEOUT = 120_000;
const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A project of its own with a server that plays a script, and the arguments and variables that lead there. */
async function project(script: Script) {
  const server = await scriptedServer({ script });
  servers.push(server);
  const home = tempDir();
  const cwd = join(home, 'project');
  mkdirSync(cwd);
  const env = { HOME: home, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'scripted', SIXGATES_DATA_DIR: join(home, 'data') };
  const place = { cwd, store: join(home, 'data') };
  return { server, cwd, env, place, args: ['run', '--cwd', cwd] };
}

const resultsIn = (server: ScriptedServer): string => JSON.stringify(server.requests.at(-1)?.body.messages);

describe('sixgates run', { timeout: TIMEOUT }, () => {
  it('writes the answer to standard output and everything else to standard error', async () => {
    const { args, env, cwd, place } = await project([
      [text('I will read it.'), toolUse('Read', { file_path: 'hello.txt' })],
      [text('It says hello.')],
    ]);
    writeFileSync(join(cwd, 'hello.txt'), 'hello\n');
    const { code, stdout, stderr } = await new Cli([...args, 'what does it say?'], { env }).ended;
    expect(stdout).toBe('It says hello.\n');
    expect(stderr).toContain('I will read it.\n');
    expect(stderr).toMatch(/^[✓✗⊘] Read /m);
    expect(stderr).toContain(`Transcript:  ${listSessions(place)[0]?.path}`);
    expect(code).toBe(0);
  });

  it('tells what is wrong with settings, and of a session in which nothing was said', async () => {
    const { args, env, cwd } = await project([[text('Hello.')]]);
    mkdirSync(join(cwd, '.claude'));
    writeFileSync(join(cwd, '.claude/settings.json'), JSON.stringify({ permissions: { allow: ['Bash(make)'], deny: ['Bash('] } }));
    writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { notes: { command: process.execPath, args: ['-e', ''] } } }));
    const { stderr } = await new Cli([...args, '--yes-to', 'Write', 'hello'], { env }).ended;
    expect(stderr).toMatch(/^error: .*settings\.json:1: permissions\.deny\[0\]/m);
    expect(stderr).toMatch(/^warning: .*settings\.json:1: permissions\.allow: .* not trusted/m);
    expect(stderr).toMatch(/^MCP server notes is not started: the project is not trusted\. Trust it \(`--trust`\)/m);
    expect((await new Cli(args, { env }).ended).code).toBe(0);
    const { stdout } = await new Cli(['sessions', '--cwd', cwd, '--json'], { env }).ended;
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  it('ends without a stack where nobody reads on', async () => {
    const lines = new Cli(['explain', '--jsonl'], { input: true });
    lines.closeOutput();
    lines.type('{"tool":"Bash","input":{"command":"ls"}}\n'.repeat(10));
    const { code, stderr } = await lines.ended;
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  });

  it('starts the servers that --mcp-config names, and no other under --strict-mcp-config', async () => {
    const { args, env, cwd } = await project([[text('Hello.')]]);
    const ends = { command: process.execPath, args: ['-e', ''] };
    writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { other: ends } }));
    const given = ['--mcp-config', JSON.stringify({ mcpServers: { mine: ends } }), '--strict-mcp-config'];
    const cli = new Cli([...args, ...given, '--json', 'hello'], { env });
    expect((await cli.ended).code).toBe(0);
    expect(cli.lines().find(({ type }) => type === 'session.started')?.servers).toMatchObject([{ name: 'mine', source: 'code' }]);
    const both = await new Cli(['run', '--restate', 'http://127.0.0.1:9', '--strict-mcp-config', 'hello'], { env }).ended;
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("'--strict-mcp-config' cannot be used with option '--restate") });
  });

  it('writes one update a line under --json, runs what --yes-to covers and refuses what nobody can allow', async () => {
    const { args, env, cwd, server } = await project([
      [toolUse('Bash', { command: 'touch made' }), toolUse('Bash', { command: 'touch other' }), toolUse('AskUserQuestion', question)],
      [text('Done.')],
    ]);
    const cli = new Cli([...args, '--json', '--yes-to', 'Bash(touch made)', 'make files'], { env });
    const { code, stderr } = await cli.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const updates = cli.lines();
    expect(updates[0]?.type).toBe('session.started');
    expect(updates.at(-1)?.type).toBe('session.ended');
    const states = (callId: string) => updates.flatMap((one) => (one.type === 'call.state' && one.callId === callId ? [one.state] : []));
    expect(states('toolu_1_1')).toEqual([...UP_TO_END, 'completed.succeeded', 'yielded']);
    expect(states('toolu_1_2')).toEqual([...UP_TO_DECISION, 'completed.denied', 'yielded']);
    expect(states('toolu_1_3').at(-1)).toBe('yielded');
    expect([existsSync(join(cwd, 'made')), existsSync(join(cwd, 'other'))]).toEqual([true, false]);
    expect(resultsIn(server)).toContain('Nobody is at a terminal to allow this.');
  });

  it('says what is missing without a key, once, and fails', async () => {
    const { args, env, server } = await project([]);
    const { code, stdout, stderr } = await new Cli([...args, 'hi'], { env: { ...env, ANTHROPIC_API_KEY: '' } }).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.match(/ANTHROPIC_API_KEY/g)).toHaveLength(1);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(server.requests).toHaveLength(0);
  });

  it('names the address of an API that does not answer', async () => {
    const { args, env, server } = await project([]);
    await server.close();
    const { code, stderr } = await new Cli([...args, 'hi'], { env }).ended;
    expect(code).toBe(1);
    expect(stderr).toContain(server.url);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('ends the turn on Ctrl-C: exit 130, and every call on the transcript has its result', async () => {
    const { args, env, place } = await project([
      [toolUse('Bash', { command: 'echo begun > begun; sleep 300' }), toolUse('Bash', { command: 'touch never' })],
    ]);
    const cli = new Cli([...args, '--json', '--yes-to', 'Bash', 'wait'], { env });
    await cli.shows('stdout', '"state":"executing.calling"');
    cli.signal('SIGINT');
    const { code } = await cli.ended;
    expect(code).toBe(130);
    const [summary] = listSessions(place);
    const stored = readSession(summary?.sessionId ?? '', place);
    expect(checkPairing(stored.messages)).toEqual([]);
    const transcript = readFileSync(stored.path, 'utf8');
    for (const id of ['toolu_1_1', 'toolu_1_2']) expect(transcript.split(`"tool_use_id":"${id}"`)).toHaveLength(2);
    expect(existsSync(join(place.cwd, 'never'))).toBe(false);
  });

  it('reads prompts line by line where there is no terminal, and leaves on the second Ctrl-C', async () => {
    const { args, env, server } = await project([[text('First.')], [text('Second.')]]);
    const cli = new Cli(args, { env, input: true });
    cli.type('one\n/mode\n');
    await cli.shows('stdout', 'First.\n');
    await cli.shows('stderr', 'Mode: default');
    cli.type('two\n');
    await cli.shows('stdout', 'Second.\n');
    cli.signal('SIGINT');
    await cli.shows('stderr', 'Ctrl-C again leaves');
    cli.signal('SIGINT');
    expect((await cli.ended).code).toBe(130);
    server.assertConsumed();
  });

  it('puts its questions to the person at a terminal', async () => {
    const { args, env, cwd, server } = await project([
      [toolUse('Bash', { command: 'touch allowed' })],
      [toolUse('Bash', { command: 'touch denied' })],
      [text('Both asked.')],
    ]);
    const cli = new Cli([...args, 'ask me'], { env, terminal: true });
    await cli.shows('stdout', 'command: touch allowed');
    await cli.shows('stdout', 'allow? ');
    cli.type('y\r');
    await cli.shows('stdout', 'command: touch denied');
    cli.type('n use the other one\r');
    await cli.shows('stdout', 'Both asked.');
    expect((await cli.ended).code).toBe(0);
    expect([existsSync(join(cwd, 'allowed')), existsSync(join(cwd, 'denied'))]).toEqual([true, false]);
    expect(resultsIn(server)).toContain('use the other one');
  });

  it('holds a conversation at a terminal, and leaves on Ctrl-D', async () => {
    const { args, env, server, place } = await project([[text('Hello to you.')]]);
    const cli = new Cli(args, { env, terminal: true });
    await cli.shows('stdout', '/help lists commands');
    cli.type('say \\\rhello\r');
    await cli.shows('stdout', 'Hello to you.');
    cli.type('/help\r');
    await cli.shows('stdout', '/permissions [allow|ask|deny|remove RULE]');
    cli.type('\u0004');
    expect((await cli.ended).code).toBe(0);
    expect(JSON.stringify(server.requests[0]?.body.messages)).toContain('say \\nhello');
    const history = readFileSync(join(place.store, 'history', `${place.cwd.replaceAll(/[^a-zA-Z0-9]/g, '-')}.jsonl`), 'utf8');
    expect(history.trim().split('\n')).toEqual(['"say \\nhello"', '"/help"']);
  });

  it('does not begin on a wrong command line: exit 2, a message, no stack', async () => {
    const { code, stdout, stderr } = await new Cli(['run', '--cwd', '/nowhere/at/all', 'hi']).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^sixgates: --cwd \/nowhere\/at\/all: .*no such file or directory/);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});

const question = {
  questions: [
    {
      question: 'Which?',
      header: 'Which',
      options: [
        { label: 'A', description: '' },
        { label: 'B', description: '' },
      ],
    },
  ],
};
