import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Clock } from '../model/clock.js';
import { Deadline } from './deadline.js';
import { reasonOf } from './failures.js';
import { COALESCE_MS } from './limits.js';
import { type Listing, listTools, type McpToolInfo } from './listing.js';

export interface ToolListOptions {
  readonly clock: Clock;
  /** For one listing, in milliseconds. */
  readonly limitMs: number;
  /** The client as it is now; undefined while there is no connection. */
  readonly client: () => Client | undefined;
  readonly onChange: () => void;
  readonly onNotice: (message: string) => void;
}

/** The longest pause between listings of a server that says "changed" at every one of them: `COALESCE_MS` doubled so often. */
const MAX_DOUBLINGS = 10;

/**
 * The tools of a server, kept up to date. Many notices of a change become one listing; a change while the list is being read is read
 * again, so that the last state wins. Whoever needs to know waits with `settled`.
 */
export class ToolList {
  private listed: Listing<McpToolInfo> = { items: [], warnings: [] };
  private timer: unknown;
  private reading: Promise<void> | undefined;
  private isStale = false;
  /** Listings in a row that brought nothing new. */
  private fruitless = 0;

  constructor(private readonly options: ToolListOptions) {}

  get items(): readonly McpToolInfo[] {
    return this.listed.items;
  }

  /** The first listing of a connection. */
  async read(client: Client, deadline: Deadline): Promise<void> {
    this.isStale = false;
    if (client.getServerCapabilities()?.tools === undefined) return;
    const listed = await deadline.bound(listTools(client, deadline.signal));
    this.fruitless = JSON.stringify(this.listed.items) === JSON.stringify(listed.items) ? this.fruitless + 1 : 0;
    for (const warning of listed.warnings) if (!this.listed.warnings.includes(warning)) this.options.onNotice(`${warning}.`);
    this.listed = listed;
  }

  /** The server says that its list has changed. Servers say it without having declared that they would. */
  noteChange(): void {
    this.isStale = true;
    this.arm();
  }

  /** There is a connection (again): what was noted meanwhile is read. */
  resume(): void {
    if (this.isStale) this.arm();
  }

  /** Resolves when every change that was noted is read, or two attempts have been made. */
  async settled(): Promise<void> {
    for (let attempt = 0; attempt < 2 && this.isStale; attempt++) await this.readAgain();
  }

  clear(): void {
    this.listed = { items: [], warnings: [] };
    this.stop();
  }

  stop(): void {
    this.options.clock.clearTimeout(this.timer);
    this.timer = undefined;
  }

  private arm(): void {
    if (this.timer !== undefined || !this.options.client()) return;
    const delay = COALESCE_MS * 2 ** Math.min(this.fruitless, MAX_DOUBLINGS);
    this.timer = this.options.clock.setTimeout(() => void this.readAgain(), delay);
  }

  private readAgain(): Promise<void> {
    this.stop();
    this.reading ??= this.refresh().finally(() => {
      this.reading = undefined;
      if (this.isStale) this.arm();
    });
    return this.reading;
  }

  private async refresh(): Promise<void> {
    const client = this.options.client();
    if (!client || !this.isStale) return;
    const deadline = new Deadline(this.options.limitMs, this.options.clock);
    try {
      await this.read(client, deadline);
    } catch (error) {
      this.options.onNotice(`its changed list of tools could not be read (${reasonOf(error)}); the list before it stays in use.`);
    } finally {
      deadline.clear();
    }
    if (this.options.client() === client) this.options.onChange();
  }
}
