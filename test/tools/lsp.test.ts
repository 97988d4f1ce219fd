import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FrameReader, frame } from '../../src/tools/lsp/framing.js';
import { lspTool } from '../../src/tools/lsp/lsp.js';
import { contextIn, run, shown, temporaryDirectory } from './context.js';

const { dir, remove } = temporaryDirectory();
afterAll(remove);
const tsc = path.resolve(import.meta.dirname, '../../node_modules/.bin/tsc');
const lsp = lspTool([{ command: tsc, args: ['--lsp', '--stdio'], languages: { '.ts': 'typescript' } }]);
const file = path.join(dir, 'a.ts');
const context = contextIn(dir, { env: process.env });
const ask = async (input: object) => shown(lsp, await run(lsp, { filePath: file, ...input }, context));

beforeAll(() => {
  writeFileSync(path.join(dir, 'tsconfig.json'), '{"compilerOptions":{"strict":true}}');
  writeFileSync(file, "import { one } from './b.js';\nexport const wrong: string = one();\n");
  writeFileSync(path.join(dir, 'b.ts'), '/** Always one. */\nexport function one(): number {\n  return 1;\n}\n');
});

describe('a language server', () => {
  it('answers about definitions, references, hover, symbols and diagnostics', async () => {
    expect(await ask({ operation: 'goToDefinition', line: 2, character: 30 })).toBe('b.ts:2:17');
    expect((await ask({ operation: 'findReferences', line: 2, character: 30 })).split('\n').toSorted()).toEqual([
      'a.ts:1:10',
      'a.ts:2:30',
      'b.ts:2:17',
    ]);
    expect(await ask({ operation: 'hover', line: 2, character: 30 })).toContain('Always one.');
    expect(await ask({ operation: 'documentSymbol' })).toContain('wrong (line 2)');
    expect(await ask({ operation: 'diagnostics' })).toMatch(/^2:14 error: .*'number' is not assignable to type 'string'/);
  });

  it('sees a file as it is now', async () => {
    writeFileSync(file, "import { one } from './b.js';\nexport const right: number = one();\n");
    expect(await ask({ operation: 'diagnostics' })).toBe('No diagnostics');
  });

  it('shows no place in a file that a Read deny rule covers', async () => {
    const denied = contextIn(dir, { env: process.env, deniedToRead: (other) => other.endsWith('b.ts') });
    expect(shown(lsp, await run(lsp, { filePath: file, operation: 'goToDefinition', line: 2, character: 31 }, denied))).toBe(
      'Nothing found',
    );
  });

  it('that cannot be started, or that is none, is an error with a reason', async () => {
    const missing = lspTool([{ command: '/nowhere/server', args: [], languages: { '.ts': 'typescript' } }]);
    await expect(run(missing, { filePath: file, operation: 'hover' }, context)).rejects.toThrow('could not be started');
    const silent = lspTool([{ command: process.execPath, args: ['-e', 'process.exit(3)'], languages: { '.ts': 'typescript' } }]);
    await expect(run(silent, { filePath: file, operation: 'hover' }, context)).rejects.toThrow(/could not be started|has ended/);
    await expect(run(lsp, { filePath: path.join(dir, 'tsconfig.json'), operation: 'hover' }, context)).rejects.toThrow(
      'No language server is configured for .json',
    );
  });
});

