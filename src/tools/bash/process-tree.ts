import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** The environment variable by which descendants of a command are recognised after they left its process group. */
export const COMMAND_ID_VARIABLE = 'SIXGATES_COMMAND_ID';

/** What identifies the processes of one command. */
export interface ProcessTree {
  /** The command's process group, led by its shell. */
  readonly groupId: number;
  /** The value of `COMMAND_ID_VARIABLE` in its environment. */
  readonly commandId: string;
}

export interface LivingProcess {
  readonly pid: number;
  readonly command: string;
}

/**
 * The living processes of a command. On Linux: the members of its group, and any process that inherited its environment mark
 * (`setsid` leaves the group, not the environment; a descendant that does both clears and leaves is out of sight). Elsewhere: only
 * whether the group lives, told as its leader. Zombies do not count.
 */
export async function livingProcesses(tree: ProcessTree): Promise<readonly LivingProcess[]> {
  if (process.platform !== 'linux') return groupLives(tree.groupId) ? [{ pid: tree.groupId, command: '' }] : [];
  const mark = `${COMMAND_ID_VARIABLE}=${tree.commandId}`;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid): Promise<LivingProcess | undefined> => {
      if (pid === process.pid || pid <= 1) return undefined;
      const stat = parseStat(await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ''));
      if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined;
      if (stat.groupId === tree.groupId) return { pid, command: stat.command };
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return environment.split('\0').includes(mark) ? { pid, command: stat.command } : undefined;
    }),
  );
  return found.filter((process) => process !== undefined);
}

/** Fields of `/proc/<pid>/stat`; the name is in parentheses and may hold any character. */
function parseStat(line: string): { readonly command: string; readonly state: string; readonly groupId: number } | undefined {
  const open = line.indexOf('(');
  const close = line.lastIndexOf(')');
  if (open === -1 || close === -1) return undefined;
  const [state, , groupId] = line.slice(close + 2).split(' ');
  return state === undefined || groupId === undefined
    ? undefined
    : { command: line.slice(open + 1, close), state, groupId: Number(groupId) };
}

/** True while the group has any member, zombies included: a cheap first look. */
export function groupLives(groupId: number): boolean {
  try {
    // Windows has no groups: there the shell stands for what it started.
    process.kill(process.platform === 'win32' ? groupId : -groupId, 0);
    return true;
  } catch {
    return false;
  }
}

/** Resolves when no process of the command lives, however long that takes. Does not keep the program alive. */
export async function untilGone(tree: ProcessTree): Promise<void> {
  for (let pause = 20; (await livingProcesses(tree)).length > 0; pause = Math.min(pause * 2, 1000)) {
    await delay(pause, undefined, { ref: false });
  }
}

export interface KillTimes {
  /** Milliseconds between TERM and KILL. */
  readonly graceMs: number;
  /** Milliseconds to wait after KILL until the system has taken the processes away. */
  readonly afterKillMs: number;
}
const KILL_TIMES: KillTimes = { graceMs: 2_000, afterKillMs: 2_000 };

/**
 * Ends every process of a command: TERM, a grace, KILL. Signals go to the command's own group and to descendants found
 * outside it, to nothing else. Resolves with what is still alive afterwards: none, unless the system does not let go.
 */
export async function endProcesses(tree: ProcessTree, times: KillTimes = KILL_TIMES): Promise<readonly LivingProcess[]> {
  if (!Number.isInteger(tree.groupId) || tree.groupId <= 1) return [];
  await signalAll(tree, 'SIGTERM');
  if ((await waitUntilGone(tree, times.graceMs)).length === 0) return [];
  const deadline = performance.now() + times.afterKillMs;
  let left: readonly LivingProcess[];
  do {
    // Again each round: a process may have forked between the look and the signal.
    await signalAll(tree, 'SIGKILL');
    left = await waitUntilGone(tree, 100);
  } while (left.length > 0 && performance.now() < deadline);
  return left;
}

async function signalAll(tree: ProcessTree, signal: NodeJS.Signals): Promise<void> {
  if (process.platform === 'win32') {
    await new Promise((resolve) => execFile('taskkill', ['/PID', String(tree.groupId), '/T', '/F'], resolve));
    return;
  }
  send(-tree.groupId, signal);
  if (process.platform !== 'linux') return;
  for (const { pid } of await livingProcesses(tree)) send(pid, signal);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}

async function waitUntilGone(tree: ProcessTree, limitMs: number): Promise<readonly LivingProcess[]> {
  const deadline = performance.now() + limitMs;
  for (let pause = 5; ; pause = Math.min(pause * 2, 50)) {
    const left = await livingProcesses(tree);
    if (left.length === 0 || performance.now() >= deadline) return left;
    await delay(pause);
  }
}
