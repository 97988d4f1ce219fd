import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import * as machines from '../../machines/index.js';
import {
  attachInspector,
  FlowIndex,
  inspectFlow,
  parseFlowText,
  regressionTest,
  replayRecording,
  snapshotRecording,
} from '../../src/inspect/index.js';
import { flowText } from '../../src/inspect/protocol/flowText.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';
import { eventsOf } from './support/flow.js';
import { openPage } from './support/page.js';
import { runTestFile } from './support/runTestFile.js';

const redaction = { env: {}, salt: 'fixed' };
const tools = [testTool({ name: 'Echo' }), testTool({ name: 'Push' })];
const permissions = { allow: ['Echo'], ask: ['Push'] };
const twoCalls = () => [[toolUse('Echo', { command: 'one' }), toolUse('Push', { command: 'two' })], [text('done')]];

/** A session whose one question is answered as soon as it is asked. */
async function answered(inspected: boolean) {
  const stage = await scene(twoCalls(), {
    tools,
    permissions,
    interactive: true,
    onUpdate: (update) => {
      if (update.type !== 'permission.requested') return;
      const { callId, inputDigest } = update.prompt;
      queueMicrotask(() =>
        stage.session.answer(callId, inputDigest, { behavior: 'allow', source: { type: 'person', surface: 'terminal' } }),
      );
    },
  });
  const system = inspected ? inspectFlow(stage.session, { redaction }) : undefined;
  await stage.session.send('go').done;
  return { ...stage, system };
}

