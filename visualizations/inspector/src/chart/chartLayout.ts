import type { MachineEdge, MachineGraph, MachineNode } from '../../../../src/inspect/protocol/graph.js';

/** Positions of a machine's states and wires. What the page ships, caches and draws; plain JSON. */
export interface ChartLayout {
  /** Hash of the graph it was made for; positions of another shape are not used. */
  readonly hash: string;
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly ChartBox[];
  readonly wires: readonly ChartWire[];
}
export interface ChartBox {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly depth: number;
}
export interface ChartWire {
  /** Id of the edge; `initial:<state>` for the arrow into a first state. */
  readonly id: string;
  readonly points: readonly (readonly [number, number])[];
  readonly label?: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

const STATE_FONT = 12;
const LABEL_FONT = 11;
export const LABEL_LINE = 14;
const TITLE_HEIGHT = 26;
/** Widest label line in characters; a longer one is cut and its whole text is in the tooltip. */
const LABEL_CHARS = 32;
/** Advance of the widest common monospace fonts, in ems. A narrower font leaves air, never an overlap. */
const MONO_ADVANCE = 0.605;
const INITIAL = 9;

export const initialId = (state: string): string => `initial:${state}`;

/** What stands on a wire: the event, then its guard on a line of its own. A dotted wire says `always` by itself. */
export function labelLines(edge: Pick<MachineEdge, 'label' | 'kind' | 'guard'>): readonly string[] {
  const cut = (text: string): string => (text.length > LABEL_CHARS ? `${text.slice(0, LABEL_CHARS - 1)}…` : text);
  if (edge.guard === undefined) return [cut(edge.label)];
  const guard = cut(`[${edge.guard}]`);
  const event = edge.label.slice(0, Math.max(0, edge.label.length - edge.guard.length - 3));
  return edge.kind === 'always' || event === '' ? [guard] : [cut(event), guard];
}
const labelWidth = (lines: readonly string[]): number =>
  Math.ceil(Math.max(...lines.map((line) => line.length)) * LABEL_FONT * MONO_ADVANCE) + 8;
const stateWidth = (key: string): number => Math.ceil(key.length * STATE_FONT * 0.66) + 26;

/** FNV-1a over everything that bears on positions. */
export function graphHash(graph: MachineGraph): string {
  let hash = 0x811c9dc5;
  const add = (text: string): void => {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0x1f, 0x01000193);
  };
  for (const node of graph.nodes) add(`${node.id}|${node.parent}|${node.type}|${node.initial}`);
  for (const edge of graph.edges) add(`${edge.id}|${edge.source}|${edge.target}|${edge.label}`);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

export type Direction = 'DOWN' | 'RIGHT';

interface ElkLabel {
  text: string;
  width: number;
  height: number;
}
export interface ElkInputNode {
  id: string;
  width?: number;
  height?: number;
  children?: ElkInputNode[];
  edges?: { id: string; sources: string[]; targets: string[]; labels?: ElkLabel[] }[];
  layoutOptions?: Record<string, string>;
}
interface ElkPoint {
  x: number;
  y: number;
}
export interface ElkOutputNode {
  id: string;
  x?: number;
  y?: number;
  width?: number;
  height?: number;
  children?: ElkOutputNode[];
  edges?: {
    id: string;
    sections?: { startPoint: ElkPoint; endPoint: ElkPoint; bendPoints?: ElkPoint[] }[];
    labels?: { x?: number; y?: number; width?: number; height?: number }[];
  }[];
}

const LAYOUT_OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.feedbackEdges': 'true',
  // Labels beside the state they leave, and one trunk where many edges lead to one state.
  'elk.layered.edgeLabels.centerLabelPlacementStrategy': 'TAIL_LAYER',
  'elk.layered.mergeEdges': 'true',
  'elk.layered.mergeHierarchyEdges': 'true',
  'elk.spacing.nodeNode': '24',
  'elk.layered.spacing.nodeNodeBetweenLayers': '24',
  'elk.spacing.edgeNode': '14',
  'elk.spacing.edgeEdge': '10',
  'elk.spacing.edgeLabel': '3',
  'elk.spacing.labelLabel': '4',
};

/** A machine as the layout engine wants it: nested boxes of measured size, edges with measured labels. */
export function elkInput(graph: MachineGraph, direction: Direction): ElkInputNode {
  const childrenOf = new Map<string | null, MachineNode[]>();
  for (const node of graph.nodes) childrenOf.set(node.parent, [...(childrenOf.get(node.parent) ?? []), node]);
  // Every level gets them: the engine does not pass spacing and label placement down.
  const options = { ...LAYOUT_OPTIONS, 'elk.direction': direction };
  const box = (node: MachineNode): ElkInputNode => {
    const inner = (childrenOf.get(node.id) ?? []).map(box);
    if (inner.length === 0) return { id: node.id, width: Math.max(64, stateWidth(node.key)), height: 28 };
    if (node.initial !== null) inner.unshift({ id: initialId(node.id), width: INITIAL, height: INITIAL });
    return {
      id: node.id,
      children: inner,
      layoutOptions: {
        ...options,
        'elk.padding': `[top=${TITLE_HEIGHT + 8},left=14,bottom=14,right=14]`,
        'elk.nodeSize.constraints': 'MINIMUM_SIZE',
        'elk.nodeSize.minimum': `(${stateWidth(node.key) + 16},${TITLE_HEIGHT + 20})`,
      },
    };
  };
  const wires = graph.edges.map((edge) => {
    const lines = labelLines(edge);
    const label = { text: lines.join(' '), width: labelWidth(lines), height: lines.length * LABEL_LINE + 2 };
    return { id: edge.id, sources: [edge.source], targets: [edge.target], labels: [label] };
  });
  const starts = graph.nodes.flatMap((node) =>
    node.initial === null ? [] : [{ id: `${initialId(node.id)}>`, sources: [initialId(node.id)], targets: [node.initial] }],
  );
  return {
    id: '(chart)',
    children: (childrenOf.get(null) ?? []).map(box),
    edges: [...starts, ...wires],
    layoutOptions: {
      ...options,
      // On the outermost level only: the engine throws when nested levels have it.
      'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
      'elk.padding': '[top=8,left=8,bottom=8,right=8]',
    },
  };
}

export function layoutOf(graph: MachineGraph, out: ElkOutputNode): ChartLayout {
  const boxes: ChartBox[] = [];
  const walk = (node: ElkOutputNode, depth: number): void => {
    for (const child of node.children ?? []) {
      boxes.push({ id: child.id, x: round(child.x), y: round(child.y), w: round(child.width), h: round(child.height), depth });
      walk(child, depth + 1);
    }
  };
  walk(out, 0);
  const labelled = new Set(graph.edges.map((edge) => edge.id));
  const wires = (out.edges ?? []).flatMap((edge): ChartWire[] => {
    const section = edge.sections?.[0];
    if (!section) return [];
    const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map(({ x, y }) => [round(x), round(y)] as const);
    const label = labelled.has(edge.id) ? edge.labels?.[0] : undefined;
    return [
      {
        id: edge.id,
        points,
        ...(label ? { label: { x: round(label.x), y: round(label.y), w: round(label.width), h: round(label.height) } } : {}),
      },
    ];
  });
  return { hash: graphHash(graph), width: round(out.width), height: round(out.height), boxes, wires };
}

const round = (value: number | undefined): number => Math.round(value ?? 0);
