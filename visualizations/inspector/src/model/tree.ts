import type { ActorKind } from '../../../../src/inspect/protocol/flowEvents.js';
import { type Actor, agentName, isWithin } from './actors.js';
import type { Flow } from './flow.js';

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
/** From so many children on, only the last ones, the active ones and what is selected are looked at. */
const MANY_CHILDREN = 400;

const foldKey = (parent: string): string => `${parent}#finished`;

const hasTrouble = (actor: Actor): boolean => actor.problems > 0 || actor.status === 'error';

const SHOWN: ReadonlySet<ActorKind> = new Set(['session', 'query', 'turn', 'toolCall', 'task']);

/** Promises and observables behind a machine's ports tell little in a tree; machines, and what a transcript tells of, are what one looks for. */
const isShown = (actor: Actor, showHelpers: boolean): boolean => showHelpers || actor.machine !== null || SHOWN.has(actor.kind);

/** The rows of the actor tree that are not inside something closed. */
export function treeRows(flow: Flow, options: TreeOptions): readonly TreeRow[] {
  const { toggled, selected, showHelpers, seq, filter } = options;
  const rows: TreeRow[] = [];
  const started = (actor: Actor): boolean => seq === null || actor.startSeq <= seq;
  const isActive = (actor: Actor): boolean => (seq === null || actor.endSeq === null ? actor.endSeq === null : actor.endSeq > seq);
  const holdsSelected = (actor: Actor): boolean => isWithin(selected, actor.id);

  /** Children to show; those of a hidden actor move up to the next one that is shown. */
  const childrenOf = (actor: Actor): Actor[] => {
    const out: Actor[] = [];
    for (const id of lookedAt(actor)) {
      const child = flow.actors.get(id);
      if (!child || !started(child)) continue;
      if (isShown(child, showHelpers)) out.push(child);
      else if (child.children.length > 0) out.push(...childrenOf(child));
    }
    return out;
  };

  /** Of many children those that can be rows; the others are only counted. */
  const lookedAt = (actor: Actor): readonly string[] => {
    if (!isLong(actor)) return actor.children;
    const recent = new Set([...(actor.activeChildren ?? []), ...actor.children.slice(-RECENT - 2)]);
    const chosen = selected?.startsWith(`${actor.id}/`) ? selected.slice(actor.id.length + 1).split('/', 1)[0] : undefined;
    if (chosen !== undefined) recent.add(`${actor.id}/${chosen}`);
    return actor.children.length > 0 ? [...recent].filter((id) => flow.actors.get(id)?.parent === actor.id) : [];
  };
  const isLong = (actor: Actor): boolean =>
    seq === null && actor.children.length > MANY_CHILDREN && !(toggled.get(foldKey(actor.id)) ?? false) && !showHelpers;

  const visit = (actor: Actor, depth: number, open: boolean): void => {
    const children = childrenOf(actor);
    const wanted = toggled.get(actor.id) ?? (open || (holdsSelected(actor) && selected !== actor.id));
    const expanded = children.length > 0 && wanted;
    rows.push({ kind: 'actor', actor, depth, hasChildren: children.length > 0, expanded });
    if (!expanded) return;
    const finished = children.filter((child) => !isActive(child) && !holdsSelected(child));
    const folded = new Set(finished.length > RECENT + 1 ? finished.slice(0, -RECENT) : []);
    const key = foldKey(actor.id);
    if (isLong(actor)) {
      // A selected child among the old ones may be out of order here; sorting by start puts it back.
      children.sort((a, b) => a.startSeq - b.startSeq);
      for (const child of finished.slice(0, -RECENT)) folded.add(child);
      const shown = children.filter((child) => !folded.has(child));
      const failedShown = shown.filter((child) => !isActive(child) && hasTrouble(child)).length;
      const endedShown = shown.filter((child) => !isActive(child)).length;
      const failed = actor.troubled - failedShown;
      const done = actor.children.length - (actor.activeChildren?.size ?? 0) - endedShown - failed;
      rows.push({ kind: 'fold', key, parent: actor.id, depth: depth + 1, done, failed, expanded: false });
    } else if (folded.size > 0) {
      const unfolded = toggled.get(key) ?? false;
      const failed = [...folded].filter(hasTrouble).length;
      rows.push({ kind: 'fold', key, parent: actor.id, depth: depth + 1, done: folded.size - failed, failed, expanded: unfolded });
      if (unfolded) folded.clear();
    }
    for (const [index, child] of children.entries()) {
      if (folded.has(child)) continue;
      const isLast = index === children.length - 1;
      // What is below an ordinary call are its checks; a subagent is work of its own.
      const isWork = child.kind !== 'toolCall' || child.calls > 0;
      visit(child, depth + 1, isWork && (isActive(child) || isLast));
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
      return actor.parent === null ? 'session' : `agent ${agentName(actor)}`;
    default:
      return actor.name;
  }
}
