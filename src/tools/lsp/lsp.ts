import path from 'node:path';
import { z } from 'zod';
import type { JsonValue } from '../../json.js';
import { buildTool } from '../../tool/build.js';
import { ToolFailure } from '../../tool/errors.js';
import type { ToolContext } from '../../tool/types.js';
import { approvedTarget } from '../fs/access.js';
import { absolutePath, isInside, refusePath } from '../fs/paths.js';
import { readable } from '../search/place.js';
import { callLines, diagnosticLines, hoverText, locationLines, symbolLines } from './format.js';
import { LanguageServer, type LanguageServerConfig } from './server.js';

const OPERATIONS = [
  'goToDefinition',
  'goToImplementation',
  'findReferences',
  'hover',
  'documentSymbol',
  'workspaceSymbol',
  'incomingCalls',
  'outgoingCalls',
  'diagnostics',
] as const;

const inputSchema = z.strictObject({
  operation: z.enum(OPERATIONS),
  filePath: z.string().describe('Absolute path of the file'),
  line: z.number().int().positive().default(1).describe('Line of the symbol, from 1'),
  character: z.number().int().positive().default(1).describe('Column of the symbol, from 1'),
  query: z.string().optional().describe('Name to search for; for workspaceSymbol'),
});
type LspInput = z.output<typeof inputSchema>;

export interface LspOutput {
  readonly operation: LspInput['operation'];
  readonly lines: readonly string[];
}

const MAX_LINES = 200;

/** Asks a language server about code: definitions, references, symbols, calls, diagnostics. */
export function lspTool(servers: readonly LanguageServerConfig[]) {
  const running = new Map<string, LanguageServer>();
  return buildTool({
    name: 'LSP',
    description: 'Ask a language server about code',
    prompt: `Asks a language server about the symbol at a place in a file: ${OPERATIONS.join(', ')}. Lines and columns count from 1.`,
    inputSchema,
    searchHint: 'definition references hover symbol diagnostics language server',
    isEnabled: () => servers.length > 0,
    isReadOnly: () => true,
    isDestructive: () => false,
    idempotent: true,
    shouldDefer: true,
    interruptBehavior: 'cancel',
    backfillObservableInput: (input, cwd) => ({ ...input, filePath: absolutePath(input.filePath, cwd) }),
    validateInput(input) {
      const refusal = refusePath(input.filePath);
      if (refusal !== undefined) return { ok: false, message: refusal };
      return input.operation === 'workspaceSymbol' && input.query === undefined
        ? { ok: false, message: 'query is needed for workspaceSymbol.' }
        : { ok: true };
    },
    async call(input, context) {
      const { real } = await approvedTarget(input.filePath, 'read', context);
      const config = servers.find(({ languages }) => Object.hasOwn(languages, path.extname(real)));
      if (config === undefined)
        throw new ToolFailure(`No language server is configured for ${path.extname(real) || 'files without extension'}.`);
      const root = context.permissions.directories.find((directory) => isInside(directory, real)) ?? path.dirname(real);
      const key = JSON.stringify([config.command, config.args, root]);
      const server = running.get(key) ?? new LanguageServer(config, root, context.env);
      running.set(key, server);
      const lines = await ask(server, input, real, context);
      const output: LspOutput = { operation: input.operation, lines };
      return { data: output };
    },
    mapToolResultToToolResultBlockParam({ operation, lines }) {
      if (lines.length === 0) return { content: operation === 'diagnostics' ? 'No diagnostics' : 'Nothing found' };
      const more = lines.length > MAX_LINES ? [`(${lines.length - MAX_LINES} more)`] : [];
      return { content: [...lines.slice(0, MAX_LINES), ...more].join('\n') };
    },
    renderToolUseMessage: (input) => ({ title: `${input.operation} ${input.filePath}:${input.line}:${input.character}` }),
    renderToolResultMessage: ({ operation, lines }) => ({ title: operation, body: lines.join('\n'), format: 'code' }),
  });
}

async function ask(server: LanguageServer, input: LspInput, file: string, context: ToolContext): Promise<string[]> {
  const uri = await server.open(file, context.signal);
  const place = { textDocument: { uri }, position: { line: input.line - 1, character: input.character - 1 } };
  const request = (method: string, params: JsonValue): Promise<JsonValue> => server.request(method, params, context.signal);
  const view = { cwd: context.cwd, mayRead: readable(context) };
  switch (input.operation) {
    case 'goToDefinition':
      return locationLines(await request('textDocument/definition', place), view);
    case 'goToImplementation':
      return locationLines(await request('textDocument/implementation', place), view);
    case 'findReferences':
      return locationLines(await request('textDocument/references', { ...place, context: { includeDeclaration: true } }), view);
    case 'hover':
      return hoverText(await request('textDocument/hover', place));
    case 'documentSymbol':
      return symbolLines(await request('textDocument/documentSymbol', { textDocument: { uri } }), view);
    case 'workspaceSymbol':
      return symbolLines(await request('workspace/symbol', { query: input.query ?? '' }), view);
    case 'diagnostics': {
      const diagnostics = await server.diagnostics(file, context.signal);
      return diagnostics === undefined ? ['The language server has said nothing about this file so far.'] : diagnosticLines(diagnostics);
    }
    case 'incomingCalls':
    case 'outgoingCalls': {
      const items = await request('textDocument/prepareCallHierarchy', place);
      const [item] = Array.isArray(items) ? items : [];
      if (item === undefined) return [];
      const isIncoming = input.operation === 'incomingCalls';
      return callLines(await request(`callHierarchy/${input.operation}`, { item }), isIncoming ? 'from' : 'to', view);
    }
  }
}
