import type { FlowEvent } from '../../../../src/inspect/protocol/flowEvents.js';

type Edges = readonly { readonly id: string; readonly guard?: string }[];

/** A flow says the same few things very often; each is kept once, so that a million transitions fit in memory. */
export class Interner {
  readonly #strings = new Map<string, string>();
  readonly #lists = new Map<string, readonly string[]>();
  readonly #edges = new Map<string, Edges>();

  event(event: FlowEvent): FlowEvent {
    switch (event.type) {
      case 'transition': {
        const { type, seq, t, micro } = event;
        return {
          type,
          seq,
          t,
          actor: this.#string(event.actor),
          event: this.#string(event.event),
          from: this.#list(event.from),
          to: this.#list(event.to),
          configuration: this.#list(event.configuration),
          edges: this.#edgeList(event.edges),
          micro,
          ...(event.initial ? { initial: true as const } : {}),
        };
      }
      case 'event':
        return {
          ...event,
          actor: this.#string(event.actor),
          source: event.source === null ? null : this.#string(event.source),
          event: this.#string(event.event),
        };
      default:
        return event;
    }
  }

  #string(text: string): string {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    this.#strings.set(text, text);
    return text;
  }
  #list(list: readonly string[]): readonly string[] {
    const key = list.join('\n');
    const known = this.#lists.get(key);
    if (known) return known;
    this.#lists.set(key, list);
    return list;
  }
  #edgeList(list: Edges): Edges {
    const key = list.map((edge) => `${edge.id}\t${edge.guard ?? ''}`).join('\n');
    const known = this.#edges.get(key);
    if (known) return known;
    this.#edges.set(key, list);
    return list;
  }
}
