import { useMemo, useRef } from 'react';
import type { FlowEvent } from '../../../../src/inspect/protocol/flowEvents.js';
import { eventLabel } from '../../../../src/inspect/protocol/graph.js';
import { selectCall, selectEvent } from '../model/actions.js';
import { type Call, isProblem, isUnanswered } from '../model/calls.js';
import { decidedBy, eventText, statusText } from '../model/describe.js';
import { EventFilter, filterCalls } from '../model/filter.js';
import { actorTitle } from '../model/tree.js';
import type { LogTab } from '../model/view.js';
import { actorKey, count, duration, moment, plural } from '../ui/format.js';
import { useFlowVersion, useInspector, useTicks, useView } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';
import { Rows } from '../ui/Rows.js';
import { Tabs } from '../ui/Tabs.js';
import { GatePips } from './GateStrip.js';
import { Sequence } from './Sequence.js';

/** What happened, as rows: calls, raw events, messages between actors, and what went wrong. */
export function Log() {
  const inspector = useInspector();
  const view = useView();
  useFlowVersion();
  const { flow } = inspector;
  const tabs: readonly { readonly id: LogTab; readonly name: string; readonly count?: number; readonly tone?: 'err' }[] = [
    { id: 'calls', name: 'Calls', count: flow.calls.length },
    { id: 'events', name: 'Events', count: flow.events.length },
    { id: 'sequence', name: 'Sequence' },
    { id: 'errors', name: 'Errors', count: flow.problems.length, ...(flow.problems.length > 0 ? { tone: 'err' } : {}) },
  ];
  const scope = view.scope === null ? undefined : flow.actors.get(view.scope);
  return (
    <section className="panel log" aria-label="Log">
      <div className="panel-head tabs-head">
        <Tabs label="Log" tabs={tabs} current={view.log} onChange={(log) => inspector.view.patch({ log })} panel="log-panel" />
        <span className="grow" />
        {scope && (
          <button type="button" className="chip" onClick={() => inspector.view.patch({ scope: null })} title="Show the whole flow  Esc">
            in {actorTitle(scope)} <Icon name="close" size={10} />
          </button>
        )}
        {view.range && (
          <button type="button" className="chip" onClick={() => inspector.view.patch({ range: null })} title="Show all times  Esc">
            {moment(view.range.from)} – {moment(view.range.to)} s <Icon name="close" size={10} />
          </button>
        )}
        <label className="check">
          <input
            type="checkbox"
            checked={view.problemsOnly}
            onChange={(event) => inspector.view.patch({ problemsOnly: event.target.checked })}
          />
          Failed only
        </label>
      </div>
      <div className="log-body" id="log-panel" role="tabpanel" aria-label={tabs.find((tab) => tab.id === view.log)?.name}>
        {view.log === 'calls' && <Calls />}
        {view.log === 'events' && <Events />}
        {view.log === 'sequence' && <Sequence />}
        {view.log === 'errors' && <Errors />}
      </div>
    </section>
  );
}

function Calls() {
  const inspector = useInspector();
  const view = useView();
  const version = useFlowVersion();
  const { flow } = inspector;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for the flow, which is changed in place
  const calls = useMemo(
    () => filterCalls(flow, view, view.travel),
    [version, view.filter, view.scope, view.problemsOnly, view.range, view.travel],
  );
  useTicks(view.travel === null && flow.activeCalls.size > 0, 500);
  const current = view.call === null ? -1 : indexOfCall(calls, view.call, flow.call(view.call)?.index ?? -1);
  if (flow.calls.length === 0) return <NoCalls />;
  return (
    <>
      <Rows
        id="calls"
        label="Tool calls"
        role="grid"
        className="table calls"
        columns={8}
        count={calls.length}
        rowHeight={25}
        current={current}
        tail={view.filter === ''}
        place={JSON.stringify([view.filter, view.problemsOnly, view.range, view.scope])}
        onMove={(index) => {
          const call = calls[index];
          if (call) selectCall(inspector, call);
        }}
        onOpen={() => inspector.view.patch({ details: 'why' })}
        head={
          <div className="table-head" aria-hidden="true">
            <span className="right">#</span>
            <span>Turn</span>
            <span>Tool</span>
            <span>Input</span>
            <span>Gates</span>
            <span>Status</span>
            <span>Decided by</span>
            <span className="right">Time</span>
          </div>
        }
        row={(index) => {
          const call = calls[index];
          if (!call) return null;
          return (
            <CallRow
              call={flow.callAt(call, view.travel)}
              id={`calls-${index}`}
              row={index}
              selected={index === current}
              now={flow.lastT}
              onSelect={() => selectCall(inspector, call)}
            />
          );
        }}
      />
      {calls.length === 0 && <NothingMatches hidden={flow.calls.length} what="call" />}
    </>
  );
}

