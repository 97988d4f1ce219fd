import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, SimulatedClock, setup } from 'xstate';
import { backgroundTaskMachine, type TaskEnd } from '../../machines/backgroundTask.js';
import { parseTranscriptLine } from '../../src/messages/entries.js';
import type { JournalEntry } from '../../src/messages/journal.js';
import { resumeState } from '../../src/messages/resume.js';
import { SessionTasks, type TaskHost } from '../../src/tasks/tasks.js';
import type { BackgroundTaskEnd, BackgroundTaskStart } from '../../src/tool/types.js';
import { deferred } from '../support/sessions.js';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Tasks with their real actors under a parent that passes their ends on, as a session does. */
function tasksWithActors() {
  const journal: JournalEntry[] = [];
  const notified: string[] = [];
  const machine = backgroundTaskMachine.provide({
    actors: { awaitEnd: fromPromise<TaskEnd, { readonly taskId: string }>(({ input }) => tasks.awaitEnd(input.taskId)) },
    actions: { stopWork: (_, { taskId }) => tasks.stopWork(taskId) },
  });
  type ParentEvent = { readonly type: 'task.ended'; readonly taskId: string; readonly end: TaskEnd };
  const parent = createActor(
    setup({ types: { events: {} as ParentEvent } }).createMachine({
      on: { 'task.ended': { actions: ({ event }) => tasks.settle(event.taskId, event.end) } },
    }),
  ).start();
  const actors = new Map<string, { send(event: { readonly type: 'task.stop' }): void }>();
  let ids = 0;
  const host: TaskHost = {
    now: () => 0,
    newId: () => `0000000${++ids}-0000`,
    journal: (entry) => journal.push(entry),
    update: () => {},
    notify: (text, id) => {
      notified.push(id);
      journal.push({ type: 'notification.enqueued', notificationId: id, text });
    },
    nextNotification: () => Promise.resolve(),
    spawn: (task) => {
      const actor = createActor(machine, { parent, input: { ...task, slot: task.taskId } });
      actors.set(task.taskId, actor);
      actor.start();
    },
    askToStop: (id) => actors.get(id)?.send({ type: 'task.stop' }),
  };
  const tasks = new SessionTasks(host);
  return { tasks, journal, notified };
}

const work = (done: Promise<BackgroundTaskEnd>, stop: () => void = () => {}): BackgroundTaskStart => ({
  kind: 'bash',
  title: 'work',
  callId: 'toolu_1',
  outputFile: '/tmp/out',
  done,
  stop,
});
const completed: BackgroundTaskEnd = { status: 'completed', exitCode: 0, summary: 'done' };

describe('a task of a tool that keeps no rule', () => {
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'value'],
    ['no terminal status', { status: 'running', summary: 'still at it' }, 'status'],
    ['a status alone', { status: 'done' }, 'status'],
  ])('that ends with %s has failed, says why, and stays so after a restart', async (_, end, reason) => {
    const { tasks, journal } = tasksWithActors();
    // The types do not allow it; tools in JavaScript do.
    const { id } = tasks.adopt(work(Promise.resolve(end as BackgroundTaskEnd)));
    await settle();
    await settle();
    expect(tasks.get(id)).toMatchObject({ status: 'failed', exitCode: null, summary: expect.stringContaining(`(${reason}`) });
    expect(journal.map((entry) => parseTranscriptLine(JSON.parse(JSON.stringify(entry))).kind)).toEqual(['journal', 'journal', 'journal']);
  });

  it('under the id of another one gets an id of its own: the end of each is told', async () => {
    const { tasks, notified } = tasksWithActors();
    const first = deferred<BackgroundTaskEnd>();
    const handles = [tasks.adopt({ ...work(first.promise), id: 'mine' }), tasks.adopt({ ...work(Promise.resolve(completed)), id: 'mine' })];
    await settle();
    first.resolve(completed);
    await settle();
    await settle();
    expect(handles[0]?.id).toBe('mine');
    expect(new Set(notified)).toEqual(new Set(handles.map(({ id }) => `task:${id}`)));
    expect(notified).toHaveLength(2);
    expect(tasks.list().map(({ status }) => status)).toEqual(['completed', 'completed']);
  });
});

