import type { MachineGraph } from '../../../../src/inspect/protocol/graph.js';
import { isJsonObject, type JsonObject } from '../../../../src/json.js';
import { type ChartLayout, elkInput, graphHash, layoutOf } from './chartLayout.js';
import { type PackedLayout, unpackLayout } from './packedLayout.js';

export type LayoutState =
  | { readonly kind: 'ready'; readonly layout: ChartLayout }
  | { readonly kind: 'working' }
  | { readonly kind: 'tooLarge'; readonly states: number }
  | { readonly kind: 'failed'; readonly message: string };

/** Beyond this a chart is slow to lay out and of little use; it is drawn on request only. */
const MANY_STATES = 300;

/** Those of the library's own machines stand in the page's HTML. */
const shippedLayouts: Readonly<Record<string, PackedLayout>> = JSON.parse(document.getElementById('layouts')?.textContent ?? '{}');

/** Beside the page, wherever that is. */
const WORKER_FILE = 'elk-worker.min.js';

/** Positions of charts: shipped with the page, carried by a recording, or worked out once in a worker. */
export class Layouts {
  readonly #known = new Map<string, LayoutState>();
  readonly #works = new Map<string, Promise<void>>();
  readonly #wanted = new Set<string>();

  constructor(readonly changed: () => void) {}

  of(graph: MachineGraph, recorded: Readonly<Record<string, unknown>> | undefined): LayoutState {
    const hash = graphHash(graph);
    const known = this.#known.get(hash);
    if (known) return known;
    const ours = shippedLayouts[graph.id];
    if (ours?.hash === hash) return this.#set(hash, { kind: 'ready', layout: unpackLayout(graph, ours) });
    const carried = recorded?.[graph.id];
    if (isLayout(carried) && carried.hash === hash) return this.#set(hash, { kind: 'ready', layout: carried });
    if (graph.nodes.length > MANY_STATES && !this.#wanted.has(hash)) return { kind: 'tooLarge', states: graph.nodes.length };
    const working = this.#set(hash, { kind: 'working' });
    this.#works.set(hash, this.#work(graph, hash));
    return working;
  }

  /** Positions of the machines that the page does not know by itself, worked out where that was not done yet; for an export. */
  async foreign(
    graphs: readonly MachineGraph[],
    recorded: Readonly<Record<string, unknown>> | undefined,
  ): Promise<Record<string, JsonObject>> {
    const out: Record<string, JsonObject> = {};
    for (const graph of graphs) {
      const hash = graphHash(graph);
      if (shippedLayouts[graph.id]?.hash === hash) continue;
      const state = this.of(graph, recorded);
      if (state.kind === 'working') await this.#works.get(hash);
      const done = this.#known.get(hash);
      if (done?.kind === 'ready') out[graph.id] = JSON.parse(JSON.stringify(done.layout));
    }
    return out;
  }

  /** Draws a chart although it is large. */
  want(graph: MachineGraph): void {
    this.#wanted.add(graphHash(graph));
    this.changed();
  }

  async #work(graph: MachineGraph, hash: string): Promise<void> {
    try {
      const out = await layoutInWorker(graph);
      this.#set(hash, { kind: 'ready', layout: out });
    } catch (error) {
      this.#set(hash, { kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
    this.#works.delete(hash);
    this.changed();
  }

  #set(hash: string, state: LayoutState): LayoutState {
    this.#known.set(hash, state);
    return state;
  }
}

/** Longest wait for the worker; it is local, so only a broken or blocked one takes longer. */
const WORKER_MS = 60_000;

/** Talks to the engine's worker in its own message format, so that only this one file of it is needed. */
function layoutInWorker(graph: MachineGraph): Promise<ChartLayout> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(WORKER_FILE, document.baseURI));
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      worker.terminate();
      settle();
    };
    const timer = setTimeout(() => end(() => reject(new Error('The layout engine did not answer.'))), WORKER_MS);
    worker.onerror = () => end(() => reject(new Error('The layout engine could not be loaded.')));
    worker.onmessage = ({ data }: MessageEvent<{ id: number; data?: Parameters<typeof layoutOf>[1]; error?: { message?: string } }>) => {
      if (data.id === 0) {
        worker.postMessage({ id: 1, cmd: 'layout', graph: elkInput(graph, 'DOWN'), layoutOptions: {}, options: {} });
      } else if (data.error) end(() => reject(new Error(data.error?.message ?? 'The layout engine failed.')));
      else if (data.data) {
        const out = data.data;
        end(() => resolve(layoutOf(graph, out)));
      }
    };
    worker.postMessage({ id: 0, cmd: 'register', algorithms: ['layered'] });
  });
}

/** What a recording carries was written by whoever made it: anything that could not be drawn is no layout. */
function isLayout(value: unknown): value is ChartLayout {
  const has = (of: unknown, ...keys: readonly string[]): boolean => isJsonObject(of) && keys.every((key) => Number.isFinite(of[key]));
  return (
    isJsonObject(value) &&
    has(value, 'width', 'height') &&
    Array.isArray(value.boxes) &&
    value.boxes.every((box) => has(box, 'x', 'y', 'w', 'h', 'depth')) &&
    Array.isArray(value.wires) &&
    value.wires.every((wire) => isJsonObject(wire) && Array.isArray(wire.points))
  );
}
