import { useMemo, useState } from 'react';
import type { MachineNode } from '../../../../src/inspect/protocol/graph.js';
import type { Breakpoint } from '../../../../src/inspect/protocol/rpc.js';
import { Chart } from '../chart/Chart.js';
import { covers, toggleStateBreakpoint } from '../model/actions.js';
import type { Actor } from '../model/actors.js';
import { actorTitle } from '../model/tree.js';
import { statePath } from '../ui/format.js';
import { useFlowVersion, useInspector, useRemote, useView } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';

const NOTHING: ReadonlySet<string> = new Set();

/** The statechart of the selected actor, or of the nearest machine above it. */
export function ChartPanel() {
  const inspector = useInspector();
  const view = useView();
  const { breakpoints } = useRemote();
  const version = useFlowVersion();
  const [chosen, setChosen] = useState<string | null>(null);
  const { flow } = inspector;

  const actor = machineActor(flow.actors, view.actor);
  const graph = actor?.machine ? flow.graphs.get(actor.machine) : undefined;
  const moment = actor ? flow.index.at(actor.id, view.travel ?? flow.lastSeq) : undefined;
  const last = moment?.lastTransition ?? null;
  const configuration = moment?.configuration;
  const active = useMemo(() => (configuration ? new Set(configuration) : NOTHING), [configuration]);
  const edges = last?.edges;
  const fired = useMemo(() => (edges ? new Set(edges.map((edge) => edge.id)) : NOTHING), [edges]);
  const byState = useMemo(() => stateBreakpoints(breakpoints, actor?.id ?? null), [breakpoints, actor?.id]);
  const state = graph && chosen !== null ? graph.nodes.find((node) => node.id === chosen) : undefined;

  return (
    <section className="panel chart-panel" aria-label="Statechart" data-version={version}>
      <div className="panel-head">
        <h2>{graph?.id ?? 'Statechart'}</h2>
        {actor && graph && (
          <span className="crumb" title={actor.id}>
            {actor.id !== view.actor ? `${actorTitle(actor)} · ` : ''}
            <b>{(moment?.leaves ?? []).map(statePath).join('  ‖  ') || 'not started'}</b>
            {last && !last.initial && (
              <span className="quiet">
                {' '}
                after {last.event === '' ? 'always' : last.event.replace(/^xstate\.(done|error)\.actor\..*$/, '$1')}
                {last.edges[0]?.guard === undefined ? '' : ` [${last.edges[0].guard}]`}
              </span>
            )}
          </span>
        )}
      </div>
      <ChartBody
        actor={actor}
        active={active}
        fired={fired}
        breakpoints={byState}
        chosen={chosen}
        onState={(id) => setChosen((now) => (now === id ? null : id))}
      />
      {state && <StateCard node={state} actor={actor} breakpoints={byState.get(state.id) ?? []} onClose={() => setChosen(null)} />}
    </section>
  );
}

interface BodyProps {
  readonly actor: Actor | undefined;
  readonly active: ReadonlySet<string>;
  readonly fired: ReadonlySet<string>;
  readonly breakpoints: ReadonlyMap<string, readonly Breakpoint[]>;
  readonly chosen: string | null;
  readonly onState: (id: string) => void;
}

function ChartBody({ actor, ...rest }: BodyProps) {
  const inspector = useInspector();
  const { layouts } = inspector;
  const { cameraFollows } = useView();
  const { flow } = inspector;
  if (!actor) return <p className="empty">Choose an actor to see its machine.</p>;
  const graph = actor.machine === null ? undefined : flow.graphs.get(actor.machine);
  if (!graph) return <p className="empty">The machine of this actor has not been described yet.</p>;
  const state = layouts.of(graph, flow.header?.layouts);
  switch (state.kind) {
    case 'ready':
      return (
        <Chart
          key={graph.id}
          graph={graph}
          layout={state.layout}
          follow={cameraFollows}
          setFollow={(on) => inspector.view.patch({ cameraFollows: on })}
          {...rest}
        />
      );
    case 'working':
      return (
        <p className="empty" role="status">
          Laying out {graph.nodes.length} states…
        </p>
      );
    case 'tooLarge':
      return (
        <div className="empty">
          <p>This machine has {state.states} states. Here they are as a list; a drawing of that size takes a while.</p>
          <button type="button" className="button" onClick={() => layouts.want(graph)}>
            Draw it anyway
          </button>
          <StateList nodes={graph.nodes} {...rest} />
        </div>
      );
    case 'failed':
      return (
        <div className="empty">
          <p>The chart could not be laid out ({state.message}). Its states:</p>
          <StateList nodes={graph.nodes} {...rest} />
        </div>
      );
  }
}