function CallRow(props: {
  readonly call: Call;
  readonly id: string;
  readonly row: number;
  readonly selected: boolean;
  readonly now: number;
  readonly onSelect: () => void;
}) {
  const { call, id, row, selected, now, onSelect } = props;
  return (
    <div
      id={id}
      className={`table-row${selected ? ' selected' : ''}`}
      role="row"
      aria-rowindex={row + 1}
      aria-selected={selected}
      onClick={onSelect}
      data-call={call.toolUseId}
    >
      <span role="gridcell" className="right quiet num">
        {call.index + 1}
      </span>
      <span role="gridcell" className="quiet num" title={call.agent}>
        {call.agent === '' ? '' : '↳'}
        {call.turn || ''}
      </span>
      <span role="gridcell" className="strong">
        {call.tool}
      </span>
      <span role="gridcell" className="mono" title={call.label}>
        {call.label}
      </span>
      <span role="gridcell">
        <GatePips call={call} />
      </span>
      <span role="gridcell" className={`status ${isProblem(call) && call.outcome === 'succeeded' ? 'failed' : call.status}`}>
        {statusText(call)}
      </span>
      <span role="gridcell" className="quiet" title={decidedBy(call)}>
        {decidedBy(call)}
      </span>
      <span role="gridcell" className="right num">
        {isUnanswered(call) ? 'unknown' : duration((call.endT ?? now) - call.startT)}
      </span>
    </div>
  );
}

/** Rows are in order of start, so the place of a call in a part of them can be searched for. */
function indexOfCall(calls: readonly Call[], toolUseId: string, index: number): number {
  let low = 0;
  let high = calls.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((calls[middle]?.index ?? 0) < index) low = middle + 1;
    else high = middle;
  }
  return calls[low]?.toolUseId === toolUseId ? low : -1;
}

function Events() {
  const inspector = useInspector();
  const view = useView();
  useFlowVersion();
  const { flow } = inspector;
  const filter = useRef(new EventFilter());
  const { rows, more } = filter.current.rows(flow, view);
  if (more) inspector.pulse.beat();
  return (
    <EventTable
      id="events"
      label="Events"
      rows={rows}
      place={JSON.stringify([view.filter, view.problemsOnly, view.range, view.scope])}
      tail={view.filter === ''}
      empty={
        flow.events.length === 0 ? (
          <p className="empty">Events appear here as actors receive them.</p>
        ) : (
          <NothingMatches hidden={flow.events.length} what="event" />
        )
      }
    />
  );
}

function Errors() {
  const view = useView();
  useFlowVersion();
  const { flow } = useInspector();
  const filter = useRef(new EventFilter());
  const { rows } = filter.current.rows(flow, { ...view, problemsOnly: false }, flow.problems);
  return (
    <EventTable
      id="errors"
      label="Errors"
      rows={rows}
      place="errors"
      tail={false}
      empty={
        flow.problems.length === 0 ? (
          <p className="empty">Nothing has gone wrong so far.</p>
        ) : (
          <NothingMatches hidden={flow.problems.length} what="problem" />
        )
      }
    />
  );
}

interface EventTableProps {
  readonly id: string;
  readonly label: string;
  readonly rows: readonly FlowEvent[];
  readonly place: string;
  readonly tail: boolean;
  readonly empty: React.ReactNode;
}

