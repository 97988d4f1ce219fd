/**
 * `sixgates/inspect`: what a flow did and does. The page that shows and steps it, recordings, redaction, and ways out to other tools.
 *
 * @packageDocumentation
 */

import { spawn } from 'node:child_process';
import type { ActorFacts, ActorNaming } from './actorNames.js';
import { ApprovalDesk } from './approvalDesk.js';
import { Copies } from './copies.js';
import { CounterKeeper } from './counters.js';
import { buildExport } from './exports/buildExport.js';
import type { MachineModule } from './exports/regressionTest.js';
import { FlowLog, type FlowLogOptions } from './flowLog.js';
import { createFlowSink, type FlowSink } from './flowSink.js';
import type { DebugGate } from './gate/debugGate.js';
import type { Inspectable, InspectionTarget } from './inspectable.js';
import type { FlowRecording } from './protocol/flowEvents.js';
import type { RpcError } from './protocol/rpc.js';
import { snapshotRecording, startRecorder } from './recording.js';
import type { Restart } from './restart.js';
import { type InspectorServer, type InspectorServerOptions, startServer } from './server/inspectorServer.js';
import { defaultPageDir, loadPage } from './server/staticFiles.js';
import { sessionFeed } from './sessionFeed.js';
import { readFlow } from './transcript/readFlow.js';
import { XStateAdapter } from './xstateAdapter.js';

/** What `inspectFlow` takes. */
export interface FlowOptions extends FlowLogOptions {
  /** Names actors that are the embedding program's own. Where it returns undefined, the built-in naming holds. */
  readonly nameActor?: (facts: ActorFacts) => ActorNaming | undefined;
  /** The gate the actor was created with. */
  readonly gate?: DebugGate;
}
/** A flow under inspection, without server: the log and what feeds it. */
export interface InspectedSystem {
  /** The account of the flow. */
  readonly log: FlowLog;
  /** Takes facts of the domain beside actors' transitions. */
  readonly sink: FlowSink;
  /** Questions that wait for a person. */
  readonly desk: ApprovalDesk;
  /** @internal */
  readonly adapter: XStateAdapter;
  /** The gate that can pause the flow; undefined where it was created without one. */
  readonly gate: DebugGate | undefined;
  /** Ends the account: no observer is left, and the flow goes on. */
  detach(): void;
}

/** Starts the account of a flow. Before this call, and after `detach`, inspection costs nothing: no observer is registered. */
export function inspectFlow(target: InspectionTarget, options: FlowOptions = {}): InspectedSystem {
  const { system, begin } = prepareFlow(target, options);
  begin();
  return system;
}

/** A flow whose account begins when it is told to: until then nothing is observed. */
function prepareFlow(target: InspectionTarget, options: FlowOptions): { readonly system: InspectedSystem; readonly begin: () => void } {
  const inspectable: Inspectable = 'updates$' in target ? sessionFeed(target) : 'actor' in target ? target : { actor: target };
  const gate = options.gate ?? inspectable.gate;
  const log = new FlowLog({ ...(inspectable.name === undefined ? {} : { name: inspectable.name }), ...options });
  const adapter = new XStateAdapter(log, {
    ...(options.nameActor ? { nameActor: options.nameActor } : {}),
    ...(gate ? { gate } : {}),
  });
  const sink = createFlowSink(log);
  const desk = new ApprovalDesk(log);
  let stops: readonly ((() => void) | undefined)[] | undefined;
  const begin = (): void => {
    stops ??= [
      adapter.attach(inspectable.actor),
      gate?.watch({ log, pathOf: (ref) => adapter.pathOf(ref) }),
      inspectable.attachInspection?.({ sink, desk, attach: (root, host) => adapter.attach(root, host) }),
    ];
  };
  const detach = (): void => {
    for (const stop of stops ?? []) stop?.();
    stops = [];
  };
  return { begin, system: { log, sink, desk, adapter, gate, detach } };
}

