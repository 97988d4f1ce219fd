import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { Unsent } from '../../src/durable/protocol.js';
import { TaskDesk } from '../../src/durable/taskDesk.js';
import { processLife } from '../../src/processLife.js';
import type { BackgroundTaskEnd, BackgroundTaskStart } from '../../src/tool/types.js';
import { deferred } from '../support/sessions.js';

function desk() {
  const posted: Unsent[] = [];
  const said = deferred<Unsent>();
  return {
    posted,
    said: said.promise,
    desk: new TaskDesk(async (_session, message) => {
      posted.push(message);
      said.resolve(message);
    }),
  };
}
const start = (done: Promise<BackgroundTaskEnd>): BackgroundTaskStart => ({
  kind: 'bash',
  title: 'a task',
  callId: 'c',
  outputFile: '/tmp/out',
  done,
  stop: () => {},
});

describe('a background task of a worker', () => {
  it.each([
    ['breaks', () => Promise.reject(new Error('the pipe is gone')), /the pipe is gone/],
    ['is none', () => Promise.resolve('ended') as unknown as Promise<BackgroundTaskEnd>, /no end of a task/],
  ])('whose end %s has failed, in words, instead of running on for its session', async (_, done, words) => {
    const { desk: one, said } = desk();
    one.adopt('s', 'call:0', start(done()));
    expect(await said).toMatchObject({
      type: 'taskEnded',
      end: { status: 'failed', exitCode: null, summary: expect.stringMatching(words) },
    });
  });

  it.runIf(process.platform === 'linux')('is lost when its process is gone, though another program has its pid by now', async () => {
    const { desk: one, posted } = desk();
    const task = { id: 't', kind: 'bash', title: 'a task', outputFile: '/tmp/out', host: hostname(), pid: process.ppid } as const;
    const life = processLife(process.ppid) ?? '';
    await one.reportLost('s', { ...task, life });
    expect(posted).toEqual([]);
    await one.reportLost('s', { ...task, life: `${life}0` });
    expect(posted).toMatchObject([{ type: 'taskEnded', taskId: 't', end: { status: 'failed' } }]);
  });
});
