import { writeFileSync } from 'node:fs';
import path from 'node:path';
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