/** What the page’s server takes. */
export interface ServeOptions extends InspectorServerOptions {
  /** By machine id: where a generated regression test imports the machine from. The library's own machines are known. */
  readonly machineModules?: Readonly<Record<string, MachineModule>>;
  /** @internal Goes on with a copy from the last settled point before an event. */
  readonly restartAt?: (seq: number, words: string) => Promise<{ readonly url: string } | RpcError>;
  /** @internal Called before a page is let in. */
  readonly onPage?: () => void;
}

/** Serves the page for a flow on 127.0.0.1. */
export function startInspectorServer(system: InspectedSystem, options: ServeOptions = {}): Promise<InspectorServer> {
  return serveLog(system, options);
}

type Served = Pick<InspectedSystem, 'log'> & Partial<Pick<InspectedSystem, 'desk' | 'gate'>> & { readonly isRecorded?: boolean };

async function serveLog({ log, gate, desk, isRecorded = false }: Served, options: ServeOptions): Promise<InspectorServer> {
  const keeper = new CounterKeeper(log);
  const stopCounting = keeper.follow();
  const server = await startServer(
    {
      log,
      isRecorded,
      ...(desk ? { desk } : {}),
      ...(gate ? { gate } : {}),
      counters: (clients) => keeper.read(clients),
      ...(options.restartAt ? { restart: options.restartAt } : {}),
      ...(options.onPage ? { onPage: options.onPage } : {}),
      buildExport: (request) =>
        buildExport(snapshotRecording(log, request.range), request, {
          redactor: log.redactor,
          page: () => loadPage(options.pageDir ?? defaultPageDir()),
          ...(options.machineModules ? { machineModules: options.machineModules } : {}),
        }),
    },
    options,
  );
  return {
    ...server,
    close: async () => {
      stopCounting();
      await server.close();
    },
  };
}

/** What `attachInspector` takes: of the flow, of the server, and whether to open and record. */
export interface AttachOptions extends FlowOptions, ServeOptions {
  /** Opens the page in the person's browser. Default false. */
  readonly open?: boolean;
  /** File to record into, `*.flow.jsonl.gz`. */
  readonly record?: string;
  /**
   * When the account begins. `start` (default): at once, so that a page opened later shows the past. `firstPage`: when the first page
   * connects; until then no observer is registered and the flow pays nothing, and what happened before is seen only in what it led to.
   * A recording always begins at once.
   */
  readonly from?: 'start' | 'firstPage';
  /**
   * Makes "restart from here" possible: how to go on with a copy of the session, `(point) => forkSession({ ...point, ...options })`. The
   * copy gets an inspector of its own and is closed with this one. It takes over the conversation up to the point; what tools have done
   * stays done, and nothing is run again.
   */
  readonly restart?: Restart;
}
/** An inspector at work. */
export interface AttachedInspector {
  /** A link that may look and act. */
  readonly url: string;
  /** A link that may look but not act. */
  readonly viewUrl: string;
  /** The server behind the page. */
  readonly server: InspectorServer;
  /** The flow's account and its parts. */
  readonly system: InspectedSystem;
  /** Ends server, recording and inspection. The flow goes on. */
  close(): Promise<void>;
}

/** Watches a running actor (or a session): serves the page, and records if asked to. */
export async function attachInspector(target: InspectionTarget, options: AttachOptions = {}): Promise<AttachedInspector> {
  const { system, begin } = prepareFlow(target, options);
  const waits = options.from === 'firstPage' && options.record === undefined;
  if (!waits) begin();
  const recorder = options.record === undefined ? undefined : startRecorder(system.log, options.record);
  const copies = new Copies(target, system.log, options.restart, (session) => {
    // What belongs to this one alone stays here.
    const { record: _record, port: _port, tokens: _tokens, open: _open, gate: _gate, name: _name, ...rest } = options;
    return attachInspector(session, rest);
  });
  const server = await startInspectorServer(system, {
    ...options,
    ...(copies.isPossible ? { restartAt: copies.goOn } : {}),
    ...(waits ? { onPage: begin } : {}),
  }).catch(async (error: unknown) => {
    system.detach();
    await recorder?.close();
    throw error;
  });
  if (options.open) openInBrowser(server.url, system.log);
  return {
    url: server.url,
    viewUrl: server.viewUrl,
    server,
    system,
    close: async () => {
      await server.close();
      await copies.close();
      system.detach();
      await recorder?.close();
    },
  };
}