describe('a background task', () => {
  it('is listed, told and written down with the same facts', async () => {
    const { tasks, journal, notified } = tasksWithActors();
    const end = deferred<BackgroundTaskEnd>();
    const { id } = tasks.adopt(work(end.promise));
    expect(tasks.get(id)?.status).toBe('running');
    end.resolve(completed);
    await settle();
    expect(tasks.list()).toEqual([tasks.get(id)]);
    expect(tasks.get(id)).toMatchObject({ status: 'completed', exitCode: 0, summary: 'done' });
    expect(notified).toEqual([`task:${id}`]);
    expect(journal.map(({ type }) => type)).toEqual(['task.started', 'notification.enqueued', 'task.ended']);
  });

  it('that is told to stop is waited for: being asked is no end', async () => {
    const { tasks } = tasksWithActors();
    const end = deferred<BackgroundTaskEnd>();
    let asked = 0;
    const { id } = tasks.adopt(work(end.promise, () => asked++));
    const stopped = tasks.stop(id);
    void tasks.stop(id);
    await settle();
    expect(asked).toBe(1);
    expect(tasks.get(id)?.status).toBe('running');
    end.resolve({ status: 'killed', summary: 'stopped' });
    expect(await stopped).toMatchObject({ status: 'killed' });
    expect(await tasks.stop(id)).toEqual(await stopped);
  });

  it('whose end breaks has failed, in words', async () => {
    const { tasks } = tasksWithActors();
    const { id } = tasks.adopt(work(Promise.reject(new Error('the disk is gone'))));
    await settle();
    expect(tasks.get(id)).toMatchObject({ status: 'failed', summary: 'the disk is gone' });
  });

  it('is waited for until a signal fires', async () => {
    const { tasks } = tasksWithActors();
    const end = deferred<BackgroundTaskEnd>();
    const { id } = tasks.adopt(work(end.promise));
    const patience = new AbortController();
    const waiting = tasks.settled(id, patience.signal);
    patience.abort();
    expect(await waiting).toMatchObject({ status: 'running' });
    end.resolve(completed);
    expect(await tasks.settled(id, new AbortController().signal)).toMatchObject({ status: 'completed' });
    await expect(tasks.settled('task_none', patience.signal)).rejects.toThrow('no background task');
  });

  it('that ignores its stop holds the session’s end no longer than the grace', async () => {
    const { tasks } = tasksWithActors();
    const clock = new SimulatedClock();
    const { id } = tasks.adopt(work(new Promise(() => {})));
    const closing = tasks.close(5_000, clock);
    await settle();
    clock.increment(5_000);
    expect((await closing).map((task) => task.id)).toEqual([id]);
    expect(await tasksWithActors().tasks.close(5_000, clock)).toEqual([]);
  });

  it('never changes its status once that is terminal, and is told once, whatever happens in whatever order', async () => {
    const step = fc.constantFrom('end', 'stop', 'settleAgain', 'wait');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { tasks, notified, journal } = tasksWithActors();
        const end = deferred<BackgroundTaskEnd>();
        const { id } = tasks.adopt(work(end.promise));
        const statuses: string[] = [];
        for (const one of [...steps, 'end', 'wait'] as const) {
          if (one === 'end') end.resolve(completed);
          if (one === 'stop') void tasks.stop(id);
          if (one === 'settleAgain' && tasks.get(id)?.status !== 'running')
            tasks.settle(id, { status: 'failed', exitCode: 1, summary: 'again' });
          if (one === 'wait') await settle();
          statuses.push(tasks.get(id)?.status ?? 'none');
        }
        expect(statuses.join(' ')).toMatch(/^(running )*completed( completed)*$/);
        expect(notified).toEqual([`task:${id}`]);
        expect(journal.filter(({ type }) => type === 'task.ended')).toHaveLength(1);
      }),
      { numRuns: 200 },
    );
  });

  it('whose process dies at any line of the journal is lost or told, never both and never neither', async () => {
    const { tasks, journal } = tasksWithActors();
    const end = deferred<BackgroundTaskEnd>();
    tasks.adopt(work(end.promise));
    end.resolve(completed);
    await settle();
    for (let cut = 1; cut <= journal.length; cut++) {
      const lines = journal.slice(0, cut).map((entry) => ({ kind: 'journal' as const, entry }));
      const { lostTasks, undeliveredNotifications } = resumeState({ lines, chain: [], sessionId: 's', cwd: '/' });
      expect(lostTasks.length + undeliveredNotifications.length).toBe(1);
    }
  });
});
