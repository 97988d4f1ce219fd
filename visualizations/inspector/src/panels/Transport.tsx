import { goLive, travelBy, travelTo } from '../model/actions.js';
import { count, moment, plural } from '../ui/format.js';
import { useFlowVersion, useInspector, useRemote, useView } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';

/** Time travel and the totals. Only reads what was recorded: nothing is run again. */
export function Transport() {
  const inspector = useInspector();
  const view = useView();
  const { counters, status, isRecorded } = useRemote();
  useFlowVersion();
  const { flow } = inspector;
  const first = flow.firstSeq;
  const last = Math.max(first, flow.lastSeq);
  const at = view.travel ?? last;
  const live = status === 'live' && !isRecorded;
  const running = flow.activeCalls.size;
  const waiting = [...flow.activeCalls].filter((call) => call.status === 'asking').length;
  const none = flow.events.length === 0;
  return (
    <footer className="transport" data-last-seq={flow.lastSeq} data-calls={flow.calls.length}>
      <div className="controls" role="toolbar" aria-label="Time travel">
        <button
          type="button"
          className="tool"
          disabled={none}
          onClick={() => travelTo(inspector, first)}
          aria-label="First event"
          title="First event"
        >
          <Icon name="first" size={12} />
        </button>
        <button
          type="button"
          className="tool"
          disabled={none}
          onClick={() => travelBy(inspector, -1)}
          aria-label="One event back"
          title="One event back  ←"
        >
          <Icon name="back" size={12} />
        </button>
        <button
          type="button"
          className="tool"
          disabled={none || view.travel === null}
          onClick={() => travelBy(inspector, 1)}
          aria-label="One event on"
          title="One event on  →"
        >
          <Icon name="forward" size={12} />
        </button>
      </div>
      <input
        id="time"
        type="range"
        min={first}
        max={last}
        value={at}
        disabled={none}
        aria-label="Step"
        aria-valuetext={`event ${at} of ${last}`}
        onChange={(event) => travelTo(inspector, Number(event.target.value))}
      />
      <button type="button" className="button small" aria-pressed={view.travel === null} onClick={() => goLive(inspector)}>
        {live ? 'Live' : 'End'}
      </button>
      <span className="num quiet step-count">
        {count(at)} / {count(last)} · {moment(flow.eventAt(at)?.t ?? 0)} s
      </span>
      <span className="grow" />
      <Total value={running - waiting} name="running" tone="on" />
      <Total value={waiting} name="waiting" tone="asking" />
      <Total value={flow.calls.length - running} name="done" tone="done" />
      <Total value={flow.problems.length} name="problems" tone={flow.problems.length > 0 ? 'err' : 'done'} />
      {flow.holes.length > 0 && (
        <span className="total warn" title={flow.holes.map(({ from, to, reason }) => `${from} to ${to}: ${reason}`).join('\n')}>
          <Icon name="warning" size={12} />{' '}
          {plural(
            flow.holes.reduce((sum, { from, to }) => sum + to - from + 1, 0),
            'event',
          )}{' '}
          missing
        </span>
      )}
      {(counters?.inspectorFaults ?? 0) > 0 && (
        <span className="total warn" title="Records the inspector could not make. The flow itself is not touched by that.">
          {plural(counters?.inspectorFaults ?? 0, 'inspector fault')}
        </span>
      )}
    </footer>
  );
}

function Total({ value, name, tone }: { readonly value: number; readonly name: string; readonly tone: string }) {
  return (
    <span className={`total${value === 0 ? ' zero' : ''}`} data-total={name}>
      <span className={`dot ${tone}`} />
      <b className="num">{count(value)}</b> {name}
    </span>
  );
}
