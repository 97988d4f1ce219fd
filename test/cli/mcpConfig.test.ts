import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CliError } from '../../src/cli/failure.js';
import { readMcpConfigs } from '../../src/cli/mcpConfig.js';
import { parseRunOptions, sessionOpener } from '../../src/cli/runOptions.js';
import type { Session } from '../../src/session/session.js';
import { tempDir } from '../support/sessions.js';

const opened: Session[] = [];
afterEach(async () => {
  for (const session of opened.splice(0)) await session.close();
});

const json = (mcpServers: Readonly<Record<string, unknown>>): string => JSON.stringify({ mcpServers });
/** A program that ends at once: it is declared, not connected. */
const program = { command: process.execPath, args: ['-e', ''] };

/** A project whose `.mcp.json` declares a server, as a session of these options sees its servers. */
function serversOf(options: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  const base = tempDir();
  const cwd = join(base, 'project');
  mkdirSync(cwd);
  writeFileSync(join(cwd, '.mcp.json'), json({ project: program, shared: program }));
  const session = sessionOpener(parseRunOptions({ cwd, dataDir: join(base, 'data'), ...options }), false, () => undefined).open();
  opened.push(session);
  return session.servers.map(({ name, source }) => [name, source]);
}

describe('--mcp-config', () => {
  it('adds servers to those of the project, and counts before them', () => {
    expect(serversOf({ mcpConfig: [json({ mine: program, shared: program })] })).toEqual([
      ['mine', 'code'],
      ['project', 'project'],
      ['shared', 'code'],
    ]);
  });

  it('with --strict-mcp-config is all there is', () => {
    expect(serversOf({ mcpConfig: [json({ mine: program })], strictMcpConfig: true })).toEqual([['mine', 'code']]);
    expect(serversOf({ strictMcpConfig: true })).toEqual([]);
  });

  it('takes files and JSON, several of them; of one name the last counts, and variables are replaced', () => {
    const file = join(tempDir(), 'servers.json');
    writeFileSync(file, json({ one: { command: 'first' }, two: { type: 'http', url: '$' + '{HOST:-http://localhost}/mcp' } }));
    expect(readMcpConfigs([file, ` ${json({ one: { command: '$' + '{PROGRAM}' } })}`], { PROGRAM: 'second' })).toEqual({
      one: { type: 'stdio', command: 'second' },
      two: { type: 'http', url: 'http://localhost/mcp' },
    });
  });

  it('is refused with place, server and field where it cannot be used', () => {
    const file = join(tempDir(), 'servers.json');
    writeFileSync(file, '{ "mcpServers": { "a": { "command": "x" }, } }');
    const refused: readonly (readonly [string, string])[] = [
      [join(file, 'none'), `--mcp-config ${join(file, 'none')}: the file cannot be read`],
      [file, `--mcp-config ${file}: not valid JSON`],
      ['{', '--mcp-config: not valid JSON'],
      ['{"servers":{}}', '--mcp-config: an object {"mcpServers": {…}}'],
      [json({ a: { type: 'http' } }), '--mcp-config: mcpServers.a: url: '],
      [json({ a: { url: 'http://localhost' } }), '--mcp-config: mcpServers.a: a server with a `url` needs a `type`'],
      [json({ a: { command: '$' + '{NOT_SET}' } }), '--mcp-config: mcpServers.a: command: the variable NOT_SET is not set'],
      [json({ ' ': program }), '--mcp-config: mcpServers: a server needs a name'],
    ];
    for (const [given, message] of refused) {
      const attempt = () => readMcpConfigs([given], {});
      expect(attempt).toThrow(CliError);
      expect(attempt).toThrow(message);
    }
  });
});
