import { describe, expect, test } from 'vitest';
import * as machines from '../../machines/index.js';
import { machineGraph } from '../../src/inspect/protocol/graph.js';
import { graphHash, initialId } from '../../visualizations/inspector/src/chart/chartLayout.js';
import { packLayout, unpackLayout } from '../../visualizations/inspector/src/chart/packedLayout.js';
import shipped from '../../visualizations/inspector/src/layouts.json' with { type: 'json' };

describe('the shipped positions', () => {
  const layouts = new Map(Object.entries(shipped));

  test.each(Object.values(machines).map((machine) => [machine.id, machine] as const))(
    'of %s are those of the machine as it is',
    (id, machine) => {
      const graph = machineGraph(machine);
      const packed = layouts.get(id);
      if (!packed) throw new Error(`${id} has no positions. Run: npm run layouts`);
      expect(packed.hash, 'The machine has changed. Run: npm run layouts').toBe(graphHash(graph));
      const layout = unpackLayout(graph, packed);
      const drawn = new Set(layout.boxes.map((box) => box.id));
      for (const node of graph.nodes) {
        expect(drawn).toContain(node.id);
        if (node.initial !== null) expect(drawn).toContain(initialId(node.id));
      }
      const wires = new Map(layout.wires.map((wire) => [wire.id, wire]));
      for (const edge of graph.edges) expect(wires.get(edge.id)?.label, edge.id).toBeDefined();
      expect(packLayout(graph, layout)).toEqual(packed);
    },
  );
});
