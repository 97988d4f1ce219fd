/* The sessions of `workers.ts` without an engine: the same tools, API and flows in one process. */
import { createSession } from '../../../src/session/session.js';
import { inLanes } from './lanes.js';
import { WORLD_RULES, worldTools } from './tools.js';

const { WORLD = '', API = '', HOME_DIR = '/', SESSIONS = '10', AT_ONCE = '10' } = process.env;
const tools = worldTools(WORLD);

const since = Date.now();
const cpu = process.cpuUsage();
const times = await inLanes(Number(SESSIONS), Number(AT_ONCE), async (n) => {
  const began = Date.now();
  const session = createSession({
    cwd: HOME_DIR,
    settings: { home: HOME_DIR, files: false },
    builtInTools: false,
    tools,
    permissions: WORLD_RULES,
    model: { baseURL: API, apiKey: 'test', id: 'claude-test' },
    env: {},
    store: false,
  });
  const { end, text } = await session.send(`flow ${n}`).done;
  if (end !== 'completed' || text !== `flow ${n} is done`) throw new Error(`flow ${n} ended with ${end}: ${text}`);
  const ms = Date.now() - began;
  await session.close();
  return ms;
});
const { user, system } = process.cpuUsage(cpu);
process.stdout.write(`${JSON.stringify({ times, ms: Date.now() - since, cpuMs: (user + system) / 1_000 })}\n`);
