import { Copies } from './copies.js';
import type { InspectionTarget } from './inspectable.js';
import { type FlowOptions, type InspectedSystem, prepareFlow } from './inspectFlow.js';
import { openInBrowser } from './openInBrowser.js';
import { startRecorder } from './recording.js';
import type { Restart } from './restart.js';
import { type ServeOptions, startInspectorServer } from './serveFlow.js';
import type { InspectorServer } from './server/inspectorServer.js';

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
