import { BodyStore } from './bodyStore.js';
import { FULL_LIMITS } from './capture.js';
import { countWhile } from './protocol/countWhile.js';
import {
  FLOW_FORMAT,
  type FlowEvent,
  type FlowEventDraft,
  type FlowHeader,
  type FlowRecording,
  type FlowSource,
} from './protocol/flowEvents.js';
import type { MachineGraph } from './protocol/graph.js';
import { RecentTexts } from './recentTexts.js';
import { type RedactionOptions, Redactor } from './redact.js';

/** How much a flow keeps, and what it redacts. */
export interface FlowLogOptions {
  /** What the flow is called on the page. Default `flow`. */
  readonly name?: string;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Events kept in memory. Default 200,000 (some 60 MB); older ones leave, a recording keeps them. */
  readonly maxEvents?: number;
  /** Bytes of bodies kept in memory. Default 64 MiB. */
  readonly maxBodyBytes?: number;
  /** What is masked besides what always is. */
  readonly redaction?: RedactionOptions;
  /** What the flow is made of, when no inspector records it. */
  readonly source?: FlowSource;
  /** Begins as what was recorded, for looking at it again. All of it is kept. */
  readonly recording?: FlowRecording;
}

/** Hears each event once it has its place. Its body is in the store by then. */
export type FlowListener = (event: FlowEvent) => void;

/**
 * The one ordered account of a flow. Producers (XState adapter, session feeds, gate) put drafts in; the server, recordings and
 * exporters read. Nothing that goes wrong in here or in a listener reaches a producer.
 */
export class FlowLog {
  /** The flow's first event. */
  readonly header: FlowHeader;
  /** @internal */
  readonly bodies: BodyStore;
  /** Masks secrets in whatever enters the log. */
  readonly redactor: Redactor;
  readonly #now: () => number;
  readonly #maxEvents: number;
  readonly #listeners = new Set<FlowListener>();
  readonly #graphs = new Map<string, MachineGraph>();
  /** Plain values by their text: a decision that comes again, as most do, is kept once. */
  readonly #plain = new RecentTexts<ReturnType<typeof JSON.parse>>();
  #ring: FlowEvent[];
  #lastSeq = 0;
  #lastT = 0;
  /** What could not be recorded: the inspector's own failures, never the flow's. */
  faults = 0;

  constructor(options: FlowLogOptions = {}) {
    this.#now = options.now ?? Date.now;
    const { recording } = options;
    this.#maxEvents = recording ? Number.POSITIVE_INFINITY : (options.maxEvents ?? 200_000);
    this.redactor = new Redactor(options.redaction);
    this.bodies = new BodyStore(this.redactor, recording ? Number.POSITIVE_INFINITY : options.maxBodyBytes);
    this.header = recording?.header ?? {
      type: 'header',
      seq: 0,
      t: 0,
      format: FLOW_FORMAT,
      name: options.name ?? 'flow',
      startedAt: this.#now(),
      runtime: { name: 'sixgates', version: '0.1.0' },
      redaction: { rules: this.redactor.ruleNames, custom: this.redactor.hasCustomRules },
      ...(options.source ? { source: options.source } : {}),
    };
    this.#ring = [this.header, ...(recording?.events ?? [])];
    const last = this.#ring.at(-1);
    this.#lastSeq = last?.seq ?? 0;
    this.#lastT = last?.t ?? 0;
    for (const text of recording?.bodies.values() ?? []) this.bodies.putText(text);
    for (const graph of recording?.graphs ?? []) this.addGraph(graph);
  }

  /** The redacted JSON text of a body that an event names; undefined when it has given way to newer ones. */
  body(hash: string): string | undefined {
    return this.bodies.get(hash);
  }

  /** Number of the newest event. */
  get lastSeq(): number {
    return this.#lastSeq;
  }
  /** Oldest event still in memory. */
  get firstSeq(): number {
    return this.#ring[0]?.seq ?? 0;
  }
  /** Milliseconds since the flow's start. */
  get elapsed(): number {
    return Math.max(this.#lastT, this.#now() - this.header.startedAt);
  }
  /** Graphs of the machines that events speak of. */
  get graphs(): readonly MachineGraph[] {
    return [...this.#graphs.values()];
  }

  /** Adds an event: it gets its number and its time, and every listener hears it. */
  put(draft: FlowEventDraft): void {
    this.take({ ...draft });
  }

  /**
   * As `put`, for a draft that nobody else holds: it becomes the event, without a copy.
   * @internal
   */
  take(draft: FlowEventDraft): void {
    this.add(Object.assign(draft, { seq: this.nextSeq(), t: this.nextT() }));
  }

  /** @internal The number of an event that is made at once: fields that an object is made with cost less than fields it is given. */
  nextSeq(): number {
    return ++this.#lastSeq;
  }
  /** @internal Its time. */
  nextT(): number {
    this.guard(this.#tick);
    return this.#lastT;
  }
  /** The clock is the embedding program's. */
  readonly #tick = (): void => {
    this.#lastT = this.elapsed;
  };

  /** @internal Adds an event that was made with its number and time. */
  add(event: FlowEvent): void {
    try {
      this.#ring.push(event);
      // In blocks, so that the cost of moving the rest is spread over many events.
      if (this.#ring.length > this.#maxEvents * 1.25) this.#ring = this.#ring.slice(-this.#maxEvents);
      for (const listener of this.#listeners) {
        try {
          listener(event);
        } catch {
          this.faults++;
        }
      }
    } catch {
      this.faults++;
    }
  }

  /** Adds a machine's graph, or replaces the one of its id. */
  addGraph(graph: MachineGraph): void {
    this.#graphs.set(graph.id, graph);
  }

  /** Events `fromSeq`…`toSeq` that are still there, at most `limit`. */
  events(fromSeq: number, toSeq = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY): readonly FlowEvent[] {
    const start = this.#indexOf(fromSeq);
    const end = Math.min(toSeq === Number.POSITIVE_INFINITY ? this.#ring.length : this.#indexOf(toSeq + 1), start + limit);
    return end > start ? this.#ring.slice(start, end) : [];
  }

  /** Position of the first event from this `seq` on. A recording may have holes, so it is searched for. */
  #indexOf(seq: number): number {
    return countWhile(this.#ring, (event) => event.seq < seq);
  }

  /** Hears events from now on. Returns how to stop listening. */
  listen(listener: FlowListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @internal Redacted copy of a small plain value that travels inside an event; shared by those that are equal. */
  plain<T>(value: T): T {
    const { text, clipped } = this.bodies.redact(value, FULL_LIMITS);
    if (clipped) this.faults++;
    const known = this.#plain.get(text);
    if (known !== undefined) return known;
    const made = JSON.parse(text);
    this.#plain.set(text, made, true);
    return made;
  }

  /** @internal A redacted copy of a text, cut after `maxChars`. */
  text(text: string, maxChars = 500): string {
    const masked = this.redactor.text(text.slice(0, maxChars * 2));
    return masked.length > maxChars ? `${masked.slice(0, maxChars)}…` : masked;
  }

  /** @internal Runs inspection code so that its failure is counted and goes no further. */
  guard(work: () => void): void {
    try {
      work();
    } catch {
      this.faults++;
    }
  }
}
