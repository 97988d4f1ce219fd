import { randomUUID } from 'node:crypto';
import { connectSession, type RemoteSession } from '../durable/client.js';
import { inspectable } from '../durable/mirror.js';
import { type DriveOptions, driveSession, exitCodeOf } from './drive.js';
import { CliError, type ExitCode, messageOf } from './failure.js';
import type { Interrupts } from './interrupts.js';
import { isInspected, type WatchOptions } from './watching.js';

export interface RemoteRun {
  readonly ingress: string;
  /** The session to go on with; default a new one. */
  readonly sessionId: string | undefined;
  readonly prompt: string | undefined;
  readonly watch: WatchOptions;
  readonly drive: Omit<DriveOptions, 'onQuery'>;
  readonly interrupts: Interrupts;
  readonly tell: (line: string) => void;
}

/** `sixgates run --restate`: gives a prompt to a session on Restate. Leaving it leaves the session running. */
export async function runRemote({ ingress, sessionId, prompt, watch, drive, interrupts, tell }: RemoteRun): Promise<ExitCode> {
  if (!/^https?:$/.test(URL.canParse(ingress) ? new URL(ingress).protocol : ''))
    throw new CliError(`--restate ${ingress}: an address looks like http://127.0.0.1:8080.`);
  await checkReachable(ingress);
  const session = connectSession({ ingress, sessionId: sessionId ?? randomUUID() });
  const watched = await show(session, watch, tell);
  const letGo = driveSession(session, { ...drive, onQuery: () => interrupts.reset() });
  interrupts.whenPressed(() => {
    tell('Interrupting … (Ctrl-C again leaves; the session goes on without you)');
    void session.interrupt().catch(() => {});
  });
  try {
    // Without a prompt one only watches: a session that waits for an answer is answered this way.
    if (prompt === undefined) return await interrupts.leaving;
    const left = interrupts.leaving.then((code) => ({ code, text: '' }));
    const answered = session.send(prompt).done.then((ended) => ({ code: exitCodeOf(ended), text: ended.text }));
    const { code, text } = await Promise.race([answered, left]);
    if (text !== '') process.stdout.write(drive.view === undefined ? '' : `${text.trimEnd()}\n`);
    return code;
  } catch (error) {
    throw new CliError(messageOf(error));
  } finally {
    await session.sent();
    letGo();
    await watched.close();
    session.detach();
    tell(`Session:     ${session.id} (go on with: sixgates run --restate ${ingress} --resume ${session.id})`);
  }
}

/** A prompt for a server that is not there would wait for it without a word. */
async function checkReachable(ingress: string): Promise<void> {
  await fetch(ingress, { method: 'HEAD', signal: AbortSignal.timeout(REACHABLE_MS) }).catch(() => {
    throw new CliError(`Restate cannot be reached at ${ingress}. Is the server running?`);
  });
}
const REACHABLE_MS = 10_000;

/** The inspector page shows a session from elsewhere as its updates show it. Recording is for sessions of this process. */
async function show(
  session: RemoteSession,
  { inspect, record, open }: WatchOptions,
  tell: (line: string) => void,
): Promise<{ close(): Promise<void> }> {
  if (record !== undefined && record !== false)
    throw new CliError('--record records sessions of this process; use --inspect with --restate.');
  if (!isInspected({ inspect })) return { close: async () => {} };
  const { attachInspector } = await import('../inspect/index.js');
  const mirrored = inspectable(session);
  const page = await attachInspector(mirrored, { ...(typeof inspect === 'number' ? { port: inspect } : {}), open });
  tell(`Inspector:   ${page.url}`);
  return {
    close: async () => {
      mirrored.close();
      await page.close();
    },
  };
}
