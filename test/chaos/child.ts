import { appendFileSync, existsSync } from 'node:fs';
import { z } from 'zod';
import { createSession } from '../../src/session/session.js';
import { buildTool } from '../../src/tool/index.js';
import type { AnyTool } from '../../src/tool/types.js';
import { readWorld, transcriptOf } from './world.js';

/*
 * The process that is killed. It opens (or resumes) the one session, answers its questions with yes, and goes on giving it prompts. With
 * `finish` it gives one last prompt, waits until nothing moves any more, and closes in good order.
 */

const world = readWorld(process.argv[2]);

const leavesTrace = (name: string, isConcurrencySafe: boolean): AnyTool =>
  buildTool({
    name,
    description: `${name} leaves a line in a file`,
    inputSchema: z.object({ ms: z.number() }),
    isConcurrencySafe: () => isConcurrencySafe,
    call: async ({ ms }, { callId }) => {
      await pause(ms);
      appendFileSync(world.log, `${callId}\n`);
      await pause(ms);
      return { data: `did ${callId}` };
    },
  });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const session = createSession({
  cwd: world.cwd,
  store: world.store,
  ...(existsSync(transcriptOf(world)) ? { resume: world.sessionId } : { sessionId: world.sessionId }),
  model: { baseURL: world.url, apiKey: 'test', retry: { maxRetries: 2 } },
  settings: { home: world.cwd, files: false },
  builtInTools: ['Agent', 'Bash', 'Read', 'Glob'],
  tools: [leavesTrace('Effect', false), leavesTrace('Beside', true), leavesTrace('Gated', false)],
  ...(world.mcpServer === undefined
    ? {}
    : { mcpServers: { chaos: { command: process.execPath, args: ['--import', 'tsx', world.mcpServer, world.log] } } }),
  permissions: { allow: ['Effect', 'Beside', 'Agent', 'Bash', 'mcp__chaos'] },
  interactive: true,
  limits: { compactAtTokens: world.compactAtTokens },
});
session.updates$.subscribe((update) => {
  if (update.type === 'permission.requested') {
    const { callId, inputDigest } = update.prompt;
    const source = { type: 'person', surface: 'chaos' } as const;
    setTimeout(() => session.answer(callId, inputDigest, { behavior: 'allow', source }), 15);
  }
  if (update.type === 'notice' && update.level === 'error') process.stderr.write(`${update.message}\n`);
});
process.stdout.write('ready\n');

for (let n = 0; n === 0 || !world.finish; n++) await session.send(`prompt ${process.pid}-${n}`).done;
const isQuiet = () =>
  session.actor.getSnapshot().matches({ conversation: 'idle' }) && session.tasks.every((task) => task.status !== 'running');
for (let quiet = 0; quiet < 5; quiet = isQuiet() ? quiet + 1 : 0) await pause(20);
await session.close();
