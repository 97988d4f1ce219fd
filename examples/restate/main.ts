/**
 * A session that outlives its workers. One command starts a Restate server and two worker processes, all from npm packages, and lets a
 * scripted model mend a small program on them. While a person is asked for permission, every worker is killed; the answer finds the
 * session again.
 *
 * `npx tsx examples/restate/main.ts`
 */
import cluster from 'node:cluster';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectSession, serveSessionsFromProcesses, startLocalRestate } from 'sixgates/restate';
import { scriptedServer, text, toolUse } from 'sixgates/testing';

/** Where everything is, as the workers are told. */
interface Place {
  readonly shop: string;
  readonly model: string;
  readonly ingress: string;
  readonly admin: string;
  readonly port: number;
}

/** The same in every worker: a query that one has begun may go on in the other. */
const serve = ({ shop, model, ingress, admin, port }: Place, onWorker: (pid: number) => void = () => {}) =>
  serveSessionsFromProcesses({
    count: 2,
    ingress,
    admin,
    port,
    onWorker,
    log: () => {},
    session: {
      cwd: shop,
      settings: { home: shop, files: false },
      model: { baseURL: model, apiKey: 'scripted', system: 'You mend small programs.' },
      permissions: { allow: ['Bash(npm test)'] },
    },
  });

if (cluster.isPrimary) await lead();
else await serve(JSON.parse(process.env.SIXGATES_EXAMPLE ?? '{}'));

async function lead(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'sixgates-restate-'));
  const shop = join(dir, 'corner-shop');
  await cp(fileURLToPath(new URL('../demo-project', import.meta.url)), shop, { recursive: true });
  const basket = join(shop, 'src/basket.js');

  const restate = await startLocalRestate({ dir: join(dir, 'restate') });
  const model = await scriptedServer({
    script: [
      [text('I will run the tests.'), toolUse('Bash', { command: 'npm test' }), toolUse('Read', { file_path: basket })],
      [toolUse('Edit', { file_path: basket, old_string: 'pieces > BULK_FROM', new_string: 'pieces >= BULK_FROM' })],
      [text('And again.'), toolUse('Bash', { command: 'npm test' })],
      [text('The discount applies from the tenth piece on, and all tests pass.')],
    ],
  });
  const place: Place = { shop, model: model.url, ingress: restate.ingress, admin: restate.admin, port: await freePort() };
  process.env.SIXGATES_EXAMPLE = JSON.stringify(place);
  const pids = new Set<number>();
  const workers = await serve(place, (pid) => {
    pids.add(pid);
    console.log(`worker ${pid} is there`);
  });

  const session = connectSession({ ingress: restate.ingress, sessionId: 'corner-shop' });
  session.updates$.subscribe((update) => {
    if (update.type === 'call.result') console.log(`${update.tool}: ${update.outcome.summary}`);
    if (update.type === 'notice') console.log(update.message);
    if (update.type !== 'permission.requested') return;
    const { callId, inputDigest, title } = update.prompt;
    console.log(`May it? ${title}`);
    for (const pid of pids) {
      process.kill(pid, 'SIGKILL');
      console.log(`worker ${pid} is killed`);
    }
    pids.clear();
    session.answer(callId, inputDigest, { behavior: 'allow', source: { type: 'person', surface: 'example' } });
    console.log('Yes.');
  });
  const { text: words } = await session.send('A test of this shop fails. Find the bug and mend it.').done;
  console.log(words);
  const isMended = (await readFile(basket, 'utf8')).includes('pieces >= BULK_FROM');
  console.log(isMended ? 'src/basket.js is mended.' : 'src/basket.js is not mended!');

  session.detach();
  workers.stop();
  await model.close();
  await restate.kill();
  await rm(dir, { recursive: true, force: true });
  process.exit(isMended ? 0 : 1);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 9080));
    });
  });
}
