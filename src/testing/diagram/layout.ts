import type { MachineGraph, MachineNode } from '../../inspect/protocol/graph.js';

export interface Box {
  readonly node: MachineNode;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly depth: number;
}
export interface ChartBoxes {
  /** Parents before their children. */
  readonly boxes: readonly Box[];
  readonly width: number;
  readonly height: number;
}

const CHAR = 7;
const HEADER = 30;
const LINE = 15;
const PAD = 18;
/** Room for the labels of the wires between two boxes. */
const GAP_X = 120;
const GAP_Y = 84;

interface Sized {
  readonly node: MachineNode;
  readonly width: number;
  readonly height: number;
  /** Children with their places inside. */
  readonly inside: readonly { readonly sized: Sized; readonly x: number; readonly y: number }[];
}

/** Places the states of a machine: children in rows by their distance from the first state, each composite as large as they need. */
export function layoutChart(graph: MachineGraph): ChartBoxes {
  const root = graph.nodes[0];
  if (root === undefined) return { boxes: [], width: 0, height: 0 };
  const children = new Map<string, MachineNode[]>();
  for (const node of graph.nodes) if (node.parent !== null) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  const sized = size(root, children, graph);
  const boxes: Box[] = [];
  const place = ({ node, width, height, inside }: Sized, x: number, y: number, depth: number): void => {
    boxes.push({ node, x, y, width, height, depth });
    for (const child of inside) place(child.sized, x + child.x, y + child.y, depth + 1);
  };
  place(sized, 0, 0, 0);
  return { boxes, width: sized.width, height: sized.height };
}

function size(node: MachineNode, children: ReadonlyMap<string, readonly MachineNode[]>, graph: MachineGraph): Sized {
  const own = children.get(node.id) ?? [];
  const title = Math.max(node.key.length, ...node.invokes.map((name) => name.length + 2)) * CHAR + 2 * PAD;
  if (own.length === 0) return { node, width: Math.max(90, title), height: HEADER + node.invokes.length * LINE, inside: [] };
  const rows = rowsOf(node, own, children, graph).map((row) => row.map((child) => size(child, children, graph)));
  const widths = rows.map((row) => row.reduce((sum, { width }) => sum + width + GAP_X, -GAP_X));
  const width = Math.max(title, ...widths) + 2 * PAD;
  const inside: { sized: Sized; x: number; y: number }[] = [];
  let y = HEADER + PAD;
  for (const [index, row] of rows.entries()) {
    let x = (width - (widths[index] ?? 0)) / 2;
    for (const sized of row) {
      inside.push({ sized, x, y });
      x += sized.width + GAP_X;
    }
    y += Math.max(...row.map(({ height }) => height)) + GAP_Y;
  }
  return { node, width, height: y - GAP_Y + PAD, inside };
}

/** Children by their distance, in transitions, from the one that is entered first. */
function rowsOf(
  node: MachineNode,
  own: readonly MachineNode[],
  children: ReadonlyMap<string, readonly MachineNode[]>,
  graph: MachineGraph,
): readonly (readonly MachineNode[])[] {
  if (node.type === 'parallel') return [own];
  const home = new Map<string, string>();
  const claim = (id: string, under: string): void => {
    home.set(id, under);
    for (const child of children.get(id) ?? []) claim(child.id, under);
  };
  for (const child of own) claim(child.id, child.id);
  const distance = new Map<string, number>();
  const first = own.find(({ id }) => node.initial !== null && home.get(node.initial) === id) ?? own[0];
  const queue = first === undefined ? [] : [first.id];
  if (first !== undefined) distance.set(first.id, 0);
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const { source, target } of graph.edges) {
      const to = home.get(target);
      if (home.get(source) !== at || to === undefined || distance.has(to)) continue;
      distance.set(to, (distance.get(at) ?? 0) + 1);
      queue.push(to);
    }
  }
  // What no transition of a sibling reaches stands with the first; the ends stand below everything.
  const rowOf = ({ id, type }: MachineNode): number => (type === 'final' ? own.length : (distance.get(id) ?? 0));
  const numbers = [...new Set(own.map(rowOf))].sort((a, b) => a - b);
  return numbers.map((number) => own.filter((child) => rowOf(child) === number));
}
