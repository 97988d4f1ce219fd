import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StdioTransport } from '../../src/mcp/stdio.js';
import { livingProcesses } from '../../src/tools/bash/process-tree.js';
import { tempDir } from '../support/sessions.js';

/** Answers each request with the ids of itself and of a child it has started, which ignores polite signals. */
const STUBBORN = `
const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.error('up')"], { stdio: ['ignore', 'ignore', 'pipe'] });
child.stderr.once('data', () => {
  process.stdin.on('data', (data) => {
    const { id } = JSON.parse(data);
    process.stdout.write('not a message\\n' + JSON.stringify({ jsonrpc: '2.0', id, result: { pids: [process.pid, child.pid] } }) + '\\n');
  });
});
process.on('SIGTERM', () => {});
setInterval(() => {}, 1000);
`;

describe('a server over standard input and output', () => {
  it('is ended with everything it started, however stubborn', async () => {
    const dir = tempDir();
    const file = join(dir, 'server.cjs');
    writeFileSync(file, STUBBORN);
    const transport = new StdioTransport({ command: process.execPath, args: [file], env: {}, cwd: dir });
    const answered = new Promise<number[]>((resolve) => {
      transport.onmessage = (message) => {
        if ('result' in message && Array.isArray(message.result.pids)) resolve(message.result.pids.map(Number));
      };
    });
    const strays: Error[] = [];
    transport.onerror = (error) => strays.push(error);
    await transport.start();
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'pids' });
    const pids = await answered;
    const living = async () => (await livingProcesses({ groupId: transport.pid ?? 0, commandId: 'none' })).map(({ pid }) => pid);
    expect(await living()).toEqual(expect.arrayContaining(pids));
    // A line that was no message cost itself alone.
    expect(strays).toHaveLength(1);
    await transport.close();
    expect(await living()).toEqual([]);
  }, 300_000);

  it('gets a small environment, and no keys of ours', async () => {
    const dir = tempDir();
    const script = 'console.error(Object.keys(process.env).sort().join(",")); process.exit(0)';
    const transport = new StdioTransport({ command: process.execPath, args: ['-e', script], env: { PATH: '/bin', X: '1' }, cwd: dir });
    const closed = new Promise<void>((resolve) => {
      transport.onclose = () => resolve();
    });
    await transport.start();
    await closed;
    expect(transport.lastWords).toBe('it exited with code 0; its standard error ends with: PATH,SIXGATES_COMMAND_ID,X');
    await expect(transport.send({ jsonrpc: '2.0', method: 'late' })).rejects.toThrow('not running');
    await transport.close();
  }, 300_000);
});