/** A recording, or a transcript as one, that is shown in the page. */
export interface OpenedRecording {
  /** What the file holds. */
  readonly recording: FlowRecording;
  /** The page that shows it. */
  readonly url: string;
  /** Stops serving the page. */
  close(): Promise<void>;
}

/**
 * Shows a recording in the page, as it was recorded, or a Claude Code transcript as far as it tells (see {@link readFlow}). Throws an
 * error that names the file when it is neither.
 */
export async function openRecording(file: string, options: ServeOptions & { readonly open?: boolean } = {}): Promise<OpenedRecording> {
  const recording = readFlow(file);
  // The flow is over: what is noted now stands at its end, not today.
  const end = recording.header.startedAt + (recording.events.at(-1)?.t ?? 0);
  const log = new FlowLog({ recording, now: () => end });
  // A transcript's warnings are notes of its flow already.
  if (!recording.header.source) for (const warning of recording.warnings) log.put({ type: 'note', level: 'warning', text: warning });
  const server = await serveLog({ log, isRecorded: true }, options);
  if (options.open) openInBrowser(server.url, log);
  return { recording, url: server.url, close: () => server.close() };
}

function openInBrowser(url: string, log: FlowLog): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url];
  const child = spawn(command ?? 'xdg-open', args, { stdio: 'ignore', detached: true });
  child.on('error', (error) => log.put({ type: 'note', level: 'warning', text: `The browser could not be opened: ${error.message}` }));
  child.unref();
}

export type { ActorFacts, ActorNaming } from './actorNames.js';
export { tellClassic } from './adapters/classic.js';
export { type TraceFlowOptions, traceFlow } from './adapters/openTelemetry.js';
export { tellStately } from './adapters/stately.js';
export { serveWire, type WireServer, type WireServerOptions } from './adapters/wireServer.js';
export { type AnswerTaker, ApprovalDesk, type OpenQuestion, type Settlement } from './approvalDesk.js';
export { chromeTrace } from './exports/chromeTrace.js';
export { type MachineModule, type RegressionTestOptions, regressionTest } from './exports/regressionTest.js';
export { type FlowListener, FlowLog, type FlowLogOptions } from './flowLog.js';
export { createFlowSink, type FlowSink } from './flowSink.js';
export { DebugGate, type DebugGateOptions } from './gate/debugGate.js';
export type { Inspectable, InspectableSession, InspectionFeeds, InspectionTarget, Placement } from './inspectable.js';
export type * from './protocol/flowEvents.js';
export { type ActorMoment, FlowIndex } from './protocol/flowIndex.js';
export { isFlowEvent, NotAFlowError, parseFlowText } from './protocol/flowText.js';
export { type EdgeKind, type MachineEdge, type MachineGraph, type MachineNode, machineGraph } from './protocol/graph.js';
export { toMermaid } from './protocol/mermaid.js';
export type {
  ApprovalAnswer,
  AskedQuestion,
  Breakpoint,
  BreakpointBase,
  HeldEvent,
  HeldState,
  PendingApproval,
  QuestionChoice,
  RpcError,
  RpcErrorCode,
} from './protocol/rpc.js';
export { toScxml } from './protocol/scxml.js';
export {
  encodeRecording,
  type Recorder,
  readRecording,
  snapshotRecording,
  startRecorder,
} from './recording.js';
export { type CustomRule, type RedactionOptions, Redactor } from './redact.js';
export { type Mismatch, type ReplayReport, replayRecording } from './replay.js';
export type { Restart, RestartedSession, RestartPoint } from './restart.js';
export type { AuditEntry } from './server/client.js';
export type { InspectorServer, InspectorServerOptions } from './server/inspectorServer.js';
export type { Tokens as InspectorTokens } from './server/security.js';
export { StreamRedactor } from './streamRedactor.js';
export { readFlow } from './transcript/readFlow.js';
