import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RuleMatch } from '../../src/permissions/types.js';
import { parseToolInput } from '../../src/tool/parse-input.js';
import type { AnyTool, Tool, ToolContext } from '../../src/tool/types.js';
import { createFileLedger } from '../../src/tools/fs/ledger.js';

/** A directory of its own for a test, and how to get rid of it. */
export function temporaryDirectory(): { readonly dir: string; readonly remove: () => void } {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'sixgates-test-')));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

let calls = 0;

export interface TestContextOptions extends Partial<ToolContext> {
  /** Paths that a Read deny rule covers. */
  readonly deniedToRead?: (absolute: string) => boolean;
  readonly deniedToEdit?: (absolute: string) => boolean;
}

/** A context as a session would give it, over a real directory. */
export function contextIn(dir: string, options: TestContextOptions = {}): ToolContext {
  const { deniedToRead = () => false, deniedToEdit = () => false, ...rest } = options;
  const resultsDir = path.join(dir, '.results');
  mkdirSync(resultsDir, { recursive: true });
  const match: RuleMatch = { rule: { behavior: 'deny', toolName: 'Read', text: 'Read(x)', scope: 'session', root: dir } };
  return {
    sessionId: 'session',
    callId: `toolu_test${calls++}`,
    cwd: dir,
    env: { PATH: process.env.PATH, HOME: dir, SHELL: '/bin/bash', LANG: 'C.UTF-8' },
    signal: new AbortController().signal,
    permissions: {
      mode: 'default',
      directories: [dir],
      deniesPath: (access, absolute) => ((access === 'read' ? deniedToRead : deniedToEdit)(absolute) ? match : null),
    },
    files: createFileLedger(),
    resultsDir,
    askPerson: () => Promise.reject(new Error('there is no person in this test')),
    capabilities: {},
    ...rest,
  };
}

/** Parses and validates an input as the runtime does, then calls the tool. */
export async function run<Input extends object, Output>(tool: Tool<Input, Output>, input: unknown, context: ToolContext): Promise<Output> {
  const parsed = parseToolInput(tool, input);
  if (!parsed.ok) throw new Error(parsed.message);
  // The tool's own schema has just produced it.
  const typed = parsed.input as Input;
  const verdict = await tool.validateInput?.(typed, context);
  if (verdict?.ok === false) throw new Error(verdict.message);
  return (await tool.call(typed, context, () => undefined)).data;
}

/** The text that the model gets for an output. */
export function shown(tool: AnyTool, output: unknown): string {
  const { content } = tool.mapToolResultToToolResultBlockParam(output);
  if (typeof content === 'string') return content;
  return (content ?? []).map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}
