import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { z } from 'zod';
import type { SessionOptions } from '../../src/session/options.js';
import { createSession, type Session } from '../../src/session/session.js';
import type { SessionUpdate } from '../../src/session/updates.js';
import { type Script, type ScriptedServer, scriptedServer } from '../../src/testing/index.js';
import { buildTool, type ToolDefinition } from '../../src/tool/index.js';
import type { AnyTool } from '../../src/tool/types.js';

/** A directory of its own for one test. */
export const tempDir = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'sixgates-test-')));

export interface Scene {
  readonly session: Session;
  readonly server: ScriptedServer;
  /** Every update so far, in order. */
  readonly updates: SessionUpdate[];
  readonly cwd: string;
  of<T extends SessionUpdate['type']>(type: T): Extract<SessionUpdate, { type: T }>[];
  /** The states a call went through. */
  statesOf(callId: string): readonly string[];
  /** The result blocks of the last user message that has any, by call id. */
  results(): ReadonlyMap<string, { readonly text: string; readonly isError: boolean }>;
}

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A session against the scripted API server, through the real SDK, in a directory of its own. Closed after the test. */
export async function scene(script: Script, options: SessionOptions = {}): Promise<Scene> {
  const cwd = options.cwd ?? tempDir();
  const server = await scriptedServer({ script });
  open.push(server);
  const updates: SessionUpdate[] = [];
  const { model, ...rest } = options;
  const session = createSession({
    builtInTools: false,
    store: false,
    settings: { home: cwd },
    ...rest,
    cwd,
    model: { baseURL: server.url, apiKey: 'test', ...(typeof model === 'object' ? model : {}) },
    onUpdate: (update) => {
      updates.push(update);
      options.onUpdate?.(update);
    },
  });
  open.push(session);
  return {
    session,
    server,
    updates,
    cwd,
    of: (type) => updates.filter((update): update is Extract<SessionUpdate, { type: typeof type }> => update.type === type),
    statesOf: (callId) => updates.flatMap((update) => (update.type === 'call.state' && update.callId === callId ? [update.state] : [])),
    results: () => resultsOf(session),
  };
}

function resultsOf(session: Session): ReadonlyMap<string, { readonly text: string; readonly isError: boolean }> {
  const blocks = session.messages.flatMap((message) => (typeof message.content === 'string' ? [] : message.content));
  return new Map(
    blocks.flatMap((block) => {
      if (block.type !== 'tool_result') return [];
      const content = block.content ?? '';
      const text = typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
      return [[block.tool_use_id, { text, isError: block.is_error === true }] as const];
    }),
  );
}

/** A tool for tests; safe and read-only unless told otherwise. Allowed by rules like any other. */
export function testTool(definition: Partial<ToolDefinition<Record<string, unknown>, unknown>> & { readonly name: string }): AnyTool {
  return buildTool<Record<string, unknown>, unknown>({
    description: definition.name,
    inputSchema: z.record(z.string(), z.unknown()),
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    call: async (input) => ({ data: `${definition.name} ${JSON.stringify(input)}` }),
    ...definition,
  });
}

/** A promise that a test settles by hand. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}
export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
