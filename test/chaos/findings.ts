import { existsSync, readFileSync } from 'node:fs';
import { deliveredNotificationId, deliveredPromptId } from '../../src/messages/attachments.js';
import { loadTranscript } from '../../src/messages/load.js';
import { taskNotificationId } from '../../src/tasks/notification.js';

/** What a run came to, and everything that should not have been. */
export interface Findings {
  readonly tasks: number;
  readonly notifications: number;
  readonly prompts: number;
  readonly effects: number;
  readonly compactions: number;
  readonly requests: number;
  readonly kills: number;
  readonly problems: readonly string[];
}

/** Reads off a finished session what must hold however often its process died. */
export function inspect(transcript: string, log: string, seenByModel: ReadonlySet<string>): Findings {
  const { lines, openCalls, problems: damaged } = loadTranscript(transcript);
  const problems: string[] = [];
  const started: string[] = [];
  const enqueued = new Map<string, number>();
  const delivered = new Map<string, number>();
  const queued: string[] = [];
  const told = new Map<string, number>();
  const claimed: string[] = [];
  let compactions = 0;
  for (const line of lines) {
    if (line.kind === 'journal') {
      const { entry } = line;
      if (entry.type === 'task.started') started.push(entry.taskId);
      if (entry.type === 'notification.enqueued') add(enqueued, entry.notificationId);
      if (entry.type === 'prompt.queued') queued.push(entry.promptId);
    }
    if (line.kind !== 'chain') continue;
    const { entry } = line;
    const notification = deliveredNotificationId(entry);
    const prompt = deliveredPromptId(entry);
    if (notification !== undefined) add(delivered, notification);
    if (prompt !== undefined) add(told, prompt);
    if (entry.type === 'system' && entry.subtype === 'compact_boundary') compactions++;
    if (entry.type === 'user') claimed.push(...(JSON.stringify(entry.message).match(/did (toolu_[0-9]+_[0-9]+)/g) ?? []));
  }
  for (const id of started) {
    const times = enqueued.get(taskNotificationId(id)) ?? 0;
    if (times !== 1) problems.push(`task ${id} was announced ${times} times`);
    if (!seenByModel.has(id)) problems.push(`the model never read of task ${id}`);
  }
  for (const [id, times] of enqueued) {
    if (times !== 1) problems.push(`notification ${id} was enqueued ${times} times`);
    if (delivered.get(id) !== 1) problems.push(`notification ${id} was delivered ${delivered.get(id) ?? 0} times`);
  }
  for (const id of delivered.keys()) if (!enqueued.has(id)) problems.push(`notification ${id} was delivered and never enqueued`);
  for (const id of queued) if (told.get(id) !== 1) problems.push(`prompt ${id} was delivered ${told.get(id) ?? 0} times`);
  if (openCalls.length > 0) problems.push(`calls without a result: ${openCalls.map(({ id }) => id).join(', ')}`);
  // A line that was being written when the process died is expected; anything else is not.
  for (const { code, text } of damaged) if (code !== 'half_line' && code !== 'corrupt_json') problems.push(text);

  const ran = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  const times = new Map<string, number>();
  for (const id of ran) add(times, id);
  for (const [id, n] of times) if (n > 1) problems.push(`call ${id} took effect ${n} times`);
  for (const claim of claimed) if (!times.has(claim.slice('did '.length))) problems.push(`${claim}: its effect is not there`);
  return {
    tasks: started.length,
    notifications: enqueued.size,
    prompts: queued.length,
    effects: ran.length,
    compactions,
    requests: 0,
    kills: 0,
    problems,
  };
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
