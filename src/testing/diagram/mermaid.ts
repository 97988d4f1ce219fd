import type { MachineGraph } from '../../inspect/protocol/graph.js';
import { toMermaid } from '../../inspect/protocol/mermaid.js';
import type { MachineCoverage } from '../explore/coverage.js';

/** A machine as Mermaid text; with coverage, states are painted, and ✗ stands before transitions that nothing took. */
export function toMermaidWithCoverage(graph: MachineGraph, coverage: MachineCoverage): string {
  const edges = graph.edges.map((edge) => (coverage.transitions[edge.id] === 0 ? { ...edge, label: `✗ ${edge.label}` } : edge));
  const text = toMermaid({ ...graph, edges });
  const names = mermaidNames(graph);
  const painted = graph.nodes.slice(1).flatMap(({ id }) => {
    const times = coverage.states[id];
    return times === undefined ? [] : [`  class ${names.get(id)} ${times > 0 ? 'reached' : 'missed'}`];
  });
  return [text, '  classDef reached fill:#e3f9e5,stroke:#18981d', '  classDef missed fill:#ffe3e3,stroke:#cf1124', ...painted].join('\n');
}

/** The ids that `toMermaid` gives. */
function mermaidNames(graph: MachineGraph): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { id } of graph.nodes) {
    let name = id.replace(/[^A-Za-z0-9_]/g, '_');
    while (taken.has(name)) name += '_';
    taken.add(name);
    names.set(id, name);
  }
  return names;
}
