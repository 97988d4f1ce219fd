import { expect, it } from 'vitest';
import * as machines from '../../machines/index.js';
import { inspectFlow, replayRecording, snapshotRecording } from '../../src/inspect/index.js';
import { fromRecording, text, toolUse } from '../../src/testing/index.js';
import { deferred, scene, testTool } from '../support/sessions.js';

it('a subagent is part of the flow: below its call, with call ids of its own, folded by the same machines, and not played again', async () => {
  const { session, results } = await scene(
    (_, n) => {
      if (n === 1) return [toolUse('Agent', { description: 'a task', prompt: 'look' }, { id: 'toolu_same' })];
      if (n === 2) return [toolUse('Echo', { a: 1 }, { id: 'toolu_same' })];
      return [text(n === 3 ? 'Seen.' : 'Done.')];
    },
    { builtInTools: ['Agent'], tools: [testTool({ name: 'Echo' })], permissions: { allow: ['Echo'] } },
  );
  const flow = inspectFlow(session, { redaction: { env: {}, salt: 'fixed' } });
  await session.send('go').done;
  await session.close();
  flow.detach();
  const recording = snapshotRecording(flow.log);
  const { events } = recording;

  const sessions = events.flatMap((event) => (event.type === 'actor.started' && event.kind === 'session' ? [event] : []));
  const calls = events.flatMap((event) => (event.type === 'actor.started' && event.kind === 'toolCall' ? [event] : []));
  expect(calls.map(({ name }) => name)).toEqual(['Agent', 'Echo']);
  expect(sessions[1]).toMatchObject({
    parent: calls[0]?.actor,
    actor: `${calls[0]?.actor}/general-purpose`,
    label: 'general-purpose',
    agent: expect.any(String),
  });
  expect(calls[1]?.actor.startsWith(`${sessions[1]?.actor}/`)).toBe(true);
  const [outer, inner] = calls.map(({ toolUseId }) => toolUseId);
  expect(outer).toBe('toolu_same');
  expect(inner).toMatch(/^.+\/toolu_same$/);
  for (const type of ['decision', 'result'] as const)
    expect(events.flatMap((event) => (event.type === type ? [event.toolUseId] : [])).sort()).toEqual([inner, outer].sort());
  expect(events.filter((event) => event.type === 'actor.stopped').map((event) => event.actor)).toContain(sessions[1]?.actor);
  expect(flow.log.faults).toBe(0);

  const { mismatches, skipped, steps } = replayRecording(recording, Object.values(machines));
  expect({ mismatches, skipped }).toEqual({ mismatches: [], skipped: [] });
  expect(steps).toBeGreaterThan(20);
  expect([...results().values()]).toEqual([{ isError: false, text: 'Seen.' }]);

  const { queries } = fromRecording(recording);
  expect(queries.map(({ turns }) => turns.length)).toEqual([2]);
});

it('a subagent at work is found by an inspector that comes late, agents of agents too', async () => {
  const reached = deferred();
  const release = deferred();
  const { session } = await scene(
    (_, n) => {
      if (n <= 2) return [toolUse('Agent', { description: `level ${n}`, prompt: 'look' })];
      return n === 3 ? [toolUse('Wait')] : [text('Seen.')];
    },
    {
      builtInTools: ['Agent'],
      tools: [
        testTool({
          name: 'Wait',
          call: async () => {
            reached.resolve();
            await release.promise;
            return { data: 'waited' };
          },
        }),
      ],
      permissions: { allow: ['Wait'] },
    },
  );
  const { done } = session.send('go');
  await reached.promise;
  const flow = inspectFlow(session, { redaction: { env: {}, salt: 'fixed' } });
  const seen = () => flow.log.events(0).flatMap((event) => (event.type === 'actor.started' && event.late ? [event] : []));
  const calls = seen().filter(({ kind }) => kind === 'toolCall');
  expect(calls.map(({ name }) => name)).toEqual(['Agent', 'Agent', 'Wait']);
  for (const [index, call] of calls.entries()) {
    const above = calls[index - 1];
    if (above) expect(call.actor.startsWith(`${above.actor}/general-purpose/`)).toBe(true);
    expect(call.toolUseId?.split('/')).toHaveLength(index + 1);
  }
  release.resolve();
  await done;
  const results = flow.log.events(0).flatMap((event) => (event.type === 'result' ? [event.toolUseId] : []));
  expect(results).toEqual(calls.map(({ toolUseId }) => toolUseId).reverse());
  expect(flow.log.faults).toBe(0);
  flow.detach();
});
