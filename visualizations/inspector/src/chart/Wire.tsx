import type { MachineEdge } from '../../../../src/inspect/protocol/graph.js';
import { type ChartWire, LABEL_LINE, labelLines } from './chartLayout.js';

const CORNER = 5;

/** A path through the points with rounded corners. */
function wirePath(points: ChartWire['points']): string {
  let path = '';
  for (const [index, [x, y]] of points.entries()) {
    const before = points[index - 1];
    const after = points[index + 1];
    if (!before || !after) {
      path += `${index === 0 ? 'M' : 'L'}${x} ${y}`;
      continue;
    }
    const near = (to: readonly [number, number]): string => {
      const length = Math.hypot(to[0] - x, to[1] - y);
      const part = length === 0 ? 0 : Math.min(CORNER, length / 2) / length;
      return `${x + (to[0] - x) * part} ${y + (to[1] - y) * part}`;
    };
    path += `L${near(before)}Q${x} ${y} ${near(after)}`;
  }
  return path;
}

export function WireLine({ wire, edge, on }: { readonly wire: ChartWire; readonly edge: MachineEdge | undefined; readonly on: boolean }) {
  return (
    <g className={`wire ${edge?.kind ?? 'initial'}${on ? ' on' : ''}`} data-wire={wire.id}>
      <path d={wirePath(wire.points)} markerEnd={on ? 'url(#head-on)' : 'url(#head)'} />
    </g>
  );
}

/** What stands on a wire: its event and guard; all of it in the tooltip. */
export function WireLabel({ wire, edge, on }: { readonly wire: ChartWire; readonly edge: MachineEdge; readonly on: boolean }) {
  const { label } = wire;
  if (!label) return null;
  const lines = labelLines(edge);
  const about = [edge.label, edge.actions.length > 0 ? `does ${edge.actions.join(', ')}` : '', edge.description ?? '']
    .filter(Boolean)
    .join('\n');
  return (
    <g className={`label${on ? ' on' : ''}`} data-label={wire.id}>
      <title>{about}</title>
      <rect x={label.x} y={label.y} width={label.w} height={label.h} rx={3} />
      {lines.map((line, index) => (
        <text
          key={line}
          className={line.startsWith('[') ? 'guard' : ''}
          x={label.x + label.w / 2}
          y={label.y + 11 + index * LABEL_LINE}
          textAnchor="middle"
        >
          {line}
        </text>
      ))}
    </g>
  );
}
