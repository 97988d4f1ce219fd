import type { MachineGraph } from '../../../../src/inspect/protocol/graph.js';
import { type ChartBox, type ChartLayout, type ChartWire, initialId } from './chartLayout.js';

/**
 * A layout without names: boxes in the order of the graph's states, each followed by the box of its start mark if it has one,
 * and wires in the order of its start marks, then of its edges. A third of the size, since the page has the graph anyway.
 */
export interface PackedLayout {
  readonly hash: string;
  readonly size: readonly number[];
  /** x, y, w, h, depth. */
  readonly boxes: readonly (readonly number[])[];
  /** x and y of each point; empty for a wire that is not drawn. */
  readonly wires: readonly (readonly number[])[];
  /** x, y, w, h; empty for a wire without label. */
  readonly labels: readonly (readonly number[])[];
}

const boxIds = (graph: MachineGraph): readonly string[] =>
  graph.nodes.flatMap((node) => (node.initial === null ? [node.id] : [node.id, initialId(node.id)]));
const wireIds = (graph: MachineGraph): readonly string[] => [
  ...graph.nodes.flatMap((node) => (node.initial === null ? [] : [`${initialId(node.id)}>`])),
  ...graph.edges.map((edge) => edge.id),
];

export function packLayout(graph: MachineGraph, layout: ChartLayout): PackedLayout {
  const boxes = new Map(layout.boxes.map((box) => [box.id, box]));
  const wires = new Map(layout.wires.map((wire) => [wire.id, wire]));
  return {
    hash: layout.hash,
    size: [layout.width, layout.height],
    boxes: boxIds(graph).map((id) => {
      const box = boxes.get(id);
      return box ? [box.x, box.y, box.w, box.h, box.depth] : [];
    }),
    wires: wireIds(graph).map((id) => wires.get(id)?.points.flat() ?? []),
    labels: wireIds(graph).map((id) => {
      const label = wires.get(id)?.label;
      return label ? [label.x, label.y, label.w, label.h] : [];
    }),
  };
}

export function unpackLayout(graph: MachineGraph, packed: PackedLayout): ChartLayout {
  const [width = 0, height = 0] = packed.size;
  const boxes = boxIds(graph).flatMap((id, index): ChartBox[] => {
    const [x, y, w, h, depth] = packed.boxes[index] ?? [];
    return x === undefined || y === undefined || w === undefined || h === undefined || depth === undefined
      ? []
      : [{ id, x, y, w, h, depth }];
  });
  const wires = wireIds(graph).flatMap((id, index): ChartWire[] => {
    const points = pairs(packed.wires[index] ?? []);
    const [x, y, w, h] = packed.labels[index] ?? [];
    if (points.length < 2) return [];
    return [{ id, points, ...(x === undefined || y === undefined || w === undefined || h === undefined ? {} : { label: { x, y, w, h } }) }];
  });
  // Ancestors are painted first, whatever order the graph names them in.
  boxes.sort((a, b) => a.depth - b.depth);
  return { hash: packed.hash, width, height, boxes, wires };
}

function pairs(flat: readonly number[]): (readonly [number, number])[] {
  const out: (readonly [number, number])[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) out.push([flat[i] ?? 0, flat[i + 1] ?? 0]);
  return out;
}
