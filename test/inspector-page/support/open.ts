import type { BrowserContext, Page } from 'playwright-core';
import {
  type AttachedInspector,
  type AttachOptions,
  attachInspector,
  type InspectedSystem,
  type ServeOptions,
  startInspectorServer,
} from '../../../src/inspect/index.js';
import type { InspectorServer } from '../../../src/inspect/server/inspectorServer.js';
import type { Session } from '../../../src/session/session.js';
import { buildPage } from './build.js';

export interface OpenPage {
  readonly page: Page;
  readonly server: InspectorServer;
  /** Console errors, CSP reports and uncaught exceptions so far. */
  readonly complaints: string[];
  /** Addresses of everything the page asked for. */
  readonly requests: string[];
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
): Promise<OpenPage> {
  const server = await startInspectorServer(system, { pageDir: await buildPage(), ...options.server });
  const watched = await watchedPage(context);
  await options.prepare?.(watched.page);
  await watched.page.goto(options.scope === 'view' ? server.viewUrl : server.url);
  return {
    ...watched,
    server,
    close: async () => {
      await watched.page.close();
      await server.close();
    },
  };
}

/** Attaches an inspector to a session and opens its page. */
export async function openSession(
  context: BrowserContext,
  session: Session,
  options: Pick<AttachOptions, 'restart'> = {},
): Promise<Omit<OpenPage, 'server'> & { readonly attached: AttachedInspector }> {
  const attached = await attachInspector(session, { pageDir: await buildPage(), redaction: { env: {}, salt: 'fixed' }, ...options });
  const watched = await watchedPage(context);
  await watched.page.goto(attached.url);
  return {
    ...watched,
    attached,
    close: async () => {
      await watched.page.close();
      await attached.close();
    },
  };
}

export async function watchedPage(context: BrowserContext): Promise<Pick<OpenPage, 'page' | 'complaints' | 'requests'>> {
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
