import { readFileSync } from 'node:fs';
import { errorCode } from './tool/errors.js';

/**
 * What a process of this machine is, beside its pid, which another program may have later: when it was started, and since which start of
 * the system that is counted. Undefined where there is no such process, and where the system does not say (Linux alone does).
 */
export function processLife(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is a name in parentheses that may hold any character; the start is the 22nd.
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return started === undefined ? undefined : `${boot}/${started}`;
  } catch {
    return undefined;
  }
}

/** Whether a process of this machine lives. With `life`, whether it is still the one that had that. */
export function isProcessAlive(pid: number, life?: string): boolean {
  const now = life === undefined ? undefined : processLife(pid);
  if (now !== undefined) return now === life;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, under another user.
    return errorCode(error) === 'EPERM';
  }
}
