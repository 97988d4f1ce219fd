import type { BackgroundTaskInfo, BackgroundTasks } from '../../src/tool/types.js';

/** Background tasks in memory, ended by hand. */
export function createTaskList(): { readonly tasks: BackgroundTasks; readonly notify: () => void } {
  const infos = new Map<string, BackgroundTaskInfo>();
  let wake = (): void => undefined;
  const notified = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const known = (id: string): BackgroundTaskInfo => {
    const info = infos.get(id);
    if (info === undefined) throw new Error(`no task ${id}`);
    return info;
  };
  const tasks: BackgroundTasks = {
    adopt({ kind, title, callId, outputFile }) {
      const id = `t${infos.size + 1}`;
      infos.set(id, { id, kind, title, callId, outputFile, startedAt: 0, status: 'running' });
      return { id, outputFile };
    },
    list: () => [...infos.values()],
    get: (id) => infos.get(id),
    async stop(id) {
      infos.set(id, { ...known(id), status: 'killed' });
      return known(id);
    },
    settled: async (id) => known(id),
    nextNotification: () => notified,
  };
  return { tasks, notify: () => wake() };
}
