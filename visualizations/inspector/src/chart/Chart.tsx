import { memo, useMemo, useState } from 'react';
import type { MachineGraph, MachineNode } from '../../../../src/inspect/protocol/graph.js';
import type { Breakpoint } from '../../../../src/inspect/protocol/rpc.js';
import { stateKey } from '../ui/format.js';
import { useSize } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';
import { inView, useCamera } from './camera.js';
import type { ChartBox, ChartLayout } from './chartLayout.js';
import { WireLabel, WireLine } from './Wire.js';

export interface ChartProps {
  readonly graph: MachineGraph;
  readonly layout: ChartLayout;
  /** Ids of all active states. */
  readonly active: ReadonlySet<string>;
  /** Ids of the edges of the last transition. */
  readonly fired: ReadonlySet<string>;
  readonly breakpoints: ReadonlyMap<string, readonly Breakpoint[]>;
  readonly chosen: string | null;
  readonly onState: (state: string) => void;
  readonly follow: boolean;
  readonly setFollow: (on: boolean) => void;
}

/** A machine as a statechart. States are focusable; the camera holds still while what is active stays in view. */
export function Chart({ graph, layout, active, fired, breakpoints, chosen, onState, follow, setFollow }: ChartProps) {
  const [pane, setPane] = useState<HTMLDivElement | null>(null);
  const size = useSize(pane);
  const nodes = useMemo(() => new Map(graph.nodes.map((node) => [node.id, node])), [graph]);
  const parents = useMemo(() => new Set(graph.nodes.map((node) => node.parent)), [graph]);
  const boxes = useMemo(() => layout.boxes.filter((box) => nodes.has(box.id)), [layout, nodes]);
  const activeLeaves = boxes.filter((box) => active.has(box.id) && !parents.has(box.id));
  const { camera, zoom, fit, actualSize, center, setElement } = useCamera(layout, size, activeLeaves, follow, setFollow);
  const away = size.width > 0 ? activeLeaves.filter((box) => !inView(camera, size, box)) : [];
  const names = [...active].filter((id) => !parents.has(id)).map(stateKey);
  const { width, height } = { width: size.width / camera.scale, height: size.height / camera.scale };

  return (
    <div className="chart-pane" ref={setPane}>
      <div className="chart-tools" role="toolbar" aria-label="Chart view">
        <button type="button" className="tool" onClick={() => zoom(1 / 1.25)} data-key="-" aria-label="Zoom out" title="Zoom out  −">
          <Icon name="minus" />
        </button>
        <button
          type="button"
          className="tool scale"
          onClick={actualSize}
          title="Actual size  0"
          data-key="0"
          aria-label={`${Math.round(camera.scale * 100)} %, to actual size`}
        >
          {Math.round(camera.scale * 100)} %
        </button>
        <button type="button" className="tool" onClick={() => zoom(1.25)} data-key="+" aria-label="Zoom in" title="Zoom in  +">
          <Icon name="plus" />
        </button>
        <button type="button" className="tool" onClick={fit} aria-label="Fit the whole chart" title="Fit the whole chart">
          <Icon name="fit" />
        </button>
        <button
          type="button"
          className="tool"
          aria-pressed={follow}
          onClick={() => setFollow(!follow)}
          aria-label="Camera follows the active state"
          title="Camera follows the active state  f"
        >
          <Icon name="target" />
        </button>
      </div>
      <div className="chart-canvas" ref={setElement}>
        <svg
          className="chart"
          role="group"
          aria-label={`Statechart of ${graph.id}. Active: ${names.join(', ') || 'none'}.`}
          data-chart={graph.id}
          viewBox={`${camera.x} ${camera.y} ${Math.max(1, width)} ${Math.max(1, height)}`}
          data-camera={`${Math.round(camera.x)},${Math.round(camera.y)},${camera.scale.toFixed(2)}`}
        >
          <Drawing
            graph={graph}
            layout={layout}
            nodes={nodes}
            parents={parents}
            active={active}
            fired={fired}
            breakpoints={breakpoints}
            chosen={chosen}
            onState={onState}
          />
        </svg>
      </div>
      {away.slice(0, 3).map((box) => (
        <RimArrow key={box.id} box={box} camera={camera} size={size} onClick={() => center(box)} />
      ))}
    </div>
  );
}

interface DrawingProps extends Pick<ChartProps, 'graph' | 'layout' | 'active' | 'fired' | 'breakpoints' | 'chosen' | 'onState'> {
  readonly nodes: ReadonlyMap<string, MachineNode>;
  readonly parents: ReadonlySet<string | null>;
}

