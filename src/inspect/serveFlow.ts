import { CounterKeeper } from './counters.js';
import { buildExport } from './exports/buildExport.js';
import type { MachineModule } from './exports/regressionTest.js';
import type { InspectedSystem } from './inspectFlow.js';
import type { RpcError } from './protocol/rpc.js';
import { snapshotRecording } from './recording.js';
import { type InspectorServer, type InspectorServerOptions, startServer } from './server/inspectorServer.js';
import { defaultPageDir, loadPage } from './server/staticFiles.js';

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

/** A flow that goes on, or one that was recorded. */
type Served = Pick<InspectedSystem, 'log'> & Partial<Pick<InspectedSystem, 'desk' | 'gate'>> & { readonly isRecorded?: boolean };

export async function serveLog({ log, gate, desk, isRecorded = false }: Served, options: ServeOptions): Promise<InspectorServer> {
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
