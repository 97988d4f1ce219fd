import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRecording } from '../../src/inspect/index.js';
import { Cli } from '../cli/support/runCli.js';
import { buildPage } from '../inspector-page/support/build.js';
import { tempDir } from '../support/sessions.js';
import { answer, jsonl, result, toolUse, user } from './support/transcripts.js';

const dir = tempDir();
const file = join(dir, 'session-1.jsonl');

beforeAll(async () => {
  await buildPage();
  writeFileSync(
    file,
    jsonl([
      user('mend it', { s: 0 }),
      answer('msg_1', toolUse('toolu_1', 'Bash', { command: 'npm test' }), { s: 1 }),
      'half a line',
      result('toolu_1', 'exit code 1', { s: 3, isError: true }),
      answer('msg_2', toolUse('toolu_2', 'Write', { file_path: '/b' }), { s: 4 }),
    ]),
  );
});

describe('sixgates inspect <transcript>', { timeout: 300_000 }, () => {
  it('serves the page and says what the file held and what could not be read', async () => {
    const cli = new Cli(['inspect', file, '--no-open']);
    await cli.shows('stderr', 'Ctrl-C ends.');
    // Two pipes: what was written first is not always read first.
    await cli.shows('stdout', 'Inspector:');
    const [, url = ''] = /Inspector: {3}(\S+)/.exec(cli.stdout) ?? [];
    expect((await fetch(url)).status).toBe(200);
    cli.signal('SIGINT');
    const { code, stderr } = await cli.ended;
    expect(code).toBe(0);
    expect(stderr.split('\n').slice(0, 4)).toEqual([
      'warning: Line 3 is not valid JSON.',
      'Transcript: 2 calls, 1 with their result; 0 subagents.',
      'Lines:      5 (2 user, 2 assistant). Not shown: 1 unreadable.',
      'A transcript does not record gates, hooks and decisions; they are shown as unknown.',
    ]);
  });

  it('--json: one object with every call, its outcome and its lines', async () => {
    const cli = new Cli(['inspect', file, '--json']);
    const { code, stdout, stderr } = await cli.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'session-1.jsonl',
      kind: 'transcript',
      durationMs: 4000,
      calls: [
        {
          id: 'toolu_1',
          tool: 'Bash',
          label: 'npm test',
          outcome: 'failed',
          isError: true,
          startMs: 1000,
          endMs: 3000,
          at: { line: 2 },
          resultAt: { line: 4 },
        },
        { id: 'toolu_2', outcome: null, isError: null, startMs: 4000, endMs: null, at: { line: 5 } },
      ],
      source: { lines: 5, calls: 2, paired: 1 },
      warnings: ['Line 3 is not valid JSON.'],
    });
  });

  it('--output: writes an export for its owner alone, by the end of the name, and overwrites nothing', async () => {
    const write = (name: string) => new Cli(['inspect', file, '--output', join(dir, name)]).ended;
    const [recording, trace, html, again] = [
      await write('out.flow.jsonl.gz'),
      await write('out.trace.json'),
      await write('out.html'),
      await write('out.html'),
    ];
    expect([recording.code, trace.code, html.code, again.code]).toEqual([0, 0, 0, 2]);
    expect(again.stderr).toContain('out.html was not written: it exists already.');
    expect(readRecording(join(dir, 'out.flow.jsonl.gz')).header.source).toMatchObject({ calls: 2 });
    expect(JSON.parse(readFileSync(join(dir, 'out.trace.json'), 'utf8')).traceEvents.length).toBeGreaterThan(4);
    expect(readFileSync(join(dir, 'out.html'), 'utf8')).toContain('id="sixgates-recording"');
    expect(statSync(join(dir, 'out.html')).mode & 0o777).toBe(0o600);
  });

  it('refuses a regression test, an unknown ending and a file that is no flow, each with the way out', async () => {
    const refused = async (...args: string[]) => {
      const { code, stderr } = await new Cli(['inspect', ...args]).ended;
      expect(code).toBe(2);
      return stderr;
    };
    expect(await refused(file, '-o', join(dir, 'x.test.mjs'))).toMatch(
      /A transcript holds calls and results, not the events and states of a machine/,
    );
    expect(existsSync(join(dir, 'x.test.mjs'))).toBe(false);
    expect(await refused(file, '-o', join(dir, 'x.png'))).toContain('its name must end in .flow.jsonl.gz, .html, .trace.json, .test.mjs');
    expect(await refused(join(dir, 'out.html'))).toContain(
      'it is neither a flow recording (its first line is no header) nor a Claude Code transcript',
    );
    expect(await refused(file, '--json', '-o', 'x.html')).toContain('not both');
  });
});
