import { growing } from '../growing.js';
import { wrapReminder } from '../messages/reminder.js';
import type { MessageParam } from '../messages/types.js';

/*
 * What the model is told of tools outside the request's `tools`: names of deferred ones, and what servers say of themselves. It is told
 * in reminders that are added to the conversation, so that nothing that was sent before changes. What has been told is read from the
 * conversation itself: a summary that swallowed it, or another process that resumes, tells it again.
 */

const ADDED =
  'These tools are deferred: their parameters are not loaded. To use one, load it first, e.g. ToolSearch {"query":"select:NAME"}:';
const REMOVED = 'These deferred tools are no longer available:';

export interface ToolNews {
  /** Deferred tools that are not loaded. */
  readonly deferred: readonly string[];
  /** Every tool that can be called or loaded. */
  readonly available: ReadonlySet<string>;
  /** By server. */
  readonly instructions: ReadonlyMap<string, string>;
}

/** The reminders that bring the model up to date; none when it is. */
export function toolAnnouncements({ deferred, available, instructions }: ToolNews, messages: readonly MessageParam[]): readonly string[] {
  const told = reminders(messages);
  const announced = announcedNames(told);
  const added = deferred.filter((name) => !announced.has(name));
  const removed = [...announced].filter((name) => !available.has(name));
  const texts = [...instructions].map(([server, text]) => `Instructions of the MCP server ${server}:\n${text}`);
  return [
    ...texts.filter((text) => !told.includes(wrapReminder(text))),
    ...(removed.length === 0 ? [] : [[REMOVED, ...removed].join('\n')]),
    ...(added.length === 0 ? [] : [[ADDED, ...added].join('\n')]),
  ];
}

/** Reminder blocks of the runtime: text blocks of user messages. What stands in a tool's result is never one. */
const reminders = growing(({ role, content }: MessageParam): readonly string[] => {
  if (role !== 'user' || typeof content === 'string') return [];
  return content.flatMap((block) => (block.type === 'text' && block.text.startsWith('<system-reminder>\n') ? [block.text] : []));
});

function announcedNames(told: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const text of told) {
    const [, head, ...rest] = text.split('\n');
    if (head === ADDED) for (const name of rest.slice(0, -1)) names.add(name);
    if (head === REMOVED) for (const name of rest.slice(0, -1)) names.delete(name);
  }
  return names;
}
