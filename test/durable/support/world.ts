/*
 * The world that workers act on, as a process of its own: the scripted API, and a place where side effects happen and are counted. It
 * survives whatever happens to a worker, and knows what really ran.
 */
import { createServer } from 'node:http';
import { z } from 'zod';
import { scriptedServer } from '../../../src/testing/server/server.js';
import { answerTo, BENCH_PLAN, flowPlan } from './flows.js';

const effectSchema = z.object({ what: z.enum(['begin', 'end']), sessionId: z.string(), callId: z.string() });
const longestMs = Number(process.env.WORLD_TOOL_MS ?? 300);

const api = await scriptedServer({
  script: ({ body }) => answerTo(body, (seed) => (process.env.WORLD_PLAN === 'bench' ? BENCH_PLAN : flowPlan(seed, longestMs))),
});
const counts = new Map<string, { begin: number; end: number }>();

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.url === '/effect') {
      const { what, callId } = effectSchema.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      const count = counts.get(callId) ?? { begin: 0, end: 0 };
      count[what]++;
      counts.set(callId, count);
      response.end('{}');
      return;
    }
    response.end(JSON.stringify({ effects: Object.fromEntries(counts), requests: api.requests.length, refusals: api.refusals }));
  });
});
server.keepAliveTimeout = 300_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ world: `http://127.0.0.1:${port}`, api: api.url })}\n`);
});