describe('an inspected session', () => {
  it('has the same transcript as one that nobody watches', async () => {
    const [watched, alone] = [await answered(true), await answered(false)];
    expect(watched.session.messages).toEqual(alone.session.messages);
    expect(watched.results().get('toolu_1_2')).toMatchObject({ isError: false });
    expect(watched.system?.log.faults).toBe(0);
  });

  it('shows its actors as a tree with tools by name, and what each call was decided and gave', async () => {
    const { system, updates } = await answered(true);
    if (!system) throw new Error('not inspected');
    const { log } = system;
    const started = eventsOf(log, 'actor.started');
    const kinds = new Set(started.map(({ kind }) => kind));
    for (const kind of ['session', 'query', 'turn', 'executor', 'toolCall', 'permission', 'model'] as const) expect(kinds).toContain(kind);
    const calls = started.filter(({ kind }) => kind === 'toolCall');
    expect(calls.map(({ name, label, toolUseId }) => [name, label, toolUseId])).toEqual([
      ['Echo', 'one', 'toolu_1_1'],
      ['Push', 'two', 'toolu_1_2'],
    ]);
    expect(started.filter(({ kind }) => kind === 'turn').map(({ name, label }) => `${name} ${label}`)).toEqual(['turn #1', 'turn #2']);
    expect(started.some(({ actor }) => /\/\d+\./.test(actor))).toBe(false);
    expect(calls.every(({ parent }) => started.some(({ actor, kind }) => actor === parent && kind === 'executor'))).toBe(true);
    const decided = updates.flatMap((update) => (update.type === 'call.decision' ? [update.decision] : []));
    expect(eventsOf(log, 'decision').map(({ decision }) => decision)).toEqual(decided);
    expect(eventsOf(log, 'result').map(({ toolUseId, outcome }) => [toolUseId, outcome])).toEqual([
      ['toolu_1_1', 'succeeded'],
      ['toolu_1_2', 'succeeded'],
    ]);
    expect(eventsOf(log, 'approval').map(({ phase, behavior }) => [phase, behavior])).toEqual([
      ['asked', undefined],
      ['answered', 'allow'],
    ]);
    expect(eventsOf(log, 'model').map(({ phase }) => phase)).toEqual(['request', 'end', 'request', 'end']);
    expect(calls.every(({ actor }) => eventsOf(log, 'actor.stopped').some((stop) => stop.actor === actor))).toBe(true);
  });

  it('replays to the recorded states, every machine of it, without running anything', async () => {
    const { system } = await answered(true);
    if (!system) throw new Error('not inspected');
    const recording = parseFlowText(flowText(snapshotRecording(system.log)));
    const report = replayRecording(recording, Object.values(machines));
    expect(report.mismatches.map(({ message }) => message)).toEqual([]);
    expect(report.skipped).toEqual([]);
    expect(report.steps).toBeGreaterThan(20);
    const index = new FlowIndex();
    for (const event of recording.events) index.add(event);
    const root = eventsOf(system.log, 'actor.started')[0]?.actor ?? '';
    expect(index.at(root, index.lastSeq)?.leaves.length).toBeGreaterThan(0);
  });

  it('turns into a regression test for each of its machines, which passes in a process of its own', async () => {
    const { system } = await answered(true);
    if (!system) throw new Error('not inspected');
    const recording = snapshotRecording(system.log);
    const from = fileURLToPath(new URL('../../machines/index.ts', import.meta.url));
    const actors = eventsOf(system.log, 'actor.started').filter(
      ({ machine, toolUseId, late }) => machine !== null && toolUseId !== 'toolu_1_1' && !late,
    );
    const sources = actors.map(({ actor, machine }) =>
      regressionTest(recording, { runner: 'nodeTest', actor, machine: { from, name: `${machine}Machine` } }),
    );
    expect(new Set(actors.map(({ machine }) => machine)).size).toBe(5);
    const [toolCall, permission] = ['toolCall', 'permission'].map((id) => sources[actors.findIndex(({ machine }) => machine === id)] ?? '');
    for (const source of [toolCall, permission]) expect(runTestFile(source ?? '').output).toMatch(/# pass 1/);
  });

  it('is answered from a page, bound to the input that was shown', async () => {
    const stage = await scene(twoCalls(), { tools, permissions, interactive: true });
    const attached = await attachInspector(stage.session, { redaction });
    const page = await openPage(attached.server);
    const done = stage.session.send('go').done;
    await page.until(() => page.said.some(({ name, value }) => name === 'pendingApprovals' && Array.isArray(value) && value.length > 0));
    const welcome = await page.rpc.$call('hello', { client: 'test' });
    const question = welcome.ok ? welcome.value.approvals[0] : undefined;
    expect(question).toMatchObject({
      id: 'ask:toolu_1_2',
      toolName: 'Push',
      input: { command: 'two' },
      askedBy: { source: { type: 'rule' } },
    });
    const answer = { id: question?.id ?? '', behavior: 'deny', message: 'not today' } as const;
    expect(await page.rpc.$call('answer', { ...answer, inputDigest: 'x' })).toMatchObject({ ok: false, error: { code: 'stale' } });
    expect(await page.rpc.$call('answer', { ...answer, inputDigest: question?.inputDigest ?? '' })).toMatchObject({ ok: true });
    await done;
    expect(stage.results().get('toolu_1_2')).toMatchObject({ isError: true, text: expect.stringContaining('not today') });
    expect(stage.of('permission.resolved')).toMatchObject([{ behavior: 'deny' }]);
    await attached.close();
  });

  it('is not observed before the first page where that was asked for; the page finds what is there, and what follows', async () => {
    const stage = await scene(twoCalls(), { tools, permissions, interactive: true });
    const observe = vi.spyOn(stage.session.actor.system, 'inspect');
    const attached = await attachInspector(stage.session, { redaction, from: 'firstPage' });
    const begun = attached.system.log.lastSeq;
    const done = stage.session.send('go').done;
    await expect.poll(() => stage.of('permission.requested').length).toBe(1);
    expect(observe).not.toHaveBeenCalled();
    expect(attached.system.log.lastSeq).toBe(begun);

    const page = await openPage(attached.server);
    await openPage(attached.server);
    expect(observe).toHaveBeenCalledTimes(1);
    const welcome = await page.rpc.$call('hello', { client: 'test' });
    const question = welcome.ok ? welcome.value.approvals[0] : undefined;
    expect(question).toMatchObject({ id: 'ask:toolu_1_2', toolName: 'Push' });
    const late = eventsOf(attached.system.log, 'actor.started').filter(({ late }) => late);
    expect(late.map(({ machine }) => machine)).toEqual(
      expect.arrayContaining(['session', 'query', 'turn', 'executor', 'toolCall', 'permission']),
    );
    const yes = { id: question?.id ?? '', behavior: 'allow', inputDigest: question?.inputDigest ?? '' } as const;
    expect(await page.rpc.$call('answer', yes)).toMatchObject({ ok: true });
    await done;
    expect(
      eventsOf(attached.system.log, 'transition')
        .map(({ actor }) => actor)
        .some((actor) => actor.includes('call-')),
    ).toBe(true);
    await attached.close();
  });

  it('is observed at once where it is recorded, whenever a page comes', async () => {
    const stage = await scene(twoCalls(), { tools, permissions });
    const observe = vi.spyOn(stage.session.actor.system, 'inspect');
    const record = join(tempDir(), 'run.flow.jsonl.gz');
    const attached = await attachInspector(stage.session, { redaction, from: 'firstPage', record });
    expect(observe).toHaveBeenCalledTimes(1);
    await attached.close();
  });
});
