import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it, vi } from 'vitest';
import { endProcesses } from '../../src/tools/bash/process-tree.js';

afterEach(() => {
  vi.restoreAllMocks();
});

it.skipIf(process.platform === 'win32')(
  'ends a command that ignores TERM after the grace, also while the clock of the wall is set back',
  async () => {
    const child = spawn('sh', ['-c', "trap '' TERM; echo ready; while :; do sleep 0.05; done"], { detached: true });
    await once(child.stdout, 'data');
    const groupId = child.pid ?? 0;
    let time = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => {
      time -= 1_000;
      return time;
    });
    expect(await endProcesses({ groupId, commandId: 'none' }, { graceMs: 50, afterKillMs: 10_000 })).toEqual([]);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');
  },
);
