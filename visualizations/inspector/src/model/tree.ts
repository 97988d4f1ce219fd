import type { Actor, Flow } from './flow.js';

export type TreeRow =
  | { readonly kind: 'actor'; readonly actor: Actor; readonly depth: number; readonly hasChildren: boolean; readonly expanded: boolean }
  | {
      readonly kind: 'fold';
      readonly key: string;
      readonly parent: string;
      readonly depth: number;
      readonly done: number;
      readonly failed: number;
      readonly expanded: boolean;
    };

export interface TreeOptions {
  /** What a person has opened or closed, by actor id or fold key. */
  readonly toggled: ReadonlyMap<string, boolean>;
  /** Is never folded away, nor is anything above it. */
  readonly selected: string | null;
  readonly showHelpers: boolean;
  /** Only what had started by then; null is now. */
  readonly seq: number | null;
  readonly filter: string;
}

/** Finished children that stay in view below their parent. */
const RECENT = 3;

export const foldKey = (parent: string): string => `${parent}#finished`;

/** Promises and observables behind a machine's ports tell little in a tree; machines and tasks are what one looks for. */
const isShown = (actor: Actor, showHelpers: boolean): boolean => showHelpers || actor.machine !== null || actor.kind === 'task';

/** The rows of the actor tree that are not inside something closed. */
export function treeRows(flow: Flow, options: TreeOptions): readonly TreeRow[] {
  const { toggled, selected, showHelpers, seq, filter } = options;
  const rows: TreeRow[] = [];
  const started = (actor: Actor): boolean => seq === null || actor.startSeq <= seq;
  const isActive = (actor: Actor): boolean => (seq === null || actor.endSeq === null ? actor.endSeq === null : actor.endSeq > seq);
  const holdsSelected = (actor: Actor): boolean => selected !== null && (selected === actor.id || selected.startsWith(`${actor.id}/`));

  /** Children to show; those of a hidden actor move up to the next one that is shown. */
  const childrenOf = (actor: Actor): Actor[] => {
    const out: Actor[] = [];
    for (const id of actor.children) {
      const child = flow.actors.get(id);
      if (!child || !started(child)) continue;
      if (isShown(child, showHelpers)) out.push(child);
      else if (child.children.length > 0) out.push(...childrenOf(child));
    }
    return out;
  };

  const visit = (actor: Actor, depth: number, open: boolean): void => {
    const children = childrenOf(actor);
    const wanted = toggled.get(actor.id) ?? (open || (holdsSelected(actor) && selected !== actor.id));
    const expanded = children.length > 0 && wanted;
    rows.push({ kind: 'actor', actor, depth, hasChildren: children.length > 0, expanded });
    if (!expanded) return;
    const finished = children.filter((child) => !isActive(child) && !holdsSelected(child));
    const folded = new Set(finished.length > RECENT + 1 ? finished.slice(0, -RECENT) : []);
    if (folded.size > 0) {
      const key = foldKey(actor.id);
      const unfolded = toggled.get(key) ?? false;
      const failed = [...folded].filter((child) => child.problems > 0 || child.status === 'error').length;
      rows.push({ kind: 'fold', key, parent: actor.id, depth: depth + 1, done: folded.size - failed, failed, expanded: unfolded });
      if (unfolded) folded.clear();
    }
    for (const [index, child] of children.entries()) {
      if (folded.has(child)) continue;
      const isLast = index === children.length - 1;
      visit(child, depth + 1, child.kind !== 'toolCall' && (isActive(child) || isLast));
    }
  };

  if (filter !== '') return matching(flow, filter.toLowerCase(), started);
  for (const id of flow.roots) {
    const root = flow.actors.get(id);
    if (root && started(root)) visit(root, 0, true);
  }
  return rows;
}

const MOST_MATCHES = 2000;

function matching(flow: Flow, filter: string, started: (actor: Actor) => boolean): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  for (const actor of flow.actors.values()) {
    if (!started(actor) || !`${actorTitle(actor)} ${actor.label}`.toLowerCase().includes(filter)) continue;
    rows.push({ kind: 'actor', actor, depth: 0, hasChildren: false, expanded: false });
    if (rows.length === MOST_MATCHES) break;
  }
  return rows;
}

/** What an actor is called in the tree. */
export function actorTitle(actor: Actor): string {
  switch (actor.kind) {
    case 'query':
    case 'turn':
      return `${actor.kind} ${actor.ordinal}`;
    case 'session':
      return actor.parent === null ? 'session' : actor.name;
    default:
      return actor.name;
  }
}
