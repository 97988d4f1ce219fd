import { contentOf, isMessage, type Line, stringAt } from './lines.js';
import { contentText, type RecordedCall } from './pairing.js';
import { saidOn } from './queries.js';

/** One conversation of a transcript: the person's, or a subagent's. */
export interface Conversation {
  readonly key: string;
  readonly agentId: string | undefined;
  readonly lines: readonly Line[];
  /** The call that started this subagent; undefined for the main conversation and where the file does not tell. */
  readonly call: RecordedCall | undefined;
}

export interface Conversations {
  readonly main: Conversation;
  readonly subagents: readonly Conversation[];
}

const MAIN = 'main';
/** Calls that start a subagent, by the names Claude Code has given them. */
const AGENT_TOOLS: ReadonlySet<string> = new Set(['Task', 'Agent']);

/** Parts the lines into conversations and finds the call each subagent answers. */
export function partConversations(lines: readonly Line[], calls: ReadonlyMap<string, RecordedCall>): Conversations {
  const groups = group(lines);
  const others = [...groups.keys()].filter((key) => key !== MAIN);
  const mainLines = groups.get(MAIN) ?? [];
  const only = others[0];
  // A subagent's own file that is opened by itself is the conversation.
  if (others.length === 1 && only !== undefined && !mainLines.some(isMessage)) {
    return { main: { key: MAIN, agentId: agentIdOf(groups.get(only) ?? []), lines, call: undefined }, subagents: [] };
  }
  const linked = linkCalls(
    others.map((key) => ({ key, lines: groups.get(key) ?? [] })),
    lines,
    calls,
  );
  return {
    main: { key: MAIN, agentId: undefined, lines: mainLines, call: undefined },
    subagents: withoutCycles(linked),
  };
}

function group(lines: readonly Line[]): Map<string, Line[]> {
  const roots = sidechainRoots(lines);
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const key = keyOf(line, roots);
    const known = groups.get(key);
    if (known) known.push(line);
    else groups.set(key, [line]);
  }
  return groups;
}

function keyOf({ file, entry, number }: Line, rootOf: (uuid: string) => string): string {
  if (file.name !== undefined) return `agent:${file.agentId ?? file.name}`;
  if (entry.isSidechain !== true) return MAIN;
  const agentId = stringAt(entry, 'agentId');
  if (agentId !== undefined) return `agent:${agentId}`;
  const uuid = stringAt(entry, 'uuid');
  return `sidechain:${uuid === undefined ? `line ${number}` : rootOf(uuid)}`;
}

/** Sidechain lines that hang together belong to one subagent, in whatever order the file has them. Cycles do no harm. */
function sidechainRoots(lines: readonly Line[]): (uuid: string) => string {
  const parents = new Map<string, string>();
  const find = (uuid: string): string => {
    let root = uuid;
    for (let up = parents.get(root); up !== undefined && up !== root; up = parents.get(root)) root = up;
    for (let at = uuid; at !== root; ) {
      const next = parents.get(at) ?? root;
      parents.set(at, root);
      at = next;
    }
    return root;
  };
  const sidechain = lines.filter(({ file, entry }) => file.name === undefined && entry.isSidechain === true);
  for (const { entry } of sidechain) if (typeof entry.uuid === 'string') parents.set(entry.uuid, entry.uuid);
  for (const { entry } of sidechain) {
    const { uuid, parentUuid } = entry;
    if (typeof uuid !== 'string' || typeof parentUuid !== 'string' || !parents.has(parentUuid)) continue;
    const [child, parent] = [find(uuid), find(parentUuid)];
    if (child !== parent) parents.set(child, parent);
  }
  return find;
}

const agentIdOf = (lines: readonly Line[]): string | undefined => {
  for (const { file, entry } of lines) {
    const id = file.agentId ?? stringAt(entry, 'agentId');
    if (id !== undefined) return id;
  }
  return undefined;
};

/**
 * A subagent's call is known by its sidecar, by the agent id in the call's structured result or in a progress line, or, in files without
 * ids, by its first message being the call's prompt word for word. Nothing else is guessed.
 */
function linkCalls(
  groups: readonly { readonly key: string; readonly lines: readonly Line[] }[],
  lines: readonly Line[],
  calls: ReadonlyMap<string, RecordedCall>,
): Conversation[] {
  const byAgent = callsByAgent(lines, calls);
  const byPrompt = new Map<string, RecordedCall[]>();
  for (const call of calls.values()) {
    const prompt = AGENT_TOOLS.has(call.name) ? stringAt(call.input, 'prompt') : undefined;
    if (prompt !== undefined) byPrompt.set(prompt, [...(byPrompt.get(prompt) ?? []), call]);
  }
  const taken = new Set<RecordedCall>();
  const surely = groups.map(({ lines: own }) => {
    const agentId = agentIdOf(own);
    const sidecar = own.find(({ file }) => file.toolUseId !== undefined)?.file.toolUseId;
    const call = calls.get(sidecar ?? '') ?? (agentId === undefined ? undefined : byAgent.get(agentId));
    if (call) taken.add(call);
    return { agentId, call };
  });
  return groups.map(({ key, lines: own }, index): Conversation => {
    const { agentId, call: sure } = surely[index] ?? { agentId: undefined, call: undefined };
    const call = sure ?? byPrompt.get(firstText(own))?.find((one) => !taken.has(one));
    if (call) taken.add(call);
    return { key, agentId, lines: own, call };
  });
}

function callsByAgent(lines: readonly Line[], calls: ReadonlyMap<string, RecordedCall>): Map<string, RecordedCall> {
  const out = new Map<string, RecordedCall>();
  const put = (agentId: string | undefined, call: RecordedCall | undefined): void => {
    if (agentId !== undefined && call && !out.has(agentId)) out.set(agentId, call);
  };
  for (const call of calls.values()) {
    if (call.result) put(stringAt(call.result.line.entry.toolUseResult, 'agentId'), call);
  }
  for (const { type, entry } of lines) {
    if (type === 'progress') put(stringAt(entry.data, 'agentId'), calls.get(stringAt(entry, 'parentToolUseID') ?? ''));
  }
  return out;
}

/** What a subagent was told first. */
function firstText(lines: readonly Line[]): string {
  const first = lines.find((line) => line.type === 'user' && isMessage(line) && saidOn(line) === 'prompt');
  return first ? contentText(contentOf(first)) : '';
}

/** A damaged file may make a subagent its own ancestor; such a link is dropped. */
function withoutCycles(subagents: readonly Conversation[]): Conversation[] {
  const owner = new Map<Line, Conversation>();
  for (const one of subagents) for (const line of one.lines) owner.set(line, one);
  const callOf = new Map(subagents.map((one) => [one.key, one.call]));
  for (const { key } of subagents) {
    const seen = new Set([key]);
    for (let at = callOf.get(key); at; ) {
      const above = owner.get(at.line);
      if (above?.key === key) callOf.set(key, undefined);
      if (!above || seen.has(above.key)) break;
      seen.add(above.key);
      at = callOf.get(above.key);
    }
  }
  return subagents.map((one) => ({ ...one, call: callOf.get(one.key) }));
}