function EventTable({ id, label, rows, place, tail, empty }: EventTableProps) {
  const inspector = useInspector();
  const view = useView();
  const { flow } = inspector;
  const at = view.event ?? view.travel;
  const current = at === null ? -1 : positionOf(rows, at);
  const selected = rows[current]?.seq === view.event ? current : -1;
  if (rows.length === 0) return empty;
  return (
    <Rows
      id={id}
      label={label}
      role="grid"
      className="table events"
      columns={5}
      count={rows.length}
      rowHeight={23}
      current={current}
      tail={tail}
      place={place}
      onMove={(index) => {
        const event = rows[index];
        if (event) selectEvent(inspector, event.seq);
      }}
      onOpen={() => inspector.view.patch({ details: 'raw' })}
      head={
        <div className="table-head" aria-hidden="true">
          <span className="right">Seq</span>
          <span className="right">Time</span>
          <span>Actor</span>
          <span>Kind</span>
          <span>What</span>
        </div>
      }
      row={(index) => {
        const event = rows[index];
        if (!event) return null;
        const actor = flow.actorOf(event);
        const call = actor === null ? undefined : flow.callOfActor(actor);
        const later = view.travel !== null && event.seq > view.travel;
        return (
          <div
            id={`${id}-${index}`}
            className={`table-row${index === selected ? ' selected' : ''}${later ? ' later' : ''}${event.seq === view.travel ? ' now' : ''}`}
            role="row"
            aria-rowindex={index + 1}
            aria-selected={index === selected}
            data-seq={event.seq}
            onClick={() => {
              selectEvent(inspector, event.seq);
              inspector.view.patch({ details: 'raw' });
            }}
          >
            <span role="gridcell" className="right quiet num">
              {event.seq}
            </span>
            <span role="gridcell" className="right quiet num">
              {moment(event.t)}
            </span>
            <span role="gridcell" className="mono" title={actor ?? ''}>
              {call ? `${call.tool} ` : ''}
              <span className="quiet">{actor === null ? '' : actorKey(actor)}</span>
            </span>
            <span role="gridcell">
              <span className={`kind ${event.type.replace('.', '-')}${isBad(event) ? ' bad' : ''}`}>{kindName(event)}</span>
            </span>
            <span role="gridcell" className="mono" title={eventText(event)}>
              {event.type === 'transition' && event.event !== '' && <span className="quiet">{eventLabel(event.event)} · </span>}
              {eventText(event)}
            </span>
          </div>
        );
      }}
    />
  );
}

const kindName = (event: FlowEvent): string =>
  event.type === 'actor.started' ? 'start' : event.type === 'actor.stopped' ? 'stop' : event.type === 'transition' ? 'state' : event.type;

const isBad = (event: FlowEvent): boolean =>
  event.type === 'error' || (event.type === 'result' && event.isError) || (event.type === 'actor.stopped' && event.status === 'error');

function positionOf(rows: readonly FlowEvent[], seq: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.seq ?? 0) <= seq) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function NoCalls() {
  const { flow } = useInspector();
  const view = useView();
  useTicks(flow.modelWaitsSince !== null, 1000);
  if (flow.modelWaitsSince === null || view.travel !== null || flow.header === null) {
    return <p className="empty">No tool has been called yet.</p>;
  }
  const since = Date.now() - (flow.header.startedAt + flow.modelWaitsSince);
  return <p className="empty">The model is answering ({duration(Math.max(0, since))}). Calls appear here as soon as it asks for one.</p>;
}

function NothingMatches({ hidden, what }: { readonly hidden: number; readonly what: string }) {
  const inspector = useInspector();
  return (
    <div className="empty over">
      <p>
        Nothing matches; {plural(hidden, what)} {hidden === 1 ? 'is' : 'are'} hidden.
      </p>
      <button
        type="button"
        className="button"
        onClick={() => inspector.view.patch({ filter: '', problemsOnly: false, range: null, scope: null })}
      >
        Show all {count(hidden)}
      </button>
    </div>
  );
}
