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
  const counts = new Map<string, number>();
  const wires = graph.edges.flatMap((edge) => {
    const from = byId.get(edge.source);
    const to = byId.get(edge.target);
    if (from === undefined || to === undefined) return [];
    const key = [edge.source, edge.target].sort().join(' ');
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    return [drawWire(edge, from, to, nth, coverage)];
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

function drawWire(edge: MachineEdge, from: Box, to: Box, nth: number, coverage: MachineCoverage | undefined): string {
  const { start, end, bend, labelAt } = route(from, to, nth);
  const kind = covered(coverage?.transitions[edge.id]);
  const path = `<path class="wire${kind}" marker-end="url(#arrow)" d="M${point(start)} C${point(bend[0])} ${point(bend[1])} ${point(end)}"/>`;
  const text = `<text class="label${kind}" x="${round(labelAt.x)}" y="${round(labelAt.y)}" text-anchor="middle">${xml(edge.label)}</text>`;
  return `<g><title>${xml([edge.label, ...edge.actions].join(' / '))}</title>${path}${text}</g>`;
}

/** Downwards from bottom to top; every other way as a bow at the right. Wires between the same two boxes fan out. */
function route(
  from: Box,
  to: Box,
  nth: number,
): { readonly start: Point; readonly end: Point; readonly bend: readonly [Point, Point]; readonly labelAt: Point } {
  const fan = nth * 16;
  if (from.y + from.height <= to.y) {
    const start = { x: from.x + from.width / 2 + fan, y: from.y + from.height };
    const end = { x: to.x + to.width / 2 + fan, y: to.y };
    const half = (end.y - start.y) / 2;
    const bend = [
      { x: start.x, y: start.y + half },
      { x: end.x, y: end.y - half },
    ] as const;
    return { start, end, bend, labelAt: { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 + 4 + fan / 2 } };
  }
  const start = { x: from.x + from.width, y: from.y + from.height / 2 + fan / 2 };
  const end = { x: to.x + to.width, y: to.y + 16 + fan / 2 };
  const out = Math.max(start.x, end.x) + 46 + fan;
  return {
    start,
    end,
    bend: [
      { x: out, y: start.y },
      { x: out, y: end.y },
    ],
    labelAt: { x: out - 12, y: (start.y + end.y) / 2 + 4 + fan / 3 },
  };
}

const round = (value: number): number => Math.round(value * 10) / 10;
const point = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;
const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
