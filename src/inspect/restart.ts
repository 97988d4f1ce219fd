import { blocksOf, isClientToolUse, isToolResult, textField } from '../messages/blocks.js';
import { loadTranscript } from '../messages/load.js';
import type { InspectableSession } from './inspectable.js';
import type { FlowEvent } from './protocol/flowEvents.js';

/** Where a copy of a session goes on: after an entry of its transcript. Fits `forkSession`. */
export interface RestartPoint {
  /** Id of the session. */
  readonly from: string;
  /** The uuid of the last entry that the copy takes over. */
  readonly upTo: string;
}
/** The copy: a session that can be looked at, spoken to and closed. */
export interface RestartedSession extends InspectableSession {
  /** Gives the model a prompt. */
  send(prompt: string): { readonly done: Promise<unknown> };
  /** Ends the session. */
  close(): Promise<void>;
}
/** Makes the copy: `(point) => forkSession({ ...point, ...options })`. */
export type Restart = (point: RestartPoint) => RestartedSession | Promise<RestartedSession>;

/**
 * The last entry of a transcript at which, by the moment of event `seq`, nothing was open: the answer had ended and each of its calls
 * had its result. Undefined where there is none. What the flow does not know, because it began later, was settled before.
 *
 * Only a conversation can be taken back to such a point. What its tools have done to the world stays done.
 */
export function settledPoint(transcriptPath: string, events: Iterable<FlowEvent>, seq: number): string | undefined {
  const { known, ended, results } = seenBy(events, seq);
  const { chain } = loadTranscript(transcriptPath);
  const lastOf = new Map<string, number>();
  for (const [index, entry] of chain.entries()) if (entry.type === 'assistant') lastOf.set(entry.message.id ?? entry.uuid, index);
  const open = new Set<string>();
  let unfinished = -1;
  let point: string | undefined;
  for (const [index, entry] of chain.entries()) {
    if (entry.type === 'assistant') {
      const id = entry.message.id ?? entry.uuid;
      if (known.has(id) && !ended.has(id)) break;
      const calls = blocksOf(entry.message.content).filter(isClientToolUse);
      if (known.has(id) && calls.some((call) => !results.has(textField(call, 'id')))) break;
      for (const call of calls) open.add(textField(call, 'id'));
      unfinished = lastOf.get(id) ?? index;
    } else if (entry.type === 'user') {
      const answers = blocksOf(entry.message.content).filter(isToolResult);
      // A prompt is settled by its answer.
      if (answers.length === 0) continue;
      for (const answer of answers) open.delete(textField(answer, 'tool_use_id'));
    } else continue;
    if (open.size === 0 && index >= unfinished) point = entry.uuid;
  }
  return point;
}

/** What the main session's part of a flow tells: which answers it has seen at all, and which of them, and of its calls, had ended by then. */
function seenBy(events: Iterable<FlowEvent>, seq: number) {
  const known = new Set<string>();
  const ended = new Set<string>();
  const results = new Set<string>();
  const agents: string[] = [];
  let answering: string | undefined;
  for (const event of events) {
    if (event.type === 'actor.started' && event.kind === 'session' && event.parent !== null) agents.push(`${event.actor}/`);
    if (event.type === 'result' && event.seq <= seq) results.add(event.toolUseId);
    if (event.type !== 'event' || agents.some((below) => event.actor.startsWith(below))) continue;
    if (event.event === 'message.started') {
      answering = /"messageId":"([^"]+)"/.exec(event.body?.preview ?? '')?.[1];
      if (answering !== undefined) known.add(answering);
    } else if (event.event === 'stream.ended' && answering !== undefined && event.seq <= seq) ended.add(answering);
  }
  return { known, ended, results };
}
