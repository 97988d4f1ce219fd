import type { ActorStopped } from '../protocol/flowEvents.js';
import type { Conversation } from './conversations.js';
import { type Line, stringAt } from './lines.js';
import { type RecordedQuery, saidOn } from './queries.js';

/** What is called how in a flow that is read from a transcript. Pure. */

export function subagentLabel({ agentId, call }: Conversation): string {
  return stringAt(call?.input, 'description') ?? stringAt(call?.input, 'subagent_type') ?? agentId ?? 'of an unknown call';
}

/** What the session is called; the newest name counts, a person's before a made one. */
export function titleOf(lines: readonly Line[]): string | undefined {
  const newest = (type: string, key: string): string | undefined =>
    lines.flatMap((line) => (line.type === type ? (stringAt(line.entry, key) ?? []) : [])).at(-1);
  return newest('custom-title', 'customTitle') ?? newest('ai-title', 'aiTitle');
}

export function queryStatus({ others, turns }: RecordedQuery): ActorStopped['status'] {
  if (others.some((line) => line.type === 'user' && saidOn(line) === 'interrupted')) return 'stopped';
  const last = turns.at(-1);
  if (!last || last.calls.length > 0 || last.lines.some(({ entry }) => entry.isApiErrorMessage === true)) return 'unknown';
  return 'done';
}

/** Hook and progress lines name their call in one of these fields. */
export function callNamedBy({ entry }: Line): string | undefined {
  return (
    stringAt(entry, 'toolUseID') ?? stringAt(entry, 'callId') ?? stringAt(entry, 'attachment', 'toolUseID') ?? stringAt(entry, 'toolUseId')
  );
}

/** What a line beside the conversation is called as an event. */
export function eventNameOf({ type, entry }: Line): string {
  if (type === 'system') return stringAt(entry, 'subtype') ?? 'system';
  return type === 'attachment' ? `attachment.${stringAt(entry, 'attachment', 'type') ?? 'unknown'}` : type;
}
