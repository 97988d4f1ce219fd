import type { BodyRef, FlowEvent, FlowSource } from '../../../../src/inspect/protocol/flowEvents.js';
import type { Actor } from '../model/actors.js';
import type { Call } from '../model/calls.js';
import { eventText, placeText, statesText, statusText } from '../model/describe.js';
import { actorTitle } from '../model/tree.js';
import type { DetailsTab } from '../model/view.js';
import { count, duration, moment, plural, size } from '../ui/format.js';
import { useFlowVersion, useInspector, useView } from '../ui/hooks.js';
import { Tabs } from '../ui/Tabs.js';
import { Visible } from '../ui/visible.js';
import { BodyView, JsonValueView } from './BodyView.js';
import { ContextDiff } from './ContextDiff.js';
import { Why } from './Why.js';

const TABS: readonly { readonly id: DetailsTab; readonly name: string }[] = [
  { id: 'why', name: 'Why' },
  { id: 'input', name: 'Input' },
  { id: 'output', name: 'Output' },
  { id: 'context', name: 'Context diff' },
  { id: 'raw', name: 'Raw' },
];

/** Everything about what is selected: an event, else a call, else an actor. */
export function Details() {
  const inspector = useInspector();
  const view = useView();
  useFlowVersion();
  const { flow } = inspector;
  const live = view.call === null ? undefined : flow.call(view.call);
  const call = live && flow.callAt(live, view.travel);
  const actor = view.actor === null ? undefined : flow.actors.get(view.actor);
  const event = view.event === null ? undefined : flow.eventAt(view.event);
  return (
    <aside className="panel details" aria-label="Details">
      <div className="details-title">
        {call && actor?.id === call.actor ? (
          <>
            <h2>
              <Visible text={call.tool} />
            </h2>
            <span className={`status ${call.status}`}>{statusText(call)}</span>
            <span className="grow" />
            <span className="quiet mono id">{call.toolUseId}</span>
          </>
        ) : (
          <>
            <h2>
              <Visible text={actor ? actorTitle(actor) : 'Details'} />
            </h2>
            {actor && actor.kind !== actorTitle(actor) && <span className="quiet">{actor.kind}</span>}
            <span className="grow" />
            {actor && <span className="quiet mono id">{actor.id.slice(actor.id.lastIndexOf('/') + 1)}</span>}
          </>
        )}
      </div>
      <Tabs
        label="Details"
        tabs={TABS}
        current={view.details}
        onChange={(details) => inspector.view.patch({ details })}
        panel="details-panel"
      />
      <div
        className="details-body"
        id="details-panel"
        role="tabpanel"
        tabIndex={0}
        aria-label={TABS.find((tab) => tab.id === view.details)?.name}
      >
        {!call && !actor && !event && <p className="empty">Select a call, an actor or an event.</p>}
        {view.details === 'why' && (call ? <Why call={call} /> : actor && <AboutActor actor={actor} />)}
        {view.details === 'input' && <Side what="input" body={call?.input ?? actor?.input} />}
        {view.details === 'output' && <Output call={call} actor={actor} />}
        {view.details === 'context' && actor && <ContextDiff actor={actor} at={view.travel ?? view.event} />}
        {view.details === 'raw' && <Raw event={event} call={call} actor={actor} />}
      </div>
    </aside>
  );
}

function Side({ what, body }: { readonly what: string; readonly body: BodyRef | undefined }) {
  if (!body) return <p className="empty">No {what} was recorded.</p>;
  return <BodyView body={body} label={what} />;
}

function Output({ call, actor }: { readonly call: Call | undefined; readonly actor: Actor | undefined }) {
  if (!call) return <Side what="output" body={actor?.output} />;
  if (!call.result) {
    return (
      <p className="empty">
        {call.endT === null ? 'There is no result yet.' : 'No result was recorded.'}
        {call.progress !== '' && (
          <>
            <br />
            Last progress:{' '}
            <span className="mono">
              <Visible text={call.progress} />
            </span>
          </>
        )}
      </p>
    );
  }
  return (
    <>
      <p className={`summary ${call.isError ? 'bad' : ''}`}>
        {call.outcome}: <Visible text={call.summary} />
      </p>
      <BodyView body={call.result} label="output" />
    </>
  );
}

