import type { BrowserContext, Page } from 'playwright-core';
import {
  type AttachedInspector,
  type AttachOptions,
  attachInspector,
  type InspectedSystem,
  type OpenedRecording,
  openRecording,
  type ServeOptions,
  startInspectorServer,
} from '../../../src/inspect/index.js';
import type { InspectorServer } from '../../../src/inspect/server/inspectorServer.js';
import type { Session } from '../../../src/session/session.js';
import { buildPage } from './build.js';

interface WatchedPage {
  readonly page: Page;
  /** Console errors, CSP reports and uncaught exceptions so far. */
  readonly complaints: string[];
  /** Addresses of everything the page asked for. */
  readonly requests: string[];
}
interface OpenPage extends WatchedPage {
  close(): Promise<void>;
}

/** Serves a flow and opens its page. */
export async function openFlow(
  context: BrowserContext,
  system: InspectedSystem,
  options: {
    readonly scope?: 'control' | 'view';
    readonly server?: ServeOptions;
    readonly prepare?: (page: Page) => Promise<void>;
  } = {},
): Promise<OpenPage & { readonly server: InspectorServer }> {
  const server = await startInspectorServer(system, { pageDir: await buildPage(), ...options.server });
  return { ...(await openAt(context, options.scope === 'view' ? server.viewUrl : server.url, server, options.prepare)), server };
}

/** Attaches an inspector to a session and opens its page. */
export async function openSession(
  context: BrowserContext,
  session: Session,
  options: Pick<AttachOptions, 'restart'> = {},
): Promise<OpenPage & { readonly attached: AttachedInspector }> {
  const attached = await attachInspector(session, { pageDir: await buildPage(), redaction: { env: {}, salt: 'fixed' }, ...options });
  return { ...(await openAt(context, attached.url, attached)), attached };
}

/** Serves a recording or a transcript and opens its page. */
export async function openFile(
  context: BrowserContext,
  file: string,
  prepare?: (page: Page) => Promise<void>,
): Promise<OpenPage & { readonly opened: OpenedRecording }> {
  const opened = await openRecording(file, { pageDir: await buildPage() });
  return { ...(await openAt(context, opened.url, opened, prepare)), opened };
}

/** Opens an address in a page, which is closed together with what serves it. */
async function openAt(
  context: BrowserContext,
  url: string,
  served: { close(): Promise<void> },
  prepare?: (page: Page) => Promise<void>,
): Promise<OpenPage> {
  const watched = await watchedPage(context);
  await prepare?.(watched.page);
  await watched.page.goto(url);
  return {
    ...watched,
    close: async () => {
      await watched.page.close();
      await served.close();
    },
  };
}

export async function watchedPage(context: BrowserContext): Promise<WatchedPage> {
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => requests.push(request.url()));
  page.on('websocket', (socket) => requests.push(socket.url()));
  return { page, complaints, requests };
}
