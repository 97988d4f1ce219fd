import { HOOK_EVENTS, type HookEvent } from './types.js';

/**
 * What is fixed for each event (Claude Code docs, hooks reference).
 *
 * - `subject`: the payload field that matchers are held against; null where a matcher is ignored.
 * - `blocking`: what exit code 2 (or a failure declared to block) means. `deny` refuses the call, `block` holds back what
 *   was about to happen, `feedback` reaches the model though the tool has already run, `decision` needs JSON and ignores
 *   the exit code, `none` only tells the person.
 * - `plainStdout`: whether text that is not JSON becomes context.
 * - `promptHandlers`: whether a model may judge the event.
 */
export interface EventTraits {
  readonly subject: string | null;
  readonly blocking: 'deny' | 'block' | 'feedback' | 'decision' | 'none';
  readonly plainStdout: boolean;
  readonly promptHandlers: boolean;
  readonly timeoutSeconds: number;
}

const DEFAULT_TIMEOUT = 600;
const TRAITS: Record<HookEvent, EventTraits> = {
  PreToolUse: traits('tool_name', 'deny', { promptHandlers: true }),
  PostToolUse: traits('tool_name', 'feedback', { promptHandlers: true }),
  PostToolUseFailure: traits('tool_name', 'feedback', { promptHandlers: true }),
  PostToolBatch: traits(null, 'block', { promptHandlers: true }),
  PermissionRequest: traits('tool_name', 'decision', { promptHandlers: true }),
  PermissionDenied: traits('tool_name', 'none'),
  UserPromptSubmit: traits(null, 'block', { promptHandlers: true, plainStdout: true, timeoutSeconds: 30 }),
  Stop: traits(null, 'block', { promptHandlers: true }),
  StopFailure: traits('error', 'none'),
  SubagentStart: traits('agent_type', 'none'),
  SubagentStop: traits('agent_type', 'block', { promptHandlers: true }),
  SessionStart: traits('source', 'none', { plainStdout: true }),
  SessionEnd: traits('reason', 'none'),
  Notification: traits('notification_type', 'none'),
  PreCompact: traits('trigger', 'block'),
  PostCompact: traits('trigger', 'none'),
};

function traits(subject: string | null, blocking: EventTraits['blocking'], more: Partial<EventTraits> = {}): EventTraits {
  return { subject, blocking, plainStdout: false, promptHandlers: false, timeoutSeconds: DEFAULT_TIMEOUT, ...more };
}

export function eventTraits(event: HookEvent): EventTraits {
  return TRAITS[event];
}

const EVENT_NAMES: ReadonlySet<string> = new Set(HOOK_EVENTS);
export function isHookEvent(name: string): name is HookEvent {
  return EVENT_NAMES.has(name);
}

/** Events about one tool call: the only ones on which a handler's `if` has meaning. */
export function isToolEvent(event: HookEvent): boolean {
  return TRAITS[event].subject === 'tool_name';
}

/** Events that Claude Code documents and that nothing here fires; a hook for one of them is valid and idle. */
export const IDLE_EVENTS: readonly string[] = [
  'Setup',
  'UserPromptExpansion',
  'InstructionsLoaded',
  'ConfigChange',
  'CwdChanged',
  'FileChanged',
  'DirectoryAdded',
  'MessageDisplay',
  'TeammateIdle',
  'TaskCreated',
  'TaskCompleted',
  'WorktreeCreate',
  'WorktreeRemove',
  'Elicitation',
  'ElicitationResult',
  'PreModelSwitch',
  'PostModelSwitch',
  'PreSkillShellCommand',
];

/** The known event name closest to a misspelt one, or undefined when none is near. */
export function nearestEvent(name: string): string | undefined {
  const wanted = name.toLowerCase();
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const known of [...HOOK_EVENTS, ...IDLE_EVENTS]) {
    const distance = editDistance(wanted, known.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name: known, distance };
  }
  return best !== undefined && best.distance <= Math.max(2, Math.floor(wanted.length / 3)) ? best.name : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
