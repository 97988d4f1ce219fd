import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { buildTool, createSession, type Session } from '../../../src/index.js';
import { type AttachOptions, attachInspector, inspectFlow, startRecorder } from '../../../src/inspect/index.js';
import type { SessionOptions } from '../../../src/session/options.js';
import { type Contestant, type ContestantSetup, LOOK_DESCRIPTION } from './contestant.js';

/** What is added to a plain session. */
export type SixgatesVariant =
  | 'plain'
  | 'file-store'
  | 'recording'
  | 'inspector'
  | 'inspector-from-first-page'
  | 'inspector-recording'
  | 'hook-for-another-tool'
  | 'function-hook'
  | 'command-hook';

export function createContestant({ baseURL, variant, look }: ContestantSetup): Contestant {
  const home = mkdtempSync(join(tmpdir(), 'sixgates-bench-'));
  const tool = buildTool({
    name: 'Look',
    description: LOOK_DESCRIPTION,
    inputSchema: z.strictObject({ path: z.string(), line: z.number() }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    call: async ({ path }) => ({ data: await look(path) }),
  });
  const options: SessionOptions = {
    model: { baseURL, apiKey: 'bench', id: 'claude-sonnet-5-5' },
    cwd: home,
    settings: { home, ...(variant === 'command-hook' ? { file: commandHook(home) } : {}) },
    tools: [tool],
    builtInTools: false,
    permissions: { allow: ['Look'] },
    store: variant === 'file-store' ? join(home, 'data') : false,
    // The contestants differ in defaults; all may run what the model asks for at once, and none summarises.
    limits: { maxConcurrency: 64, compactAtTokens: 0, maxTurns: 10_000 },
    ...functionHook(variant),
  };
  return {
    open: async () => {
      const session = createSession(options);
      const stopWatching = await watch(session, variant, home);
      return {
        send: async (prompt) => {
          const ended = await session.send(prompt).done;
          if (ended.end !== 'completed') throw new Error(`The query ended otherwise: ${ended.end}, ${ended.reason}`);
        },
        close: async () => {
          await session.close();
          await stopWatching();
        },
        history: () => session.messages,
      };
    },
  };
}

function functionHook(variant: string): Pick<SessionOptions, 'hooks'> {
  if (variant !== 'function-hook' && variant !== 'hook-for-another-tool') return {};
  const matcher = variant === 'function-hook' ? 'Look' : 'Bash';
  return { hooks: { PreToolUse: [{ matcher, hooks: [async () => ({})] }] } };
}

function commandHook(home: string): string {
  const file = join(home, 'hooks.json');
  writeFileSync(
    file,
    JSON.stringify({ hooks: { PreToolUse: [{ matcher: 'Look', hooks: [{ type: 'command', command: 'true', args: [] }] }] } }),
  );
  return file;
}

const ATTACHED: Partial<Record<string, (file: string) => AttachOptions>> = {
  inspector: () => ({}),
  'inspector-from-first-page': () => ({ from: 'firstPage' }),
  'inspector-recording': (record) => ({ record }),
};

async function watch(session: Session, variant: string, home: string): Promise<() => Promise<void>> {
  const file = join(home, `${session.id}.flow.jsonl.gz`);
  if (variant === 'recording') {
    const system = inspectFlow(session);
    const recorder = startRecorder(system.log, file);
    return async () => {
      system.detach();
      await recorder.close();
    };
  }
  const attached = ATTACHED[variant]?.(file);
  if (attached) {
    const inspector = await attachInspector(session, attached);
    return () => inspector.close();
  }
  return async () => {};
}
