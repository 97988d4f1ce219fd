import type { FlowEvent } from '../../../../src/inspect/protocol/flowEvents.js';
import { MAX_LISTED_EVENTS } from '../../../../src/inspect/protocol/rpc.js';
import type { Flow } from '../model/flow.js';

type ListEvents = (fromSeq: number, toSeq: number) => Promise<readonly FlowEvent[] | null>;

/**
 * Puts events into the flow in order of `seq`, each once. A hole is filled from the server before anything later is shown;
 * what the server no longer has is marked as missing.
 */
export class Sequencer {
  #later: FlowEvent[] = [];
  #filling = false;
  /** Grows with every reconnect, so that an answer to the old connection changes nothing. */
  #connection = 0;

  constructor(
    readonly flow: Flow,
    readonly list: ListEvents,
    readonly changed: () => void,
  ) {}

  get expected(): number {
    return this.flow.lastSeq + 1;
  }

  take(events: readonly FlowEvent[]): void {
    if (this.#filling) {
      this.#later.push(...events);
      return;
    }
    for (const [position, event] of events.entries()) {
      if (event.seq > this.expected) {
        this.#later = events.slice(position);
        void this.#fill(event.seq - 1);
        break;
      }
      this.flow.add(event);
    }
    this.changed();
  }

  /** The server has lost these; later ones follow. */
  lost(from: number, to: number, reason: string): void {
    this.flow.addHole({ from: Math.max(from, this.expected), to, reason });
    this.changed();
  }

  /** After a reconnect nothing that waited for the old connection will come. */
  restart(): void {
    this.#later = [];
    this.#filling = false;
    this.#connection++;
  }

  async #fill(to: number): Promise<void> {
    const connection = this.#connection;
    this.#filling = true;
    while (this.expected <= to) {
      const from = this.expected;
      const events = await this.list(from, Math.min(to, from + MAX_LISTED_EVENTS - 1));
      if (connection !== this.#connection || events === null) return;
      for (const event of events) this.#add(event);
      if (this.expected === from) {
        const known = this.flow.holes.some((hole) => hole.from <= from && hole.to >= to);
        if (!known) this.flow.addHole({ from, to, reason: 'no longer in the memory of the runtime' });
        break;
      }
    }
    this.#filling = false;
    const later = this.#later;
    this.#later = [];
    const [first] = later;
    // The first of them stands behind the hole, filled or marked.
    if (first) this.#add(first);
    this.take(later.slice(1));
  }

  #add(event: FlowEvent): void {
    if (event.seq > this.expected && event.seq > 0) {
      const missing = { from: this.expected, to: event.seq - 1, reason: 'no longer in the memory of the runtime' };
      if (!this.flow.holes.some((hole) => hole.from <= missing.from && hole.to >= missing.to)) this.flow.addHole(missing);
    }
    this.flow.add(event);
  }
}
