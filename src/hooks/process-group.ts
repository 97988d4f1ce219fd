import { type ChildProcess, spawn } from 'node:child_process';
import { errorCode } from '../tool/errors.js';

/** True while any process of the group lives. */
export function groupAlive(pid: number): boolean {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, under another user.
    return errorCode(error) === 'EPERM';
  }
}

/** Signals every process of the group; a group that is already gone is fine. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on('error', () => {});
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // Gone, or not ours to signal: either way there is nothing left to do.
  }
}

const owned = new Set<ChildProcess>();
function killOwned(): void {
  for (const child of owned) if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
}

/** Groups are not our session's children to the shell, so Ctrl-C does not reach them: they must not outlive this process. */
export function own(child: ChildProcess): () => void {
  if (owned.size === 0) process.once('exit', killOwned);
  owned.add(child);
  return () => {
    owned.delete(child);
    if (owned.size === 0) process.removeListener('exit', killOwned);
  };
}
