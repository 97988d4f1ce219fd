import { AnswerNames } from './answerName.js';
import { blocksOf, isClientToolUse, isContentBlock, isToolResult, textField } from './blocks.js';
import { discardedEntries } from './discarded.js';
import { answerNameOf, type ChainEntry, type SystemEntry, type TranscriptLine } from './entries.js';
import { type Piece, tellCallsApart } from './reusedIds.js';

/** One conversation out of a transcript: the path from its root to its newest entry, with what a linear walk would lose. */
export interface Branch {
  readonly entries: readonly ChainEntry[];
  /** Entries whose parent is not in the file; they follow the line before them instead. */
  readonly relinked: readonly string[];
  /** Entries with calls under an id that an earlier call had; here they, and their results, have ids of their own. */
  readonly renamed: readonly string[];
  /** The ids of all calls in the file, other branches and what was compacted included. */
  readonly callIds: ReadonlySet<string>;
  /** The entry that the next one follows. Not always the last of `entries`: what a compaction preserved stands behind its summary. */
  readonly tip: string | undefined;
}

interface Node {
  readonly uuid: string;
  readonly position: number;
  readonly parent: string | undefined;
  /** Undefined for entries that only link (progress and whatever else another version writes). */
  readonly entry: ChainEntry | undefined;
}

/**
 * Selects the current conversation: the last user or assistant line leads back along `parentUuid`. A walk alone loses parallel siblings,
 * so every line of a kept answer and every result of a kept call comes back, in the order of the file. A compaction boundary is a root;
 * what it preserved is spliced in where it says. Source: claude-agent-sdk-python, `sessions.py`; Claude Code changelog (parallel results on resume).
 */
export function selectBranch(lines: readonly TranscriptLine[], sidechain = false): Branch {
  const relinked: string[] = [];
  const { nodes, ...calls } = separateCalls(indexNodes(lines, sidechain, relinked));
  const leaf = findLeaf(nodes);
  if (leaf === undefined) return { entries: [], relinked, ...calls, tip: undefined };
  const path = walk(nodes, leaf);
  for (const node of trailing(nodes, leaf)) path.set(node.uuid, node);
  const entries = conversation(nodes, path, new Set()).flatMap((node) => node.entry ?? []);
  return { entries, relinked, ...calls, tip: [...path.keys()].at(-1) };
}

/** The subagents' conversations that share the file, each under its root's uuid. */
export function selectSidechains(lines: readonly TranscriptLine[]): { readonly root: string; readonly entries: readonly ChainEntry[] }[] {
  const roots = new Map<string, string>();
  const groups = new Map<string, TranscriptLine[]>();
  for (const line of lines) {
    if (line.kind !== 'chain' || line.entry.isSidechain !== true) continue;
    const { uuid, parentUuid } = line.entry;
    const root = (parentUuid ? roots.get(parentUuid) : undefined) ?? uuid;
    roots.set(uuid, root);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [line]);
    else group.push(line);
  }
  return [...groups].map(([root, group]) => ({ root, entries: selectBranch(group, true).entries }));
}

function indexNodes(lines: readonly TranscriptLine[], sidechain: boolean, relinked: string[]): Map<string, Node> {
  const nodes = new Map<string, Node>();
  const known = new Set<string>();
  for (const { entry } of lines) if (typeof entry.uuid === 'string' && (entry.isSidechain === true) === sidechain) known.add(entry.uuid);
  let previous: string | undefined;
  for (const [position, line] of lines.entries()) {
    if (line.kind === 'journal') continue;
    const { uuid, parentUuid, isSidechain } = line.entry;
    if (typeof uuid !== 'string' || nodes.has(uuid) || (isSidechain === true) !== sidechain) continue;
    let parent = typeof parentUuid === 'string' ? parentUuid : undefined;
    if (parent !== undefined && !known.has(parent)) {
      relinked.push(uuid);
      parent = previous;
    }
    nodes.set(uuid, { uuid, position, parent, entry: line.kind === 'chain' ? line.entry : undefined });
    previous = uuid;
  }
  return nodes;
}

