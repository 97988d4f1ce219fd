import { eventLabel } from '../../../../src/inspect/protocol/graph.js';
import { selectActor } from '../model/actions.js';
import { actorKey, moment, plural, statePath } from '../ui/format.js';
import { useInspector, useRemote } from '../ui/hooks.js';

/** Events that wait while the flow is paused, oldest first. */
export function HeldMenu() {
  const inspector = useInspector();
  const { held, scope } = useRemote();
  const may = scope === 'control';
  return (
    <>
      <h2>Held events</h2>
      {held.why && (
        <p className="quiet">
          Paused by {held.why.kind === 'breakpoint' ? 'a breakpoint' : held.why.by}
          {held.why.state === undefined ? '' : ` on ${held.why.state}`}.
        </p>
      )}
      {held.held.length === 0 && <p className="quiet">Nothing is held yet. The next event will be.</p>}
      <ol className="held">
        {held.held.map((event) => (
          <li key={event.id}>
            <button type="button" className="link mono" onClick={() => selectActor(inspector, event.actor)} title={event.actor}>
              {actorKey(event.actor)}
            </button>
            <span className="mono">{eventLabel(event.event)}</span>
            {event.next && event.next.length > 0 && <span className="quiet mono">→ {event.next.map(statePath).join(', ')}</span>}
            <span className="grow" />
            <span className="quiet num">{moment(event.t)}</span>
            <button type="button" className="button small" disabled={!may} onClick={() => void inspector.step(event.actor)}>
              Let go
            </button>
          </li>
        ))}
      </ol>
      {held.frozenTimers > 0 && (
        <p className="quiet">
          {plural(held.frozenTimers, 'timer')} {held.frozenTimers === 1 ? 'stands' : 'stand'} still.
        </p>
      )}
    </>
  );
}
