import { hostname } from 'node:os';
import type { ToolEnd } from '../../machines/toolCall.js';
import type { PermissionUpdate } from '../permissions/types.js';
import { processLife } from '../processLife.js';
import type { CallRecord } from '../session/callBook.js';
import type { Services } from '../session/services.js';
import { messageOf, ToolAbortedError } from '../tool/errors.js';
import type { BackgroundTasks, FileLedger, FileRecord, SessionModifier, ToolCapabilities } from '../tool/types.js';
import { createFileLedger } from '../tools/fs/ledger.js';
import { whyUnwritable } from './sizes.js';
import type { TaskDesk } from './taskDesk.js';

/** A change of the session that a tool asked for, as plain data. */
type SessionChange =
  | { readonly set: 'cwd'; readonly cwd: string }
  | { readonly set: 'tools'; readonly names: readonly string[] }
  | { readonly set: 'permissions'; readonly updates: readonly PermissionUpdate[] }
  | { readonly set: 'failure'; readonly message: string };

type FileChange = readonly [path: string, record: FileRecord | null];
/** A task that a call left running, and the process that runs it. */
export interface AdoptedTask {
  readonly id: string;
  readonly kind: 'bash' | 'powershell' | 'agent';
  readonly title: string;
  readonly outputFile: string;
  readonly host: string;
  readonly pid: number;
  /** Tells the process from a later one with its pid; absent where the system does not say. */
  readonly life?: string;
}

/** Everything that a tool's run leaves behind, as the journal holds it. */
export interface ToolStep {
  readonly end: ToolEnd;
  readonly output:
    | { readonly data: unknown }
    | { readonly error: { readonly message: string; readonly partialOutput: string | null } }
    | null;
  readonly changes: readonly SessionChange[] | null;
  readonly files: readonly FileChange[];
  readonly tasks: readonly AdoptedTask[];
}

/** Where work that runs on is handed over, and the session that hears of its end. */
interface TaskPlace {
  readonly desk: TaskDesk;
  readonly sessionId: string;
}

type RunTool = (record: CallRecord, services: Services, signal: AbortSignal) => Promise<ToolEnd>;

/**
 * Runs a tool with a view of the session that lets it read everything and change nothing: what it changes is collected, and becomes
 * true when the step is in the journal.
 */
export async function runToolStep(
  run: RunTool,
  record: CallRecord,
  session: Services,
  signal: AbortSignal,
  place: TaskPlace,
): Promise<ToolStep> {
  const { ledger, changes: files } = recordingLedger(session.files);
  const adopted: AdoptedTask[] = [];
  const seen: CallRecord = { ...record };
  const capabilities: ToolCapabilities = { ...session.capabilities, tasks: liveTasks(record, session, adopted, place) };
  const view: Services = Object.create(session, {
    files: { value: ledger },
    capabilities: { value: capabilities },
    now: { value: Date.now },
    clock: { value: liveClock },
    // That the call begins is written down by whoever does the step.
    journal: { value: () => {} },
  });
  const end = await run(seen, view, signal);
  const why = seen.output !== undefined && 'data' in seen.output ? whyUnwritable(seen.output.data) : undefined;
  if (why !== undefined) {
    // The engine would take it for a failure of its own and do the step again; but the tool has run.
    const message = `${record.call.name} ran, but its output could not be written down: ${why}.`;
    return {
      end: { kind: 'failed', durationMs: end.durationMs, message },
      output: { error: { message, partialOutput: null } },
      changes: null,
      files,
      tasks: adopted,
    };
  }
  return { end, output: outputOf(seen), changes: seen.modify ? changesOf(seen.modify) : null, files, tasks: adopted };
}

/** Puts what a run left behind where the ports of this attempt look for it. */
export function applyToolStep(step: ToolStep, record: CallRecord, session: Services): void {
  const { output, changes, files } = step;
  record.output =
    output === null
      ? undefined
      : 'error' in output
        ? { error: errorOf(output.error) }
        : // A function or a symbol is nothing in JSON.
          { data: output.data };
  record.modify = changes === null ? undefined : (modifier) => applyChanges(changes, modifier);
  for (const [path, known] of files) {
    if (known) session.files.set(path, known);
    else session.files.delete(path);
  }
}

const errorOf = ({ message, partialOutput }: { readonly message: string; readonly partialOutput: string | null }): Error =>
  partialOutput === null ? new Error(message) : new ToolAbortedError(message, partialOutput);

const liveClock = {
  setTimeout: (fire: () => void, ms: number) => setTimeout(fire, ms),
  clearTimeout: (id: unknown) => clearTimeout(Number(id)),
};

function outputOf({ output }: CallRecord): ToolStep['output'] {
  if (output === undefined) return null;
  if ('data' in output) return { data: output.data ?? null };
  const { error } = output;
  return { error: { message: messageOf(error), partialOutput: error instanceof ToolAbortedError ? error.partialOutput : null } };
}

function changesOf(modify: (session: SessionModifier) => void): readonly SessionChange[] {
  const changes: SessionChange[] = [];
  try {
    modify({
      setCwd: (cwd) => changes.push({ set: 'cwd', cwd }),
      loadTools: (names) => changes.push({ set: 'tools', names }),
      updatePermissions: (updates) => changes.push({ set: 'permissions', updates }),
    });
  } catch (error) {
    changes.push({ set: 'failure', message: messageOf(error) });
  }
  return changes;
}

function applyChanges(changes: readonly SessionChange[], session: SessionModifier): void {
  for (const change of changes) {
    switch (change.set) {
      case 'cwd':
        session.setCwd(change.cwd);
        break;
      case 'tools':
        session.loadTools(change.names);
        break;
      case 'permissions':
        session.updatePermissions(change.updates);
        break;
      case 'failure':
        throw new Error(change.message);
    }
  }
}

function recordingLedger(base: FileLedger): { readonly ledger: FileLedger; readonly changes: FileChange[] } {
  const changes: FileChange[] = [];
  const own = createFileLedger();
  const gone = new Set<string>();
  const ledger: FileLedger = {
    get: (path) => own.get(path) ?? (gone.has(path) ? undefined : base.get(path)),
    set: (path, known) => {
      gone.delete(path);
      own.set(path, known);
      changes.push([path, known]);
    },
    delete: (path) => {
      gone.add(path);
      own.delete(path);
      changes.push([path, null]);
    },
    entries: () => new Map([...[...base.entries()].filter(([path]) => !gone.has(path)), ...own.entries()]),
  };
  return { ledger, changes };
}

/** Work that runs on is handed to this process's desk; the session learns of it with the step, and of its end by a message. */
function liveTasks(record: CallRecord, session: Services, adopted: AdoptedTask[], { desk, sessionId }: TaskPlace): BackgroundTasks {
  const { tasks } = session;
  return {
    adopt: (start) => {
      const id = desk.adopt(sessionId, `${session.sessionId}/${record.call.id}:${adopted.length}`, start);
      const { kind, title, outputFile } = start;
      const life = processLife(process.pid);
      adopted.push({ id, kind, title, outputFile, host: hostname(), pid: process.pid, ...(life === undefined ? {} : { life }) });
      return { id, outputFile };
    },
    list: () => tasks.list(),
    get: (id) => tasks.get(id),
    settled: (id, signal) => tasks.settled(id, signal),
    nextNotification: (signal) => tasks.nextNotification(signal),
    stop: async (id) => {
      await desk.askToStop(sessionId, id);
      return tasks.settled(id, new AbortController().signal);
    },
  };
}