function StateList({ nodes, active, onState }: { readonly nodes: readonly MachineNode[] } & Pick<BodyProps, 'active' | 'onState'>) {
  return (
    <ul className="state-list">
      {nodes.map((node) => (
        <li key={node.id}>
          <button
            type="button"
            className="link mono"
            data-state={node.id}
            data-active={active.has(node.id)}
            onClick={() => onState(node.id)}
          >
            {node.id}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** What a state is for, and the breakpoints on entering it. */
function StateCard({
  node,
  actor,
  breakpoints,
  onClose,
}: {
  readonly node: MachineNode;
  readonly actor: Actor | undefined;
  readonly breakpoints: readonly Breakpoint[];
  readonly onClose: () => void;
}) {
  const inspector = useInspector();
  const { canPause, scope, status } = useRemote();
  const may = canPause && scope === 'control' && status === 'live';
  const [alone, setAlone] = useState(false);
  const only = alone ? actor?.id : undefined;
  const has = (when: 'before' | 'after'): boolean => breakpoints.some((one) => one.on === 'state' && one.when === when && one.enabled);
  return (
    <div className="card state-card" role="group" aria-label={`State ${node.id}`}>
      <div className="card-head">
        <b className="mono">{statePath(node.id)}</b>
        <span className="quiet">{node.type}</span>
        <span className="grow" />
        <button type="button" className="tool" onClick={onClose} aria-label="Close">
          <Icon name="close" size={12} />
        </button>
      </div>
      {node.description !== undefined && <p>{node.description}</p>}
      <dl className="facts">
        {node.invokes.length > 0 && <Fact name="runs">{node.invokes.join(', ')}</Fact>}
        {node.entry.length > 0 && <Fact name="on entry">{node.entry.join(', ')}</Fact>}
        {node.exit.length > 0 && <Fact name="on exit">{node.exit.join(', ')}</Fact>}
      </dl>
      <div className="card-foot">
        <button
          type="button"
          className="button small"
          aria-pressed={has('before')}
          disabled={!may}
          onClick={() => toggleStateBreakpoint(inspector, node.id, 'before', only)}
        >
          <span className="break-dot" /> Break before entering
        </button>
        <button
          type="button"
          className="button small"
          aria-pressed={has('after')}
          disabled={!may}
          onClick={() => toggleStateBreakpoint(inspector, node.id, 'after', only)}
        >
          <span className="break-dot" /> after entering
        </button>
        {actor && (
          <label className="check">
            <input type="checkbox" checked={alone} disabled={!may} onChange={(event) => setAlone(event.target.checked)} />
            only in {actorTitle(actor)}
          </label>
        )}
      </div>
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="mono">{children}</dd>
    </>
  );
}

function machineActor(actors: ReadonlyMap<string, Actor>, id: string | null): Actor | undefined {
  for (let at = id === null ? undefined : actors.get(id); at; at = at.parent === null ? undefined : actors.get(at.parent)) {
    if (at.machine !== null) return at;
  }
  return undefined;
}

function stateBreakpoints(breakpoints: readonly Breakpoint[], actor: string | null): ReadonlyMap<string, readonly Breakpoint[]> {
  const out = new Map<string, Breakpoint[]>();
  for (const breakpoint of breakpoints) {
    if (breakpoint.on === 'state' && covers(breakpoint, actor))
      out.set(breakpoint.state, [...(out.get(breakpoint.state) ?? []), breakpoint]);
  }
  return out;
}
