import type { MachineGraph, MachineNode } from '../protocol/graph.js';
import { toMermaid } from '../protocol/mermaid.js';

/** A machine as a Markdown page: its diagram, and what its states say of themselves. */
export function machinePage(graph: MachineGraph): string {
  const root = graph.nodes[0];
  const told = graph.nodes.filter((node) => node.parent !== null && (node.description || node.invokes.length > 0 || node.tags.length > 0));
  const rows = told.map(
    (node) => `| \`${relativeId(node, root)}\` | ${cell(node.invokes)} | ${cell(node.tags)} | ${escapeCell(node.description ?? '')} |`,
  );
  return [
    `# ${graph.id}`,
    '',
    ...(root?.description ? [root.description, ''] : []),
    `Generated from the machine by \`npm run diagrams\`. ${graph.nodes.length - 1} states, ${new Set(graph.edges.map(({ transition }) => transition)).size} transitions.`,
    '',
    '```mermaid',
    toMermaid(graph),
    '```',
    ...(rows.length > 0 ? ['', '| State | Invokes | Tags | Why |', '|---|---|---|---|', ...rows] : []),
    '',
  ].join('\n');
}

function relativeId(node: MachineNode, root: MachineNode | undefined): string {
  const prefix = `${root?.id}.`;
  return node.id.startsWith(prefix) ? node.id.slice(prefix.length) : node.id;
}
function cell(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}
