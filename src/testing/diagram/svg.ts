import type { MachineEdge, MachineGraph } from '../../inspect/protocol/graph.js';
import type { MachineCoverage } from '../explore/coverage.js';
import { type Box, layoutChart } from './layout.js';

const MARGIN = 24;
const STYLE = `
text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1f2933; }
.title { font-weight: 600; } .small { font-size: 10px; fill: #52606d; }
.state { fill: #ffffff; stroke: #7b8794; } .composite { fill: #f5f7fa; stroke: #9aa5b1; }
.wire { fill: none; stroke: #7b8794; } .label { font-size: 10px; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
.reached.state { fill: #e3f9e5; stroke: #18981d; } .reached.wire { stroke: #18981d; }
.missed.state { fill: #ffe3e3; stroke: #cf1124; } .missed.composite { stroke: #cf1124; }
.missed.wire { stroke: #cf1124; stroke-dasharray: 5 4; } .missed.label { fill: #ab091e; }
`;

/** A machine as an SVG picture; with coverage, what was reached is green and what was not is red and dashed. */
export function toSvg(graph: MachineGraph, coverage?: MachineCoverage): string {
  const { boxes, width, height } = layoutChart(graph);
  const byId = new Map(boxes.map((box) => [box.node.id, box]));
  const states = boxes.map((box) => drawState(box, coverage));
  const bundles = new Map<string, MachineEdge[]>();
  for (const edge of graph.edges) {
    const key = `${edge.source} ${edge.target}`;
    bundles.set(key, [...(bundles.get(key) ?? []), edge]);
  }
  const placed: Area[] = boxes
    .filter(({ node }) => !graph.nodes.some(({ parent }) => parent === node.id))
    .map(({ x, y, width: w, height: h }) => ({ x, y, width: w, height: h }));
  const wires = [...bundles.values()].flatMap((edges) => {
    const [first] = edges;
    const from = byId.get(first?.source ?? '');
    const to = byId.get(first?.target ?? '');
    return from === undefined || to === undefined ? [] : [drawWire(edges, from, to, coverage, placed)];
  });
  const view = `${-MARGIN} ${-MARGIN} ${Math.ceil(width + 2 * MARGIN + 160)} ${Math.ceil(height + 2 * MARGIN)}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${view}" role="img" aria-label="${xml(`State machine ${graph.id}`)}">
<style>${STYLE}</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>
${[...states, ...wires].join('\n')}
</svg>
`;
}

const covered = (times: number | undefined): string => (times === undefined ? '' : times > 0 ? ' reached' : ' missed');

