import { actorTitle } from '../model/tree.js';
import type { LogTab } from '../model/view.js';
import { moment } from '../ui/format.js';
import { useFlowVersion, useInspector, useView } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';
import { Tabs } from '../ui/Tabs.js';
import { CallTable } from './CallTable.js';
import { ErrorRows, EventRows } from './EventTables.js';
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
        {view.log === 'calls' && <CallTable />}
        {view.log === 'events' && <EventRows />}
        {view.log === 'sequence' && <Sequence />}
        {view.log === 'errors' && <ErrorRows />}
      </div>
    </section>
  );
}