/** Gives every call of the file an id of its own, over all branches, so that what is looked up by id is found on its own branch. */
function separateCalls(
  nodes: ReadonlyMap<string, Node>,
): Pick<Branch, 'renamed' | 'callIds'> & { readonly nodes: ReadonlyMap<string, Node> } {
  const list = [...nodes.values()];
  const positions = new Map(list.map(({ uuid }, position) => [uuid, position]));
  const discarded = discardedEntries(list.flatMap(({ entry }) => entry ?? []));
  const pieces = list.map(({ entry, parent }): Piece => {
    const blocks = entry?.type === 'user' || entry?.type === 'assistant' ? blocksOf(entry.message.content) : [];
    if (entry?.type !== 'assistant') return { role: 'user', blocks, behind: positions.get(parent ?? '') };
    return { role: 'assistant', blocks, answer: answerNameOf(entry), isDiscarded: discarded.has(entry.uuid) };
  });
  const apart = tellCallsApart(pieces);
  const separated = new Map(nodes);
  const renamed: string[] = [];
  for (const [position, node] of list.entries()) {
    const blocks = apart[position];
    if (blocks === undefined || blocks === pieces[position]?.blocks || node.entry === undefined) continue;
    separated.set(node.uuid, { ...node, entry: withBlocks(node.entry, blocks) });
    if (node.entry.type === 'assistant') renamed.push(node.uuid);
  }
  const callIds = new Set(apart.flatMap((blocks) => blocks.filter(isClientToolUse).map((block) => textField(block, 'id'))));
  return { nodes: separated, renamed, callIds };
}

function withBlocks(entry: ChainEntry, blocks: readonly unknown[]): ChainEntry {
  const content = blocks.filter(isContentBlock);
  if (entry.type === 'user') return { ...entry, message: { ...entry.message, content } };
  return entry.type === 'assistant' ? { ...entry, message: { ...entry.message, content } } : entry;
}

function findLeaf(nodes: ReadonlyMap<string, Node>): Node | undefined {
  let spoken: Node | undefined;
  let any: Node | undefined;
  for (const node of nodes.values()) {
    const { entry } = node;
    if (entry === undefined) continue;
    any = node;
    if ((entry.type === 'user' || entry.type === 'assistant') && entry.isMeta !== true && entry.teamName === undefined) spoken = node;
  }
  return spoken ?? any;
}

/** The path back to the root or to a compaction boundary, keyed by uuid. Stops where a cycle would begin. */
function walk(nodes: ReadonlyMap<string, Node>, leaf: Node): Map<string, Node> {
  const path: Node[] = [];
  const seen = new Set<string>();
  for (let node: Node | undefined = leaf; node !== undefined && !seen.has(node.uuid); ) {
    seen.add(node.uuid);
    path.push(node);
    if (isBoundary(node.entry)) break;
    node = node.parent === undefined ? undefined : nodes.get(node.parent);
  }
  return new Map(path.reverse().map((node) => [node.uuid, node]));
}

/** Context written behind the leaf (attachments, expansions, notices) belongs to it. */
function trailing(nodes: ReadonlyMap<string, Node>, leaf: Node): Node[] {
  const tail = new Set([leaf.uuid]);
  const found: Node[] = [];
  for (const node of nodes.values()) {
    if (node.position <= leaf.position || node.parent === undefined || !tail.has(node.parent)) continue;
    tail.add(node.uuid);
    found.push(node);
  }
  return found;
}

