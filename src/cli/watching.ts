import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { DebugGate, Restart } from '../inspect/index.js';
import type { Session } from '../session/session.js';
import { CliError, messageOf } from './failure.js';
import { checkWritable } from './files.js';
import { collect } from './place.js';

export const watchOptionsSchema = z.object({
  inspect: z.union([z.boolean(), z.number()]).optional(),
  record: z.union([z.boolean(), z.string()]).optional(),
  open: z.boolean().default(true),
  break: z.array(z.string()).default([]),
});
export type WatchOptions = z.infer<typeof watchOptionsSchema>;

/** The options `--inspect`, `--record` and `--no-open`. */
export function addWatchOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--inspect [port]', 'show the flow in the inspector page while it runs (default: a free port)').argParser(inspectPortOf),
    )
    .addOption(
      new Option('--record [file]', 'record the flow into a *.flow.jsonl.gz file (default: beside the transcript)').argParser(
        recordingFile,
      ),
    )
    .option('--no-open', 'with --inspect: print the address of the page without opening it')
    .addOption(
      new Option('--break <tool>', 'with --inspect: stop before each call of this tool; may be repeated')
        .argParser(collect)
        .default([], 'none')
        .conflicts('restate'),
    );
}

export const portOf = (text: string): number => portIn(text, '');
/** An optional value takes the word behind it; that this was the prompt is told rather than guessed. */
export const inspectPortOf = (text: string): number => portIn(text, ' Put the prompt before --inspect, or write --inspect=8123.');
function portIn(text: string, advice: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError(`A port is a number from 0 to 65535.${advice}`);
  return port;
}
function recordingFile(text: string): string {
  if (!/\.jsonl(\.gz)?$/.test(text))
    throw new InvalidArgumentError(
      'A recording is named *.flow.jsonl.gz. Put the prompt before --record, or write --record=run.flow.jsonl.gz.',
    );
  return text;
}

export const isInspected = ({ inspect }: Pick<WatchOptions, 'inspect'>): boolean => inspect !== undefined && inspect !== false;

type GateOptions = Pick<WatchOptions, 'inspect'> & Partial<Pick<WatchOptions, 'break'>>;
/** Makes a gate for each session that the inspector may pause. */
export type NewGate = () => DebugGate | undefined;
export async function gateMaker({ inspect, break: tools = [] }: GateOptions): Promise<NewGate> {
  if (!isInspected({ inspect })) {
    if (tools.length > 0) throw new CliError('--break stops the flow in the inspector, so it needs --inspect.');
    return () => undefined;
  }
  const { DebugGate } = await import('../inspect/index.js');
  const breakpoints = tools.map((tool) => ({ on: 'tool', tool, id: `break:${tool}`, enabled: true, origin: 'code' }) as const);
  return () => new DebugGate({ breakpoints });
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
  { inspect, record, open }: Omit<WatchOptions, 'break'>,
  tell: (line: string) => void,
  restart?: Restart,
): Promise<Watching> {
  const file = record === undefined || record === false ? undefined : record === true ? defaultRecording(session) : record;
  if (file !== undefined) checkWritable('--record', file);
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
