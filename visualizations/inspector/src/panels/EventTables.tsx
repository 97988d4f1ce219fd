import { useRef } from 'react';
import type { FlowEvent } from '../../../../src/inspect/protocol/flowEvents.js';
import { eventLabel } from '../../../../src/inspect/protocol/graph.js';
import { selectEvent } from '../model/actions.js';
import { eventText } from '../model/describe.js';
import { choiceKey, EventFilter } from '../model/filter.js';
import { lastUpTo } from '../model/flow.js';
import { actorKey, moment } from '../ui/format.js';
import { useFlowVersion, useInspector, useView } from '../ui/hooks.js';
import { Rows } from '../ui/Rows.js';
import { Visible } from '../ui/visible.js';
import { NothingMatches } from './NothingMatches.js';

/** Everything that was told, one row an event. */
export function EventRows() {
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
      place={choiceKey(view)}
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

/** What went wrong. */
export function ErrorRows() {
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
  const current = at === null ? -1 : lastUpTo(rows, at);
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
              {call && <Visible text={`${call.tool} `} />}
              <span className="quiet">{actor === null ? '' : actorKey(actor)}</span>
            </span>
            <span role="gridcell">
              <span className={`kind ${event.type.replace('.', '-')}${isBad(event) ? ' bad' : ''}`}>{kindName(event)}</span>
            </span>
            <span role="gridcell" className="mono" title={eventText(event)}>
              {event.type === 'transition' && event.event !== '' && <span className="quiet">{eventLabel(event.event)} · </span>}
              <Visible text={eventText(event)} />
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
