import type { ActorStopped, BodyRef, ContextChanged, DecisionMade, EventReceived, FlowEvent, TransitionTaken } from './flowEvents.js';

/** Texts remembered as JSON; then it starts anew. */
const REMEMBERED_TEXTS = 2000;

/**
 * `JSON.stringify` for flow events. The types that nine of ten events of a flow are have their fields written one by one, since their
 * lists and decisions are shared by many events and their texts come again and again; every other event, and one with a field that is
 * not expected, is left to the built-in function.
 */
export class EventJson {
  readonly #known = new WeakMap<object, string>();
  #texts = new Map<string, string>();

  /** `brief`: the body's own line stands before the event, so that the name of the body needs no preview. */
  of(event: FlowEvent, brief = false): string {
    switch (event.type) {
      case 'transition':
        return this.#transition(event);
      case 'event':
        return this.#received(event, brief);
      case 'actor.stopped':
        return this.#stopped(event, brief);
      case 'context':
        return this.#context(event, brief);
      case 'decision':
        return this.#decided(event, brief);
      default:
        return whole(event, brief);
    }
  }

  #transition(event: TransitionTaken): string {
    const initial = event.initial === undefined ? 0 : 1;
    if (Object.keys(event).length !== 10 + initial) return JSON.stringify(event);
    const { actor, from, to, configuration, edges } = event;
    const states = `"from":${this.#shared(from)},"to":${this.#shared(to)},"configuration":${this.#shared(configuration)}`;
    const micro = `"micro":${event.micro}${initial ? ',"initial":true' : ''}`;
    return `{"type":"transition","actor":${this.#text(actor)},"event":${this.#text(event.event)},${states},"edges":${this.#shared(edges)},${micro}${end(event)}`;
  }

  #received(event: EventReceived, brief: boolean): string {
    const { actor, source, body } = event;
    if (Object.keys(event).length !== (body === undefined ? 6 : 7)) return whole(event, brief);
    const from = source === null ? 'null' : this.#text(source);
    const named = body === undefined ? '' : `,"body":${ref(body, brief)}`;
    return `{"type":"event","actor":${this.#text(actor)},"source":${from},"event":${this.#text(event.event)}${named}${end(event)}`;
  }

  #stopped(event: ActorStopped, brief: boolean): string {
    const { actor, status, output } = event;
    if (Object.keys(event).length !== (output === undefined ? 5 : 6)) return whole(event, brief);
    const named = output === undefined ? '' : `,"output":${ref(output, brief)}`;
    return `{"type":"actor.stopped","actor":${this.#text(actor)},"status":${this.#text(status)}${named}${end(event)}`;
  }

  #context(event: ContextChanged, brief: boolean): string {
    if (Object.keys(event).length !== 5) return whole(event, brief);
    return `{"type":"context","actor":${this.#text(event.actor)},"body":${ref(event.body, brief)}${end(event)}`;
  }

  #decided(event: DecisionMade, brief: boolean): string {
    const { toolUseId, toolName, mode, decision, input } = event;
    if (Object.keys(event).length !== (input === undefined ? 7 : 8)) return whole(event, brief);
    const call = `"toolUseId":${JSON.stringify(toolUseId)},"toolName":${this.#text(toolName)},"mode":${this.#text(mode)}`;
    const named = input === undefined ? '' : `,"input":${ref(input, brief)}`;
    return `{"type":"decision",${call},"decision":${this.#shared(decision)}${named}${end(event)}`;
  }

  #shared(value: object): string {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const json = JSON.stringify(value);
    this.#known.set(value, json);
    return json;
  }

  #text(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const json = JSON.stringify(text);
    if (this.#texts.size >= REMEMBERED_TEXTS) this.#texts = new Map();
    this.#texts.set(text, json);
    return json;
  }
}

const end = ({ seq, t }: FlowEvent): string => `,"seq":${seq},"t":${t}}`;

function ref({ hash, bytes, preview, clipped }: BodyRef, brief: boolean): string {
  const shown = brief ? '' : `,"preview":${JSON.stringify(preview)}`;
  return `{"hash":${JSON.stringify(hash)},"bytes":${bytes}${shown}${clipped ? ',"clipped":true' : ''}}`;
}

function whole(event: FlowEvent, brief: boolean): string {
  if (!brief) return JSON.stringify(event);
  const bare: Partial<Record<RefField, Omit<BodyRef, 'preview'>>> = {};
  for (const field of REF_FIELDS) {
    const body = refIn(event, field);
    if (body === undefined) continue;
    const { preview, ...rest } = body;
    bare[field] = rest;
  }
  return JSON.stringify({ ...event, ...bare });
}

/** Fields of events that name bodies. */
export const REF_FIELDS = ['input', 'output', 'body'] as const;
export type RefField = (typeof REF_FIELDS)[number];

export function refIn(event: FlowEvent, field: RefField): BodyRef | undefined {
  if (field === 'body') return 'body' in event ? event.body : undefined;
  if (field === 'input') return 'input' in event ? event.input : undefined;
  return 'output' in event ? event.output : undefined;
}
