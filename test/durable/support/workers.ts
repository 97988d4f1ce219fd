/* Two workers behind one address, as `sixgates serve` runs them, with tools whose effects are counted elsewhere. */
import cluster from 'node:cluster';
import { serveSessionsFromProcesses } from '../../../src/durable/workers.js';
import { WORLD_RULES, worldTools } from './tools.js';

const { WORLD = '', API = '', INGRESS = '', ADMIN = '', PORT = '0', HOME_DIR = '/', INACTIVITY = '60000', COUNT = '2' } = process.env;

await serveSessionsFromProcesses({
  count: Number(COUNT),
  port: Number(PORT),
  ingress: INGRESS,
  admin: ADMIN,
  inactivityMs: Number(INACTIVITY),
  onWorker: (pid) => process.stdout.write(`${JSON.stringify({ worker: pid })}\n`),
  log: () => {},
  session: {
    cwd: HOME_DIR,
    settings: { home: HOME_DIR, files: false },
    builtInTools: false,
    tools: worldTools(WORLD),
    permissions: WORLD_RULES,
    model: { baseURL: API, apiKey: 'test', id: 'claude-test' },
    env: {},
  },
});
if (cluster.isPrimary) process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
