import cluster from 'node:cluster';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command, Option } from 'commander';
import { z } from 'zod';
import type { SessionOptions } from '../session/options.js';
import { errorCode } from '../tool/errors.js';
import { CliError, messageOf } from './failure.js';
import { collect, directoryOf, wholeNumber } from './place.js';
import { addSessionOptions, sessionFlags, sessionOptionsSchema } from './sessionOptions.js';

const serveOptionsSchema = sessionOptionsSchema.extend({
  restate: z.string(),
  admin: z.string().optional(),
  port: z.number().default(9080),
  host: z.string().default('127.0.0.1'),
  workers: z.number().default(1),
  identityKey: z.array(z.string()).default([]),
  config: z.string().optional(),
  cwd: z.string().default(process.cwd()),
});
type ServeOptions = z.infer<typeof serveOptionsSchema>;
type SessionSource = SessionOptions | ((sessionId: string) => SessionOptions | Promise<SessionOptions>);

/** `sixgates serve`: worker processes that run sessions for a Restate server. */
export function serveCommand(): Command {
  const command = new Command('serve')
    .description('run sessions for a Restate server, in worker processes that may die and be replaced at any time')
    .requiredOption('--restate <url>', "address of Restate's ingress, as in http://127.0.0.1:8080")
    .option('--admin <url>', "address of Restate's admin API, to register with (default: the same host, port 9070)")
    .addOption(new Option('--port <n>', 'port of the workers (default: 9080)').argParser(wholeNumber))
    .option('--host <address>', 'address of the workers; whoever reaches it can run sessions (default: 127.0.0.1)')
    .addOption(new Option('--workers <n>', 'worker processes (default: 1)').argParser(wholeNumber))
    .addOption(
      new Option('--identity-key <key>', 'public key of a Restate server that may call; may be repeated')
        .argParser(collect)
        .default([], 'any caller'),
    )
    .option('--config <module>', 'ES module whose default export gives the options of a session: tools, hooks, model')
    .option('--cwd <dir>', 'working directory of the tools; the same on every host (default: the current one)');
  return addSessionOptions(command)
    .addHelpText('after', HELP)
    .action(async (raw: unknown) => serve(serveOptionsSchema.parse(raw)));
}

const HELP = `
Give a session a prompt with: sixgates run --restate <url> "…"
Workers of one deployment must be alike: a query that one began may go on in another. Serve changed workers under another port.`;

async function serve(options: ServeOptions): Promise<void> {
  const { restate, port, host, workers, identityKey } = options;
  const { serveSessionsFromProcesses } = await loadDurable();
  const session = await sessionOf(options);
  const admin = options.admin ?? adminOf(restate);
  if (cluster.isPrimary) await checkAddress(host, port);
  const { url, stop } = await serveSessionsFromProcesses({
    session,
    ingress: restate,
    admin,
    port,
    host,
    count: workers,
    ...(identityKey.length === 0 ? {} : { identityKeys: identityKey }),
  }).catch((error: unknown) => {
    // Workers that have begun would hold this process open; without it they end.
    process.stderr.write(`sixgates: ${messageOf(error)}\n`);
    process.exit(2);
  });
  if (!cluster.isPrimary) return;
  process.stderr.write(`${workers} worker${workers === 1 ? '' : 's'} at ${url}, registered with Restate. Ctrl-C ends.\n`);
  await new Promise<void>((done) => {
    process.once('SIGINT', done);
    process.once('SIGTERM', done);
  });
  stop();
}

/** Every worker would say the same of an address that is taken, and be started again. */
async function checkAddress(host: string, port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(port, host, resolve);
  }).catch((error: unknown) => {
    const reason = errorCode(error) === 'EADDRINUSE' ? 'another program listens there already; choose another --port' : messageOf(error);
    throw new CliError(`The workers cannot listen at ${host}:${port}: ${reason}.`);
  });
  await new Promise((resolve) => probe.close(resolve));
}

/** The engine's SDK is an optional dependency: it is loaded where it is used. */
async function loadDurable() {
  try {
    return await import('../durable/workers.js');
  } catch (error) {
    throw new CliError(`The Restate SDK cannot be loaded. Install it with: npm install @restatedev/restate-sdk (${messageOf(error)})`);
  }
}

async function sessionOf(options: ServeOptions): Promise<SessionSource> {
  const base: SessionOptions = { cwd: directoryOf('--cwd', options.cwd), ...sessionFlags(options) };
  if (options.config === undefined) return base;
  const given = await configOf(resolve(options.config));
  return typeof given === 'function' ? async (sessionId) => ({ ...base, ...(await given(sessionId)) }) : { ...base, ...given };
}

async function configOf(path: string): Promise<SessionSource> {
  const loaded: unknown = await import(pathToFileURL(path).href).catch((error: unknown) => {
    throw new CliError(`--config ${path} cannot be loaded: ${messageOf(error)}`);
  });
  const given = typeof loaded === 'object' && loaded !== null && 'default' in loaded ? loaded.default : undefined;
  if (!isSource(given))
    throw new CliError(`--config ${path}: its default export must be session options, or a function from a session id to them.`);
  return given;
}

/** What a module of the user's own exports is code they wrote against our types. */
const isSource = (value: unknown): value is SessionSource => typeof value === 'function' || (typeof value === 'object' && value !== null);

function adminOf(ingress: string): string {
  if (!URL.canParse(ingress)) throw new CliError(`--restate ${ingress}: an address looks like http://127.0.0.1:8080.`);
  const url = new URL(ingress);
  url.port = '9070';
  return url.origin;
}
