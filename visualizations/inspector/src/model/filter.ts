import type { FlowEvent } from '../../../../src/inspect/protocol/flowEvents.js';
import { isWithin } from './actors.js';
import { type Call, isProblem } from './calls.js';
import { decidedBy, eventText } from './describe.js';
import type { Flow } from './flow.js';
import type { View } from './view.js';

type Choice = Pick<View, 'filter' | 'scope' | 'problemsOnly' | 'range'>;

/** The same for the same choice. */
export const choiceKey = ({ filter, scope, problemsOnly, range }: Choice): string => JSON.stringify([filter, scope, problemsOnly, range]);

/** Words that must all occur; `tool:`, `is:`, `turn:` and `agent:` look at one field. */
export function parseFilter(text: string): readonly { readonly field: string; readonly word: string }[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const colon = word.indexOf(':');
      const field = word.slice(0, colon);
      return FIELDS.has(field) ? { field, word: word.slice(colon + 1) } : { field: '', word };
    });
}
const FIELDS = new Set(['tool', 'is', 'turn', 'agent']);

function callMatches(call: Call, words: ReturnType<typeof parseFilter>): boolean {
  return words.every(({ field, word }) => {
    if (field === 'tool') return call.tool.toLowerCase().includes(word);
    if (field === 'is') return call.status.includes(word);
    if (field === 'turn') return String(call.turn) === word;
    if (field === 'agent') return call.agent.toLowerCase().includes(word);
    return `${call.tool} ${call.label} ${call.status} ${call.agent} ${decidedBy(call)} ${call.summary} ${call.toolUseId}`
      .toLowerCase()
      .includes(word);
  });
}

/** The calls that a choice leaves; the flow's own list when it leaves all. */
export function filterCalls(flow: Flow, choice: Choice, seq: number | null): readonly Call[] {
  const { filter, scope, problemsOnly, range } = choice;
  if (filter === '' && scope === null && !problemsOnly && range === null && seq === null) return flow.calls;
  const words = parseFilter(filter);
  const scoped = scopeOfCalls(flow, scope);
  return flow.calls.filter(
    (call) =>
      (seq === null || call.startSeq <= seq) &&
      isWithin(call.actor, scoped) &&
      (!problemsOnly || isProblem(call)) &&
      (range === null || (call.startT <= range.to && (call.endT ?? flow.lastT) >= range.from)) &&
      callMatches(call, words),
  );
}

/** Within a call the table shows the calls beside it, not one lonely row. */
function scopeOfCalls(flow: Flow, scope: string | null): string | null {
  for (let at = scope === null ? undefined : flow.actors.get(scope); at; at = at.parent === null ? undefined : flow.actors.get(at.parent)) {
    if (at.calls > 0) return at.id === flow.roots[0] ? null : at.id;
  }
  return null;
}

/** Events looked at in one frame, so that a filter over a million never blocks the page. */
const PER_FRAME = 40_000;

/**
 * The events that a choice leaves. Events never change, so only new ones are looked at; a new choice starts again and
 * works its way through in slices.
 */
export class EventFilter {
  #key = '';
  #source: readonly FlowEvent[] = [];
  #looked = 0;
  #rows: FlowEvent[] = [];

  /** The rows so far, and whether there is more to look at. */
  rows(
    flow: Flow,
    choice: Choice,
    source: readonly FlowEvent[] = flow.events,
  ): { readonly rows: readonly FlowEvent[]; readonly more: boolean } {
    const { filter, scope, problemsOnly, range } = choice;
    if (filter === '' && scope === null && !problemsOnly && range === null) return { rows: source, more: false };
    const key = choiceKey(choice);
    if (key !== this.#key || source !== this.#source || this.#looked > source.length) {
      this.#key = key;
      this.#source = source;
      this.#looked = 0;
      this.#rows = [];
    }
    const words = parseFilter(filter);
    const end = Math.min(source.length, this.#looked + PER_FRAME);
    for (; this.#looked < end; this.#looked++) {
      const event = source[this.#looked];
      if (event && eventMatches(flow, event, choice, words)) this.#rows.push(event);
    }
    return { rows: this.#rows, more: this.#looked < source.length };
  }
}

function eventMatches(
  flow: Flow,
  event: FlowEvent,
  { scope, problemsOnly, range }: Choice,
  words: ReturnType<typeof parseFilter>,
): boolean {
  if (range !== null && (event.t < range.from || event.t > range.to)) return false;
  if (problemsOnly && event.type !== 'error' && !(event.type === 'result' && event.isError)) return false;
  const actor = flow.actorOf(event);
  if (!isWithin(actor, scope)) return false;
  if (words.length === 0) return true;
  const call = 'toolUseId' in event && event.toolUseId !== undefined ? flow.call(event.toolUseId) : flow.callOfActor(actor ?? '');
  return words.every(({ field, word }) => {
    if (field === 'tool') return (call?.tool.toLowerCase() ?? '').includes(word);
    if (field === 'is') return event.type.includes(word);
    if (field === 'turn') return String(call?.turn) === word;
    if (field === 'agent') return (call?.agent.toLowerCase() ?? '').includes(word);
    return `${event.type} ${'event' in event ? event.event : ''} ${eventText(event)} ${actor ?? ''} ${call?.tool ?? ''}`
      .toLowerCase()
      .includes(word);
  });
}