describe('a language server that is otherwise', () => {
  /** A server of a few lines: what it does with a message `m` is `on`; `say` answers. */
  const server = (on: string) => {
    const program = `
      let buffer = Buffer.alloc(0);
      const say = (message) => {
        const text = JSON.stringify({ jsonrpc: '2.0', ...message });
        process.stdout.write('Content-Length: ' + Buffer.byteLength(text) + '\\r\\n\\r\\n' + text);
      };
      process.stdin.on('data', (chunk) => {
        buffer = Buffer.concat([buffer, chunk]);
        for (;;) {
          const end = buffer.indexOf('\\r\\n\\r\\n');
          if (end < 0) return;
          const length = Number(/Content-Length: (\\d+)/.exec(buffer.toString('utf8', 0, end))[1]);
          if (buffer.length < end + 4 + length) return;
          const m = JSON.parse(buffer.toString('utf8', end + 4, end + 4 + length));
          buffer = buffer.subarray(end + 4 + length);
          if (m.method === 'initialize') say({ id: m.id, result: { capabilities: {} } });
          else { ${on} }
        }
      });
      process.stdin.on('end', () => process.exit(0));`;
    return lspTool([{ command: process.execPath, args: ['-e', program], languages: { '.ts': 'typescript' } }]);
  };
  const odd = path.join(dir, 'a (b)!.ts');
  beforeAll(() => writeFileSync(odd, 'x'));

  it('is understood though it writes names of files in another way, and of an older text', async () => {
    const range = '{ start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }';
    const tool = server(`
      if (m.method !== 'textDocument/didOpen') continue;
      const uri = m.params.textDocument.uri.replace('(', '%28').replace(')', '%29').replace('!', '%21');
      const diagnostics = (message) => [{ message, range: ${range} }];
      say({ method: 'textDocument/publishDiagnostics', params: { uri, version: 1, diagnostics: diagnostics('is wrong') } });
      say({ method: 'textDocument/publishDiagnostics', params: { uri, version: 0, diagnostics: diagnostics('was wrong') } });`);
    const output = await run(tool, { filePath: odd, operation: 'diagnostics' }, context);
    expect(shown(tool, output)).toBe('1:1 error: is wrong');
  });

  it('is not said to have found nothing where it said nothing; a place that is none hides no other', async () => {
    const range = '{ start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }';
    const tool = server(`
      if (m.id === undefined) continue;
      const uris = ['file://elsewhere/x', 'file:///a%2Fb', 'untitled:1', ${JSON.stringify(pathToFileURL(odd).href)}];
      say({ id: m.id, result: uris.map((uri) => ({ uri, range: ${range} })) });`);
    expect(shown(tool, await run(tool, { filePath: odd, operation: 'diagnostics' }, context))).toContain('said nothing');
    expect(shown(tool, await run(tool, { filePath: odd, operation: 'goToDefinition' }, context))).toBe('a (b)!.ts:1:1');
  });

  it('does not keep the program alive when it never answers', async () => {
    const asking = path.join(dir, 'asked');
    const tool = server(`if (m.method === 'textDocument/hover') require('node:fs').writeFileSync(${JSON.stringify(asking)}, '');`);
    const call = (signal: AbortSignal) => run(tool, { filePath: odd, operation: 'hover' }, contextIn(dir, { env: process.env, signal }));
    const stop = new AbortController();
    const asked = call(stop.signal);
    await expect.poll(() => existsSync(asking), { timeout: 60_000 }).toBe(true);
    expect(process.getActiveResourcesInfo()).toContain('ProcessWrap');
    stop.abort('userInterrupt');
    await expect(asked).rejects.toThrow('stopped (userInterrupt)');
    await expect(call(AbortSignal.abort('userInterrupt'))).rejects.toThrow('userInterrupt');
    expect(process.getActiveResourcesInfo()).not.toContain('ProcessWrap');
  });
});

it('cuts messages from a stream wherever it is split', () => {
  const stream = Buffer.from(frame({ id: 1, text: 'é≤😀' }) + frame({ id: 2 }));
  for (let at = 0; at <= stream.length; at++) {
    const reader = new FrameReader();
    const messages = [...reader.push(stream.subarray(0, at)), ...reader.push(stream.subarray(at))];
    expect(messages).toEqual([
      { jsonrpc: '2.0', id: 1, text: 'é≤😀' },
      { jsonrpc: '2.0', id: 2 },
    ]);
  }
  expect(() => new FrameReader().push(Buffer.from('hello\r\n\r\n'))).toThrow('does not speak');
});
