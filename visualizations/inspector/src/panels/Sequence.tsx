import { useRef } from 'react';
import type { EventReceived, FlowEvent } from '../../../../src/inspect/protocol/flowEvents.js';
import { eventLabel } from '../../../../src/inspect/protocol/graph.js';
import { selectEvent } from '../model/actions.js';
import { isWithin } from '../model/actors.js';
import type { Flow } from '../model/flow.js';
import { actorTitle } from '../model/tree.js';
import { useFlowVersion, useInspector, useView } from '../ui/hooks.js';
import { Rows } from '../ui/Rows.js';
import { Visible } from '../ui/visible.js';

const MOST_LANES = 12;
const LANE = 108;
const ROW = 26;
const LEFT = 58;
/** Room for a text that starts at the last lifeline. */
const MARGIN = 130;

/** Messages between the actors of the selected subtree, as lifelines. What does not fit shares the last one. */
export function Sequence() {
  const inspector = useInspector();
  const view = useView();
  useFlowVersion();
  const { flow } = inspector;
  const cache = useRef(new Messages());
  const { rows, lanes, more } = cache.current.read(flow, view.scope);
  if (more) inspector.pulse.beat();
  const shown = view.travel === null ? rows : rows.filter((row) => row.seq <= (view.travel ?? 0));
  const current = view.event === null ? -1 : shown.findIndex((row) => row.seq === view.event);
  const width = LEFT + lanes.length * LANE + MARGIN;
  const laneOf = (actor: string): number => {
    const at = lanes.indexOf(actor);
    return at < 0 ? lanes.length - 1 : at;
  };
  const x = (lane: number): number => LEFT + lane * LANE + LANE / 2;
  if (rows.length === 0) {
    const none = flow.isTranscript ? 'A transcript records no messages between actors.' : 'No messages between actors here yet.';
    return <p className="empty">{none}</p>;
  }
  return (
    <Rows
      id="sequence"
      label="Messages"
      role="listbox"
      className="sequence"
      count={shown.length}
      rowHeight={ROW}
      current={current}
      tail
      place={view.scope ?? ''}
      onMove={(index) => {
        const row = shown[index];
        if (row) selectEvent(inspector, row.seq);
      }}
      onOpen={() => inspector.view.patch({ details: 'raw' })}
      head={
        <div className="lanes-head" style={{ width }}>
          {lanes.map((actor, lane) => (
            <span key={actor} style={{ left: LEFT + lane * LANE, width: LANE }} title={actor}>
              <Visible text={laneName(flow, actor, lane === MOST_LANES - 1)} />
            </span>
          ))}
        </div>
      }
      row={(index) => {
        const row = shown[index];
        if (!row) return null;
        const source = machineSource(flow, row);
        const [from, to] = [source === null ? null : laneOf(source), laneOf(row.actor)];
        return (
          <div
            id={`sequence-${index}`}
            role="option"
            aria-selected={index === current}
            aria-label={`${row.seq} ${clipped(messageText(flow, row))}, ${row.source ?? 'outside'} to ${row.actor}`}
            className={`message${index === current ? ' selected' : ''}`}
            style={{ width }}
            data-seq={row.seq}
            onClick={() => selectEvent(inspector, row.seq)}
          >
            <svg width={width} height={ROW} aria-hidden="true">
              {lanes.map((actor, lane) => (
                <path key={actor} className="lifeline" d={`M${x(lane)} 0V${ROW}`} />
              ))}
              <text className="seq" x={6} y={17}>
                {row.seq}
              </text>
              <Arrow from={from} to={to} x={x} text={clipped(messageText(flow, row))} />
            </svg>
          </div>
        );
      }}
    />
  );
}

function Arrow({
  from,
  to,
  x,
  text,
}: {
  readonly from: number | null;
  readonly to: number;
  readonly x: (lane: number) => number;
  readonly text: string;
}) {
  if (from === null || from === to) {
    const at = x(to);
    return (
      <>
        <path className="arrow" d={from === null ? `M${at - 26} 16H${at - 2}` : `M${at} 8h18v10h-16`} />
        <path
          className="arrow-head"
          d={from === null ? `M${at - 7} 12.5 ${at - 1} 16 ${at - 7} 19.5z` : `M${at + 7} 14.5 ${at + 1} 18 ${at + 7} 21.5z`}
        />
        <text x={at + (from === null ? 6 : 24)} y={13}>
          {text}
        </text>
      </>
    );
  }
  const [a, b] = [x(from), x(to)];
  const right = b > a;
  const tip = right ? b - 1 : b + 1;
  return (
    <>
      <path className="arrow" d={`M${a} 18H${tip}`} />
      <path className="arrow-head" d={right ? `M${b - 7} 14.5 ${b - 1} 18 ${b - 7} 21.5z` : `M${b + 7} 14.5 ${b + 1} 18 ${b + 7} 21.5z`} />
      <text x={(a + b) / 2} y={13} textAnchor="middle">
        {text}
      </text>
    </>
  );
}

function laneName(flow: Flow, id: string, last: boolean): string {
  if (last && id === OTHERS) return 'others';
  const actor = flow.actors.get(id);
  return actor ? actorTitle(actor) : id;
}

/** Promises and streams behind a machine's ports get no lane: what they say arrives from outside. */
function machineSource(flow: Flow, { source }: EventReceived): string | null {
  return source !== null && flow.actors.get(source)?.machine != null ? source : null;
}

const LABEL_CHARS = 26;
const clipped = (text: string): string => (text.length > LABEL_CHARS ? `${text.slice(0, LABEL_CHARS - 1)}…` : text);

function messageText(flow: Flow, { event, source }: EventReceived): string {
  const label = eventLabel(event);
  const helper = source === null ? undefined : flow.actors.get(source);
  return helper && helper.machine === null && label === 'done' ? `done: ${helper.name}` : label;
}

const OTHERS = '(others)';
const PER_FRAME = 40_000;

/** The messages of a scope and who takes part, read on as the flow grows. */
class Messages {
  #scope: string | null | undefined;
  #flow: Flow | null = null;
  #looked = 0;
  #rows: EventReceived[] = [];
  #lanes: string[] = [];

  read(
    flow: Flow,
    scope: string | null,
  ): { readonly rows: readonly EventReceived[]; readonly lanes: readonly string[]; readonly more: boolean } {
    if (scope !== this.#scope || flow !== this.#flow || this.#looked > flow.events.length) {
      this.#scope = scope;
      this.#flow = flow;
      this.#looked = 0;
      this.#rows = [];
      this.#lanes = [];
    }
    const end = Math.min(flow.events.length, this.#looked + PER_FRAME);
    for (; this.#looked < end; this.#looked++) this.#take(flow, flow.events[this.#looked], scope);
    return { rows: this.#rows, lanes: this.#lanes, more: this.#looked < flow.events.length };
  }

  #take(flow: Flow, event: FlowEvent | undefined, scope: string | null): void {
    if (event?.type !== 'event' || !isWithin(event.actor, scope)) return;
    if (event.source === event.actor || flow.actors.get(event.actor)?.machine == null) return;
    this.#rows.push(event);
    for (const actor of [machineSource(flow, event), event.actor]) {
      if (actor === null || this.#lanes.includes(actor) || this.#lanes.at(-1) === OTHERS) continue;
      this.#lanes.push(this.#lanes.length === MOST_LANES - 1 ? OTHERS : actor);
    }
  }
}
