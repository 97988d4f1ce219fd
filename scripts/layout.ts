/**
 * Writes the positions of the library's own machines, so that the inspector page draws them without a layout engine.
 * Run it when a machine changes: `npx tsx scripts/layout.ts`. A test fails when the committed file is stale.
 */
import { writeFileSync } from 'node:fs';
import ELK from 'elkjs';
import * as machines from '../machines/index.js';
import { machineGraph } from '../src/inspect/protocol/graph.js';
import { type ChartLayout, type Direction, elkInput, layoutOf } from '../visualizations/inspector/src/chart/chartLayout.js';
import { type PackedLayout, packLayout } from '../visualizations/inspector/src/chart/packedLayout.js';

/** Shape of the pane that most people see a chart in: width to height. */
const PANE_RATIO = 1.9;

const elk = new ELK.default();
const layouts: Record<string, PackedLayout> = {};
for (const machine of Object.values(machines)) {
  const graph = machineGraph(machine);
  const tried: ChartLayout[] = [];
  for (const direction of ['DOWN', 'RIGHT'] satisfies Direction[]) {
    tried.push(layoutOf(graph, await elk.layout(elkInput(graph, direction))));
  }
  // The one of which more is seen at once at 100 %.
  tried.sort((a, b) => shown(b) - shown(a));
  const [best] = tried;
  if (best) layouts[graph.id] = packLayout(graph, best);
}

const file = new URL('../visualizations/inspector/src/layouts.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(layouts)}\n`);

/** Scale at which the whole chart fits a pane of this ratio. */
function shown({ width, height }: ChartLayout): number {
  return Math.min((PANE_RATIO * 400) / width, 400 / height);
}
