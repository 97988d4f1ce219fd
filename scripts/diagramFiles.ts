import { isMachine } from '../src/inspect/actorRefs.js';
import { machinePage } from '../src/inspect/exports/machinePage.js';
import { machineGraph } from '../src/inspect/protocol/graph.js';

/** File name and text of the page of each machine among a module's exports. */
export function diagramFiles(exported: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const graphs = Object.values(exported).filter(isMachine).map(machineGraph);
  return new Map(graphs.map((graph) => [`${graph.id}.md`, machinePage(graph)]));
}