/** Adds the lines of kept answers, the results of kept calls that have none, and the attachments that hang on either. */
function restoreSiblings(nodes: ReadonlyMap<string, Node>, kept: ReadonlyMap<string, Node>, elsewhere: ReadonlySet<string>): Node[] {
  const all = new Map(kept);
  const candidates = [...nodes.values()].filter((node) => node.entry !== undefined && !elsewhere.has(node.uuid));
  const answers = new AnswerNames();
  for (const { entry } of kept.values()) {
    const answer = entry?.type === 'assistant' ? answerNameOf(entry) : undefined;
    if (answer !== undefined) answers.add(answer);
  }
  for (const node of candidates) {
    const answer = node.entry?.type === 'assistant' ? answerNameOf(node.entry) : undefined;
    if (answer !== undefined && answers.has(answer)) all.set(node.uuid, node);
  }
  const open = new Set<string>();
  const answered = new Set<string>();
  for (const { entry } of all.values()) {
    if (entry === undefined || entry.type === 'system' || entry.type === 'attachment') continue;
    for (const block of blocksOf(entry.message.content)) {
      if (isClientToolUse(block)) open.add(textField(block, 'id'));
      else if (isToolResult(block)) answered.add(textField(block, 'tool_use_id'));
    }
  }
  const restored = new Set<string>();
  for (const node of candidates) {
    const { entry } = node;
    if (all.has(node.uuid) || entry === undefined) continue;
    if (entry.type === 'user') {
      const ids = blocksOf(entry.message.content)
        .filter(isToolResult)
        .map((block) => textField(block, 'tool_use_id'));
      if (!ids.some((id) => open.has(id) && !answered.has(id))) continue;
      for (const id of ids) answered.add(id);
    } else if (entry.type !== 'attachment' || node.parent === undefined || !restored.has(node.parent)) continue;
    restored.add(node.uuid);
    all.set(node.uuid, node);
  }
  return inOrder(kept, all);
}

/** The path in its own order, the restored entries where the file has them. */
function inOrder(path: ReadonlyMap<string, Node>, all: ReadonlyMap<string, Node>): Node[] {
  const rank = new Map<string, number>();
  let highest = -1;
  for (const node of path.values()) {
    highest = Math.max(highest, node.position);
    rank.set(node.uuid, highest);
  }
  const rankOf = (node: Node) => rank.get(node.uuid) ?? node.position;
  return [...all.values()].sort((a, b) => rankOf(a) - rankOf(b));
}

function isBoundary(entry: ChainEntry | undefined): entry is SystemEntry {
  return entry?.type === 'system' && entry.subtype === 'compact_boundary';
}

/** A path with all that belongs to it: lost siblings, and what the compaction at its root preserved, behind the summary. */
function conversation(nodes: ReadonlyMap<string, Node>, path: ReadonlyMap<string, Node>, taken: ReadonlySet<string>): Node[] {
  const [root] = path.values();
  const preserved = root === undefined ? [] : preservedBy(nodes, root, new Set([...taken, ...path.keys()]));
  const own = restoreSiblings(nodes, path, new Set([...taken, ...preserved.map((node) => node.uuid)]));
  if (preserved.length === 0) return own;
  const anchor = own.findIndex((node) => node.uuid === segmentOf(root)?.anchorUuid);
  const at = anchor === -1 ? 1 : anchor + 1;
  return [...own.slice(0, at), ...preserved, ...own.slice(at)];
}

/** The end of the conversation as it was before a boundary, from the entry on that the boundary names. */
function preservedBy(nodes: ReadonlyMap<string, Node>, boundary: Node, taken: ReadonlySet<string>): Node[] {
  const segment = segmentOf(boundary);
  const tail = segment === undefined ? undefined : nodes.get(segment.tailUuid);
  // Only what was written before: this also bounds the recursion through older boundaries.
  if (segment === undefined || tail === undefined || tail.position >= boundary.position) return [];
  const path = walk(nodes, tail);
  // Reaches back through older compactions only where the kept part does.
  const before = path.has(segment.headUuid) ? restoreSiblings(nodes, path, taken) : conversation(nodes, path, taken);
  const head = before.findIndex((node) => node.uuid === segment.headUuid);
  // An older summary in the preserved part would stand in the middle of the conversation; the new one covers it.
  return head === -1
    ? []
    : before.slice(head).filter(({ entry }) => !isBoundary(entry) && !(entry?.type === 'user' && entry.isCompactSummary === true));
}

function segmentOf(node: Node | undefined) {
  return isBoundary(node?.entry) ? node.entry.compactMetadata?.preservedSegment : undefined;
}