/** Compound states, then wires, then leaves and labels, so that nothing to be read is painted over. */
const Drawing = memo(function Drawing({ graph, layout, nodes, parents, active, fired, breakpoints, chosen, onState }: DrawingProps) {
  const edges = useMemo(() => new Map(graph.edges.map((edge) => [edge.id, edge])), [graph]);
  const wires = [...layout.wires].sort((a, b) => Number(fired.has(a.id)) - Number(fired.has(b.id)));
  const stateOf = (box: ChartBox) => {
    const node = nodes.get(box.id);
    return node ? (
      <State
        key={box.id}
        box={box}
        node={node}
        compound={parents.has(node.id)}
        active={active.has(node.id)}
        chosen={chosen === node.id}
        breakpoints={breakpoints.get(node.id) ?? NONE}
        onState={onState}
      />
    ) : (
      <circle key={box.id} className="start" cx={box.x + box.w / 2} cy={box.y + box.h / 2} r={4} />
    );
  };
  return (
    <>
      <defs>
        <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6.5" markerHeight="6.5" orient="auto">
          <path d="M0 .8 8 4 0 7.2z" className="head" />
        </marker>
        <marker id="head-on" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="4.6" markerHeight="4.6" orient="auto">
          <path d="M0 .8 8 4 0 7.2z" className="head on" />
        </marker>
      </defs>
      {layout.boxes.filter((box) => parents.has(box.id)).map(stateOf)}
      {wires.map((wire) => (
        <WireLine key={wire.id} wire={wire} edge={edges.get(wire.id)} on={fired.has(wire.id)} />
      ))}
      {layout.boxes.filter((box) => !parents.has(box.id)).map(stateOf)}
      {wires.map((wire) => {
        const edge = edges.get(wire.id);
        return edge && wire.label ? <WireLabel key={wire.id} wire={wire} edge={edge} on={fired.has(wire.id)} /> : null;
      })}
    </>
  );
});
const NONE: readonly Breakpoint[] = [];

interface StateProps {
  readonly box: ChartBox;
  readonly node: MachineNode;
  readonly compound: boolean;
  readonly active: boolean;
  readonly chosen: boolean;
  readonly breakpoints: readonly Breakpoint[];
  readonly onState: (state: string) => void;
}

function State({ box, node, compound, active, chosen, breakpoints, onState }: StateProps) {
  const { x, y, w, h } = box;
  const on = breakpoints.some((breakpoint) => breakpoint.enabled);
  const kind = compound ? (node.type === 'parallel' ? 'compound parallel' : 'compound') : node.type === 'final' ? 'leaf final' : 'leaf';
  const label = [node.id, active ? 'active' : '', breakpoints.length > 0 ? 'breakpoint set' : ''].filter(Boolean).join(', ');
  const title = node.key === '' ? node.id : node.key;
  return (
    <g
      className={`state ${kind}${active ? ' active' : ''}${chosen ? ' chosen' : ''} depth-${Math.min(box.depth, 3)}`}
      data-state={node.id}
      data-active={active}
      role="button"
      tabIndex={0}
      aria-pressed={breakpoints.length > 0}
      aria-label={label}
      onClick={() => onState(node.id)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onState(node.id);
      }}
    >
      <rect className="box" x={x} y={y} width={w} height={h} rx={compound ? 8 : 6} />
      {node.type === 'final' && <rect className="inner" x={x + 2.5} y={y + 2.5} width={w - 5} height={h - 5} rx={4} />}
      {compound ? (
        <text x={x + 12} y={y + 18}>
          {title}
        </text>
      ) : (
        <text x={x + w / 2} y={y + h / 2 + 4} textAnchor="middle">
          {title}
        </text>
      )}
      {breakpoints.length > 0 && <circle className={on ? 'break' : 'break off'} cx={x + 1} cy={y + (compound ? 14 : h / 2)} r={5} />}
    </g>
  );
}

/** Points from the edge of the pane to an active state that is out of view. */
function RimArrow({
  box,
  camera,
  size,
  onClick,
}: {
  readonly box: ChartBox;
  readonly camera: { readonly x: number; readonly y: number; readonly scale: number };
  readonly size: { readonly width: number; readonly height: number };
  readonly onClick: () => void;
}) {
  const x = (box.x + box.w / 2 - camera.x) * camera.scale;
  const y = (box.y + box.h / 2 - camera.y) * camera.scale;
  const [left, top] = [Math.max(60, Math.min(size.width - 60, x)), Math.max(18, Math.min(size.height - 18, y))];
  const angle = (Math.atan2(y - top, x - left) * 180) / Math.PI;
  return (
    <button type="button" className="rim" style={{ left, top }} onClick={onClick} aria-label={`Show the active state ${stateKey(box.id)}`}>
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true" style={{ transform: `rotate(${angle}deg)` }}>
        <path d="M1 1.5 9 5 1 8.5z" />
      </svg>
      {stateKey(box.id)}
    </button>
  );
}
