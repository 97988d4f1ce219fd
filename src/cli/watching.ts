import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { DebugGate, Restart } from '../inspect/index.js';
import type { Session } from '../session/session.js';
import { CliError, messageOf } from './failure.js';

export const watchOptionsSchema = z.object({
  inspect: z.union([z.boolean(), z.number()]).optional(),
  record: z.union([z.boolean(), z.string()]).optional(),
  open: z.boolean().default(true),
});
export type WatchOptions = z.infer<typeof watchOptionsSchema>;

/** The options `--inspect`, `--record` and `--no-open`. */
export function addWatchOptions(command: Command): Command {
  return command
    .addOption(new Option('--inspect [port]', 'show the flow in the inspector page while it runs (default: a free port)').argParser(portOf))
    .addOption(
      new Option('--record [file]', 'record the flow into a *.flow.jsonl.gz file (default: beside the transcript)').argParser(
        recordingFile,
      ),
    )
    .option('--no-open', 'with --inspect: print the address of the page without opening it');
}

/** An optional value takes the word behind it; that this was the prompt is told rather than guessed. */
export function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535. Put the prompt before --inspect, or write --inspect=8123.');
  return port;
}
function recordingFile(text: string): string {
  if (!/\.jsonl(\.gz)?$/.test(text))
    throw new InvalidArgumentError(
      'a recording is named *.flow.jsonl.gz. Put the prompt before --record, or write --record=run.flow.jsonl.gz.',
    );
  return text;
}

export const isInspected = ({ inspect }: Pick<WatchOptions, 'inspect'>): boolean => inspect !== undefined && inspect !== false;

/** Makes a gate for each session that the inspector may pause. */
export type NewGate = () => DebugGate | undefined;
export async function gateMaker(options: Pick<WatchOptions, 'inspect'>): Promise<NewGate> {
  if (!isInspected(options)) return () => undefined;
  const { DebugGate } = await import('../inspect/index.js');
  return () => new DebugGate();
}
export const withGate = (gate: DebugGate | undefined): { readonly gate?: DebugGate } => (gate === undefined ? {} : { gate });

export interface Watching {
  readonly url: string | undefined;
  /** Ends server and recording. Rejects when the recording could not be written. */
  close(): Promise<void>;
}

/**
 * Attaches the inspector, a recorder or both to a session, before its first prompt. The inspector is loaded only here: a session that
 * nobody watches does not pay for it. With `restart` the page can go on with a copy of the session from a step.
 */
export async function watchSession(
  session: Session,
  { inspect, record, open }: WatchOptions,
  tell: (line: string) => void,
  restart?: Restart,
): Promise<Watching> {
  const file = record === undefined || record === false ? undefined : record === true ? defaultRecording(session) : record;
  try {
    if (isInspected({ inspect })) {
      const { attachInspector } = await import('../inspect/index.js');
      const port = typeof inspect === 'number' ? { port: inspect } : {};
      const attached = await attachInspector(session, {
        ...port,
        open,
        ...(file === undefined ? {} : { record: file }),
        ...(restart === undefined ? {} : { restart }),
      });
      tell(`Inspector:   ${attached.url}`);
      if (file !== undefined) tell(`Recording:   ${file}`);
      return attached;
    }
    if (file === undefined) return { url: undefined, close: async () => {} };
    const { inspectFlow, startRecorder } = await import('../inspect/index.js');
    const system = inspectFlow(session);
    const recorder = startRecorder(system.log, file);
    tell(`Recording:   ${file}`);
    return {
      url: undefined,
      close: async () => {
        system.detach();
        await recorder.close();
      },
    };
  } catch (error) {
    throw new CliError(messageOf(error));
  }
}

/** One file a run, beside the spilled results of the session. */
function defaultRecording(session: Session): string {
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
  return join(session.resultsDir, '..', `${stamp}.flow.jsonl.gz`);
}