function drawState({ node, x, y, width, height }: Box, coverage: MachineCoverage | undefined): string {
  const leaf = node.type === 'atomic' || node.type === 'final' || node.type === 'history';
  const kind = `${leaf ? 'state' : 'composite'}${covered(coverage?.states[node.id])}`;
  const frame = `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`;
  const final =
    node.type === 'final' ? `<rect class="${kind}" x="${x + 3}" y="${y + 3}" width="${width - 6}" height="${height - 6}" rx="6"/>` : '';
  const title = `<text class="title" x="${x + width / 2}" y="${y + 19}" text-anchor="middle">${xml(node.key)}</text>`;
  const invokes = leaf ? node.invokes : [];
  const lines = invokes.map(
    (name, index) => `<text class="small" x="${x + width / 2}" y="${y + 34 + index * 15}" text-anchor="middle">⟳ ${xml(name)}</text>`,
  );
  const tip = node.description === undefined ? '' : `<title>${xml(node.description)}</title>`;
  return `<g>${tip}${frame}${final}${title}${lines.join('')}</g>`;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** All transitions between the same two states are one wire with a line of text each. Missed as long as one of them is. */
function drawWire(edges: readonly MachineEdge[], from: Box, to: Box, coverage: MachineCoverage | undefined, placed: Area[]): string {
  const wire = route(from, to);
  const { start, end, bend } = wire;
  const labelAt = labelPlace(wire, edges, placed);
  const times = edges.map(({ id }) => coverage?.transitions[id]);
  const kind = covered(times.includes(0) ? 0 : times[0]);
  const path = `<path class="wire${kind}" marker-end="url(#arrow)" d="M${point(start)} C${point(bend[0])} ${point(bend[1])} ${point(end)}"/>`;
  const texts = edges.map((edge, index) => {
    const y = labelAt.y + (index - (edges.length - 1) / 2) * 12;
    const tip = [edge.label, ...edge.actions].join(' / ');
    return `<text class="label${covered(times[index])}" x="${round(labelAt.x)}" y="${round(y)}" text-anchor="middle"><title>${xml(tip)}</title>${xml(edge.label)}</text>`;
  });
  return `<g>${path}${texts.join('')}</g>`;
}

interface Route {
  readonly start: Point;
  readonly end: Point;
  readonly bend: readonly [Point, Point];
}
interface Area extends Point {
  readonly width: number;
  readonly height: number;
}

/** A place on the wire where its lines of text cover neither a state nor other text; the emptiest there is. */
function labelPlace({ start, end, bend }: Route, edges: readonly MachineEdge[], placed: Area[]): Point {
  const width = Math.max(...edges.map(({ label }) => label.length)) * 5.4;
  const height = edges.length * 12;
  const at = (t: number): Point => {
    const mix = (a: number, b: number, c: number, d: number): number =>
      (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * d;
    return { x: mix(start.x, bend[0].x, bend[1].x, end.x), y: mix(start.y, bend[0].y, bend[1].y, end.y) };
  };
  const areaOf = ({ x, y }: Point): Area => ({ x: x - width / 2, y: y - height / 2 - 9, width, height });
  const candidates = [0.4, 0.3, 0.5, 0.22, 0.6, 0.7, 0.78, 0.15, 0.86].flatMap((t) =>
    [0, -14, 14, -28, 28].map((lift) => ({ x: at(t).x, y: at(t).y + lift })),
  );
  const crowd = (point: Point): number => placed.reduce((sum, area) => sum + shared(areaOf(point), area), 0);
  const best = candidates.reduce((a, b) => (crowd(b) < crowd(a) ? b : a));
  placed.push(areaOf(best));
  return best;
}

function shared(a: Area, b: Area): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}

/** Downwards from bottom to top; along a row from side to side; every other way as a bow at the right. */
function route(from: Box, to: Box): Route {
  const middle = (box: Box): number => box.x + box.width / 2;
  if (from.y + from.height <= to.y) {
    const shift = Math.max(-40, Math.min(40, (middle(to) - middle(from)) / 6));
    const start = { x: middle(from) + Math.max(-from.width / 2 + 12, Math.min(from.width / 2 - 12, shift)), y: from.y + from.height };
    const end = { x: middle(to) - Math.max(-to.width / 2 + 12, Math.min(to.width / 2 - 12, shift)), y: to.y };
    const half = (end.y - start.y) / 2;
    const bend = [
      { x: start.x, y: start.y + half },
      { x: end.x, y: end.y - half },
    ] as const;
    return { start, end, bend };
  }
  const isBeside = from.y < to.y + to.height && to.y < from.y + from.height && (from.x + from.width <= to.x || to.x + to.width <= from.x);
  if (isBeside) {
    const right = from.x < to.x;
    const y = Math.max(from.y, to.y) + 14;
    const start = { x: right ? from.x + from.width : from.x, y };
    const end = { x: right ? to.x : to.x + to.width, y };
    return { start, end, bend: [end, start] };
  }
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = { x: to.x + to.width, y: to.y + 16 };
  const out = Math.max(start.x, end.x) + 40;
  const bend = [
    { x: out, y: start.y },
    { x: out, y: end.y },
  ] as const;
  return { start, end, bend };
}

const round = (value: number): number => Math.round(value * 10) / 10;
const point = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;
const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
