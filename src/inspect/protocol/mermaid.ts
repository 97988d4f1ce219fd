import type { MachineEdge, MachineGraph, MachineNode } from './graph.js';

/**
 * A graph as Mermaid `stateDiagram-v2` text. Limits of Mermaid that shape it: ids are `[A-Za-z0-9_]`; the diagram itself cannot be
 * the end of an edge; no edge may join a composite state and a state inside it, so an edge inwards is drawn from each state in there
 * that can take it, and one outwards to the state that would be entered; a parallel root must be wrapped in a composite state;
 * `:`, `;`, `#` and quotes in labels end the statement.
 */
export function toMermaid(graph: MachineGraph, options: { readonly active?: readonly string[] } = {}): string {
  return new MermaidWriter(graph).write(options.active ?? []);
}

class MermaidWriter {
  readonly #nodes: ReadonlyMap<string, MachineNode>;
  readonly #children = new Map<string, MachineNode[]>();
  readonly #names = new Map<string, string>();
  /** Edges by the composite state in whose body they are written: the lowest one around both ends. */
  readonly #edgesIn = new Map<string, { from: string; to: string; edge: MachineEdge }[]>();
  /** States left at once by an eventless transition without guard: no event ever finds a machine there. */
  readonly #passing: ReadonlySet<string>;
  readonly #root: MachineNode | undefined;
  readonly #lines: string[] = ['stateDiagram-v2'];

  constructor(graph: MachineGraph) {
    this.#root = graph.nodes[0];
    this.#nodes = new Map(graph.nodes.map((node) => [node.id, node]));
    this.#passing = new Set(graph.edges.filter(({ kind, guard }) => kind === 'always' && guard === undefined).map(({ source }) => source));
    const taken = new Set<string>();
    for (const node of graph.nodes) {
      if (node.parent !== null) pushTo(this.#children, node.parent, node);
      let name = node.id.replace(/[^A-Za-z0-9_]/g, '_');
      while (taken.has(name)) name += '_';
      taken.add(name);
      this.#names.set(node.id, name);
    }
    for (const edge of graph.edges) {
      for (const from of this.#sources(edge)) {
        const to = this.#entered(from, edge.target);
        pushTo(this.#edgesIn, this.#scope(from, to), { from, to, edge });
      }
    }
  }

  write(active: readonly string[]): string {
    const root = this.#root;
    if (!root) return this.#lines.join('\n');
    if (root.type === 'parallel' || !this.#children.has(root.id)) {
      this.#declare(root, 1);
      this.#writeEdges(root.id, 1, root.type === 'parallel');
    } else this.#body(root, 1);
    const shown = active.filter((id) => this.#names.has(id) && id !== root.id);
    if (shown.length > 0) this.#lines.push('  classDef active fill:#cfc,stroke:#0a0');
    for (const id of shown) this.#lines.push(`  class ${this.#name(id)} active`);
    return this.#lines.join('\n');
  }

  #sources(edge: MachineEdge): string[] {
    if (edge.internal && edge.source === this.#root?.id) return [];
    return this.#outside(edge.source, edge.target);
  }

  /** The states inside `source` from which an edge can be drawn to a target that lies inside it too; else `source` itself. */
  #outside(source: string, target: string): string[] {
    if (!this.#ancestors(target).includes(source)) return [source];
    const children = this.#children.get(source) ?? [];
    // Regions of a parallel state cannot be joined by an edge: it starts in the target's own region.
    const regions =
      this.#nodes.get(source)?.type === 'parallel' ? children.filter(({ id }) => this.#ancestors(target).includes(id)) : children;
    const resting = regions.filter(({ id, type }) => type !== 'final' && type !== 'history' && id !== target && !this.#passing.has(id));
    return resting.flatMap(({ id }) => this.#outside(id, target));
  }

  /** Where an edge to a state around its source leads: to what is entered first in there. */
  #entered(from: string, target: string): string {
    const around = this.#ancestors(from);
    let to = target;
    while (around.includes(to)) {
      const initial = this.#nodes.get(to)?.initial ?? null;
      if (initial === null) return from;
      to = initial;
    }
    return to;
  }

  #ancestors(id: string): string[] {
    const line: string[] = [];
    for (let at = this.#nodes.get(id)?.parent ?? null; at !== null; at = this.#nodes.get(at)?.parent ?? null) line.push(at);
    return line;
  }

  #scope(from: string, to: string): string {
    const around = new Set(this.#ancestors(from));
    return this.#ancestors(to).find((id) => around.has(id)) ?? this.#root?.id ?? '';
  }

  #body(node: MachineNode, depth: number): void {
    const pad = '  '.repeat(depth);
    if (node.initial !== null) this.#lines.push(`${pad}[*] --> ${this.#name(node.initial)}`);
    for (const [index, child] of (this.#children.get(node.id) ?? []).entries()) {
      if (node.type === 'parallel' && index > 0) this.#lines.push(`${pad}--`);
      this.#declare(child, depth);
    }
    if (node.id !== this.#root?.id || node.type !== 'parallel') this.#writeEdges(node.id, depth, false);
  }

  #declare(node: MachineNode, depth: number): void {
    const pad = '  '.repeat(depth);
    const name = this.#name(node.id);
    const title = node.invokes.length > 0 ? `${node.key} ⟳ ${node.invokes.join(', ')}` : node.type === 'history' ? 'H' : node.key;
    if (this.#children.has(node.id)) {
      this.#lines.push(`${pad}state "${escapeLabel(title)}" as ${name} {`);
      this.#body(node, depth + 1);
      this.#lines.push(`${pad}}`);
    } else this.#lines.push(`${pad}state "${escapeLabel(title)}" as ${name}`);
    if (node.type === 'final') this.#lines.push(`${pad}${name} --> [*]`);
  }

  #writeEdges(scope: string, depth: number, parallelRoot: boolean): void {
    // Inside a parallel state a bare statement would belong to the last region; its edges go after it, at the top.
    const pad = '  '.repeat(parallelRoot ? 1 : depth);
    for (const { from, to, edge } of this.#edgesIn.get(scope) ?? []) {
      const actions = edge.actions.length > 0 ? ` / ${edge.actions.join(', ')}` : '';
      this.#lines.push(`${pad}${this.#name(from)} --> ${this.#name(to)} : ${escapeLabel(edge.label + actions)}`);
    }
  }

  #name(id: string): string {
    return this.#names.get(id) ?? id;
  }
}

function escapeLabel(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replace(/[#;:"]/g, (char) => ({ '#': '#35;', ';': '#59;', ':': '#colon;' })[char] ?? '#quot;');
}

function pushTo<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
