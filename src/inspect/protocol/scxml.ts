import type { MachineEdge, MachineGraph, MachineNode } from './graph.js';

/** A graph as SCXML text, for tools that draw or check it. Guards are names in `cond`, actions comments: not executable. */
export function toScxml(graph: MachineGraph): string {
  const children = new Map<string, MachineNode[]>();
  for (const node of graph.nodes) if (node.parent !== null) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  const transitions = new Map<string, Map<string, MachineEdge[]>>();
  for (const edge of graph.edges) {
    const ofSource = transitions.get(edge.source) ?? new Map<string, MachineEdge[]>();
    ofSource.set(edge.transition, [...(ofSource.get(edge.transition) ?? []), edge]);
    transitions.set(edge.source, ofSource);
  }
  const root = graph.nodes[0];
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>'];
  const write = (node: MachineNode, depth: number): void => {
    const pad = '  '.repeat(depth);
    const tag = tagOf(node);
    const initial = node.initial === null ? '' : ` initial="${xml(node.initial)}"`;
    const history = node.history ? ` type="${node.history}"` : '';
    lines.push(`${pad}<${tag} id="${xml(node.id)}"${initial}${history}>`);
    for (const edges of transitions.get(node.id)?.values() ?? []) lines.push(`${pad}  ${transitionTag(edges)}`);
    for (const child of children.get(node.id) ?? []) write(child, depth + 1);
    lines.push(`${pad}</${tag}>`);
  };
  lines.push(`<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0"${root ? ` initial="${xml(root.id)}"` : ''}>`);
  if (root) write(root, 1);
  lines.push('</scxml>');
  return lines.join('\n');
}

function tagOf(node: MachineNode): string {
  if (node.type === 'parallel' || node.type === 'final' || node.type === 'history') return node.type;
  return 'state';
}

function transitionTag(edges: readonly MachineEdge[]): string {
  const first = edges[0];
  if (!first) return '';
  const event = first.kind === 'always' ? '' : ` event="${xml(first.event)}"`;
  const guard = first.guard === undefined ? '' : ` cond="${xml(first.guard)}"`;
  const target = first.internal ? '' : ` target="${xml(edges.map((edge) => edge.target).join(' '))}"`;
  // SCXML and XState differ in their default; XState's transitions to a descendant do not leave the source.
  const type = first.internal || first.reenter ? '' : ' type="internal"';
  return `<transition${event}${guard}${target}${type}/>`;
}

function xml(text: string): string {
  const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (char) => escapes[char] ?? char);
}
