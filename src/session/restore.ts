import { existsSync } from 'node:fs';
import { isContentBlock } from '../messages/blocks.js';
import { closingResult, type ResumeState } from '../messages/resume.js';
import type { Transcript } from '../messages/transcript.js';
import type { PermissionMode } from '../permissions/types.js';
import type { LoadedSettings } from '../settings/types.js';
import { lostTaskText, taskNotificationId } from '../tasks/notification.js';
import type { SessionOptions } from './options.js';
import { planResumption, type Resumption } from './resumption.js';
import type { Services, SessionPermissions } from './services.js';

/** Modes that a resumed session begins with again; plan and bypass are entered by hand each time (Claude Code docs, sessions). */
const RESTORED_MODES: ReadonlySet<unknown> = new Set<PermissionMode>(['default', 'acceptEdits', 'dontAsk', 'auto']);
const isRestorable = (mode: unknown): mode is PermissionMode => RESTORED_MODES.has(mode);

/** Puts a session back into the mode it was in. A mode given in code counts more. */
export function restoreMode(
  resumed: ResumeState | undefined,
  permissions: SessionPermissions,
  options: SessionOptions,
  settings: LoadedSettings,
): void {
  const mode = resumed?.state.mode;
  if (!isRestorable(mode) || options.permissions?.mode !== undefined || mode === permissions.mode) return;
  if (mode === 'auto' && settings.autoDisabled) return;
  permissions.apply([{ type: 'setMode', mode, destination: 'session' }]);
}

/** Decides about the calls that an earlier process left open: taken up again, or closed here and now with what is known of them. */
export function takeUp(
  transcript: Transcript,
  resumed: ResumeState | undefined,
  canAsk: boolean,
  isIdempotent: (toolName: string) => boolean,
): Resumption | undefined {
  const { loaded } = transcript;
  if (!loaded || !resumed) return undefined;
  const resumption = canAsk ? planResumption(loaded, resumed, isIdempotent) : undefined;
  if (resumption) return resumption;
  for (const call of resumed.openCalls) {
    transcript.append({ type: 'user', message: { role: 'user', content: [closingResult(loaded, call)] } });
  }
  return undefined;
}

/** Puts what an earlier process had not delivered back in line, and reports the tasks that died with it. */
export function restoreInbox(resumed: ResumeState | undefined, session: Services): void {
  if (!resumed) return;
  for (const { id, text } of resumed.undeliveredNotifications) session.inbox.put({ kind: 'notification', id, text });
  for (const task of resumed.lostTasks) session.notify(lostTaskText(task), taskNotificationId(task.taskId));
  for (const { id, content } of resumed.undeliveredPrompts) {
    session.inbox.put({ kind: 'prompt', id, content: typeof content === 'string' ? content : content.filter(isContentBlock) });
  }
}

/** The directory a session was in, unless it is gone. */
export const restoredCwd = (resumed: ResumeState | undefined, cwd: string): string =>
  resumed?.cwd !== undefined && existsSync(resumed.cwd) ? resumed.cwd : cwd;