function AboutActor({ actor }: { readonly actor: Actor }) {
  const inspector = useInspector();
  const view = useView();
  const { flow } = inspector;
  const moment_ = flow.index.at(actor.id, view.travel ?? flow.lastSeq);
  const last = moment_?.lastTransition;
  const status = moment_?.status ?? actor.status;
  return (
    <dl className="facts roomy">
      <dt>Status</dt>
      <dd>{status}</dd>
      {actor.machine !== null && (
        <>
          <dt>State</dt>
          <dd className="mono">{statesText(moment_?.leaves ?? [])}</dd>
        </>
      )}
      <dt>Started</dt>
      <dd className="num">{moment(actor.startT)} s</dd>
      <dt>{status === 'active' ? 'Runs for' : 'Took'}</dt>
      <dd className="num">{duration((actor.endT ?? flow.lastT) - actor.startT)}</dd>
      {actor.calls > 0 && (
        <>
          <dt>Below it</dt>
          <dd>{plural(actor.calls, 'tool call')}</dd>
        </>
      )}
      {last && (
        <>
          <dt>Last step</dt>
          <dd className="mono">
            {statesText(last.from)} → {statesText(last.to)}
            {last.edges.map((edge) => (
              <div key={edge.id} className="quiet">
                {last.event || 'always'}
                {edge.guard === undefined ? '' : ` because [${edge.guard}]`}
              </div>
            ))}
          </dd>
        </>
      )}
      {actor.error !== undefined && (
        <>
          <dt>Error</dt>
          <dd className="mono bad">{actor.error}</dd>
        </>
      )}
      <dt>Path</dt>
      <dd className="mono wrap">{actor.id}</dd>
      {actor.parent === null && flow.header?.source && <Source source={flow.header.source} />}
    </dl>
  );
}

/** What a transcript held, line for line. */
function Source({ source }: { readonly source: FlowSource }) {
  const counts = (all: Readonly<Record<string, number>>): string =>
    Object.entries(all)
      .map(([what, times]) => `${count(times)} ${what}`)
      .join(', ');
  return (
    <>
      <dt>Transcript</dt>
      <dd className="mono wrap">{[source.file, ...source.files].join(', ')}</dd>
      <dt>Lines</dt>
      <dd data-lines={source.lines}>
        {count(source.lines)}: {counts(source.read)}
      </dd>
      <dt>Not shown</dt>
      <dd>{counts(source.ignored) || 'none'}</dd>
      <dt>Calls</dt>
      <dd>
        {count(source.calls)}, {count(source.paired)} of them with their result; {plural(source.subagents, 'subagent')}
      </dd>
    </>
  );
}

const MOST_EVENTS = 200;

function Raw({
  event,
  call,
  actor,
}: {
  readonly event: FlowEvent | undefined;
  readonly call: Call | undefined;
  readonly actor: Actor | undefined;
}) {
  const { flow } = useInspector();
  if (event) {
    const bodies = [
      ['input', 'input' in event ? event.input : undefined],
      ['output', 'output' in event ? event.output : undefined],
      ['body', 'body' in event ? event.body : undefined],
    ] as const;
    return (
      <>
        <p className="summary">
          <span className="quiet num">#{event.seq}</span> {event.type}{' '}
          <span className="quiet num">
            at {moment(event.t)} s{event.at && `, ${placeText(event.at)}`}
          </span>
        </p>
        <p className="mono wrap">{eventText(event)}</p>
        <JsonValueView value={event} label="event" />
        {bodies.map(([name, body]) => body && <BodyView key={name} body={body} label={name} />)}
      </>
    );
  }
  if (call) {
    const events = flow.eventsOfCall(call.toolUseId);
    return (
      <>
        <p className="summary">
          {plural(events.length, 'event')} of this call, result {call.result ? size(call.result.bytes) : 'none'}
        </p>
        <JsonValueView value={events.slice(0, MOST_EVENTS)} label="events" />
      </>
    );
  }
  if (!actor) return null;
  const { children, contexts, ...facts } = actor;
  return <JsonValueView value={{ ...facts, children: children.slice(0, MOST_EVENTS), contexts: contexts.length }} label="actor" />;
}
