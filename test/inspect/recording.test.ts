import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { createMachine } from 'xstate';
import {
  encodeRecording,
  FlowIndex,
  NotAFlowError,
  parseFlowText,
  readFlow,
  readRecording,
  replayRecording,
  snapshotRecording,
  startRecorder,
} from '../../src/inspect/index.js';
import { flowText } from '../../src/inspect/protocol/flowText.js';
import type { PermissionDecision } from '../../src/permissions/types.js';
import { call, childOf, eventsOf, settle, startFlow } from './support/flow.js';
import { callMachine, parentMachine } from './support/machines.js';

const machines = [parentMachine, callMachine];
const newFile = () => join(mkdtempSync(join(tmpdir(), 'flow-')), 'deep', 'a.flow.jsonl.gz');

/** A flow with nested calls, a question, a timer and a slot used again. */
async function playFlow() {
  const flow = startFlow();
  const { actor, clock } = flow;
  for (const [slot, name] of [
    ['call-0', 'Bash'],
    ['call-1', 'Ask'],
    ['call-2', 'Denied'],
    ['call-3', 'Ask'],
  ] as const) {
    actor.send(call(slot, name));
    clock.advance(10);
    actor.send({ type: 'TO', slot, event: { type: 'START' } });
  }
  await settle();
  actor.send({ type: 'TO', slot: 'call-1', event: { type: 'ANSWER', allow: true } });
  await settle();
  clock.advance(60_000);
  actor.send(call('call-0', 'Read', { file_path: '/a' }));
  actor.send({ type: 'CLOSE' });
  return flow;
}

describe('recordings', () => {
  it('read back what was recorded, and written again are the same bytes', async () => {
    const flow = startFlow();
    const file = newFile();
    const recorder = startRecorder(flow.log, file);
    flow.actor.send(call('call-0', 'Bash'));
    flow.actor.send({ type: 'TO', slot: 'call-0', event: { type: 'START' } });
    await settle();
    await recorder.close();
    const recording = readRecording(file);
    expect(recording.warnings).toEqual([]);
    expect(recording.events).toEqual(flow.log.events(1));
    expect(recording.graphs.map(({ id }) => id)).toEqual(['executor', 'toolCall']);
    expect(flowText(recording)).toBe(gunzipSync(readFileSync(file)).toString('utf8'));
    expect(flowText(parseFlowText(flowText(snapshotRecording(flow.log))))).toBe(flowText(recording));
  });

  it('are for their owner’s eyes only', async () => {
    const file = newFile();
    await startRecorder(startFlow().log, file).close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('open with a warning when the file was cut anywhere', async () => {
    const { log } = await playFlow();
    const bytes = encodeRecording(snapshotRecording(log));
    const file = newFile();
    await startRecorder(log, file).close();
    for (const part of [0.3, 0.6, 0.9]) {
      writeFileSync(file, bytes.subarray(0, Math.floor(bytes.length * part)));
      const recording = readRecording(file);
      expect(recording.warnings[0]).toMatch(/cut short/);
      expect(recording.events).toEqual(log.events(1).slice(0, recording.events.length));
    }
    const text = flowText(snapshotRecording(log));
    const cut = parseFlowText(text.slice(0, -20));
    expect(cut.warnings).toEqual([expect.stringMatching(/ends in the middle of line \d+/)]);
    expect(cut.events).toHaveLength(log.lastSeq - 1);
  });

  it('open when they were packed again on their way, and as text that another system has written anew', async () => {
    const { log } = await playFlow();
    const recording = snapshotRecording(log);
    const text = flowText(recording);
    const file = join(mkdtempSync(join(tmpdir(), 'sixgates-')), 'f.flow.jsonl.gz');
    const forms = {
      'gzipped twice': gzipSync(encodeRecording(recording)),
      'with a byte order mark': `\ufeff${text}`,
      'with CRLF': text.replaceAll('\n', '\r\n'),
      'in UTF-16': Buffer.from(`\ufeff${text}`, 'utf16le'),
      'in UTF-16, big end first': Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    };
    for (const [form, bytes] of Object.entries(forms)) {
      writeFileSync(file, bytes);
      expect(readRecording(file), form).toEqual(recording);
      expect(readFlow(file), form).toEqual(recording);
    }
  });

  it('open up to the place where a packed file is damaged', async () => {
    const { log } = await playFlow();
    const file = join(mkdtempSync(join(tmpdir(), 'sixgates-')), 'f.flow.jsonl.gz');
    const packed = encodeRecording(snapshotRecording(log));
    const check = Buffer.from(packed);
    check.fill(0, check.length - 8, check.length - 4);
    writeFileSync(file, check);
    const whole = readRecording(file);
    expect(whole.events).toEqual(log.events(1));
    expect(whole.warnings).toEqual(['The packed file is damaged; what could be read is shown.']);
    writeFileSync(file, Buffer.concat([packed.subarray(0, packed.length / 2), Buffer.alloc(packed.length / 2, 0xff)]));
    const half = readRecording(file);
    expect(half.events.length).toBeGreaterThan(0);
    // The last lines are guesses of the unpacking; the first ones are not.
    expect(half.events[0]).toEqual(log.events(1)[0]);
    expect(half.warnings[0]).toMatch(/damaged/);
  });

  it('tell damaged and missing lines, and keep the rest', async () => {
    const { log } = await playFlow();
    const lines = flowText(snapshotRecording(log)).trimEnd().split('\n');
    const eventLines = lines.flatMap((line, index) => (/"seq":/.test(line) && index > 0 ? [index] : []));
    const [damaged, missing] = [eventLines[2] ?? 0, eventLines[6] ?? 0];
    const text = lines.map((line, index) => (index === damaged ? '{"type":"event","seq":"x"}' : index === missing ? '' : line)).join('\n');
    const recording = parseFlowText(text);
    expect(recording.warnings).toEqual([
      `Line ${damaged + 1} is no flow event and was left out.`,
      'Events 3 to 3 are missing.',
      'Events 7 to 7 are missing.',
    ]);
    expect(recording.events).toHaveLength(log.lastSeq - 2);
  });

  it('of the first format are read, and written in the one of today', () => {
    const body = (hash: string, text: string) => JSON.stringify({ type: 'body', hash, text });
    const old = [
      '{"type":"header","seq":0,"t":0,"format":"flow/1","name":"old","startedAt":1,"runtime":{},"redaction":{}}',
      body('b1', '{"type":"GO","n":1}'),
      '{"type":"event","actor":"a","source":null,"event":"GO","body":{"hash":"b1","bytes":19,"preview":"{\\"type\\":\\"GO\\",\\"n\\":1}"},"seq":1,"t":0}',
      body('b2', 'not JSON'),
      '{"type":"event","actor":"a","source":null,"event":"HO","body":{"hash":"b2","bytes":8,"preview":"not JSON"},"seq":2,"t":0}',
    ].join('\n');
    const recording = parseFlowText(old);
    expect(recording.warnings).toEqual([]);
    expect(recording.bodies.get('b1')).toBe('{"type":"GO","n":1}');
    const now = parseFlowText(flowText(recording));
    expect(now.warnings).toEqual([]);
    expect(now.header.format).toBe('flow/2');
    expect(now.events).toEqual(recording.events);
    expect([...now.bodies]).toEqual([['b1', '{"type":"GO","n":1}']]);
  });

  it('hold a body exactly as it was captured, numbers as keys and all, and its preview only once', async () => {
    const { log } = startFlow();
    const value = { b: [1e21, -0.5, 'ü›"'], 10: 'ten', 2: 'two', long: 'x'.repeat(300) };
    const ref = log.bodies.put(value);
    log.put({ type: 'event', actor: 'a', source: null, event: 'E', body: ref });
    const text = flowText(snapshotRecording(log));
    expect(text.split('x'.repeat(150))).toHaveLength(3);
    const recording = parseFlowText(text);
    expect(recording.bodies.get(ref.hash)).toBe(log.bodies.get(ref.hash));
    expect(recording.events.at(-1)).toEqual(log.events(1).at(-1));
  });

  it('hold on disk what is a second old, and all but the last 256 events, without being closed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { log, actor } = startFlow();
      const file = newFile();
      const recorder = startRecorder(log, file);
      const onDisk = () => (statSync(file, { throwIfNoEntry: false })?.size ? readRecording(file).events.length : 0);
      actor.send(call('call-0', 'Bash'));
      const before = log.lastSeq;
      vi.advanceTimersByTime(1000);
      await expect.poll(onDisk).toBe(before);
      for (let times = 0; log.lastSeq < before + 300; times++) log.put({ type: 'note', level: 'info', text: `note ${times}` });
      await expect.poll(onDisk).toBe(before + 256);
      await recorder.close();
      expect(onDisk()).toBe(before + 300);
    } finally {
      vi.useRealTimers();
    }
  });

  it('write an event as JSON.stringify does, but for the preview of a body that stands before it', () => {
    const { log, sink } = startFlow();
    const because = (reason: string): PermissionDecision => ({
      behavior: 'deny',
      reason,
      winner: { check: 'checkingDenyRule', behavior: 'deny', reason },
      trace: [{ check: 'checkingDenyRule', behavior: 'deny', reason }],
      shadowed: [],
      asked: false,
    });
    for (const reason of ['a "rule"', 'a "rule"', 'another']) {
      const fact = { toolUseId: `toolu_${reason}`, toolName: 'Bash', mode: 'default', decision: because(reason) } as const;
      sink.decision(fact);
      sink.decision({ ...fact, input: { command: reason } });
    }
    const decisions = eventsOf(log, 'decision');
    expect(decisions.map(({ decision }) => decision)).toEqual(
      ['a "rule"', 'a "rule"', 'another'].flatMap((reason) => [because(reason), because(reason)]),
    );
    // Kept once, however often it comes.
    expect(new Set(decisions.map(({ decision }) => decision)).size).toBe(2);
    const written = flowText(snapshotRecording(log)).split('\n');
    const brief = (key: string, value: unknown) => (key === 'preview' ? undefined : value);
    for (const event of log.events(1)) expect(written).toContain(JSON.stringify(event, brief));
  });

  it('of a later version keep the fields that this one does not know', () => {
    const text = [
      '{"type":"header","seq":0,"t":0,"format":"flow/2","name":"later","startedAt":1,"runtime":{},"redaction":{}}',
      '{"type":"event","actor":"a \\"b\\"","source":"c","event":"GO","later":1,"seq":1,"t":0}',
      '{"type":"transition","actor":"a","event":"GO","from":[],"to":["x"],"configuration":["x"],"edges":[{"id":"e","later":2}],"micro":0,"seq":2,"t":0}',
      '{"type":"transition","actor":"a","event":"GO","from":["x"],"to":[],"configuration":[],"edges":[],"micro":1,"initial":true,"later":3,"seq":3,"t":1}',
      '{"type":"context","actor":"a","body":{"hash":"gone","bytes":9,"preview":"\\"…","clipped":true},"later":null,"seq":4,"t":1}',
      '{"type":"actor.stopped","actor":"a","status":"done","later":[],"seq":5,"t":1}',
      '',
    ].join('\n');
    const recording = parseFlowText(text);
    expect(recording.warnings).toEqual([]);
    expect(flowText(recording)).toBe(text);
  });

  it('refuse what is no recording, naming the file', () => {
    expect(() => parseFlowText('{"hello":1}\n')).toThrow(NotAFlowError);
    expect(() =>
      parseFlowText('{"type":"header","seq":0,"t":0,"format":"flow/9","name":"x","startedAt":1,"runtime":{},"redaction":{}}'),
    ).toThrow(/flow\/9/);
    const file = join(mkdtempSync(join(tmpdir(), 'flow-')), 'x.gz');
    writeFileSync(file, 'nonsense');
    expect(() => readRecording(file)).toThrow(`Cannot open the recording ${file}: This is no flow recording`);
  });

  it('report a disk that cannot be written when they are closed, without harming the flow', async () => {
    const { log, actor } = startFlow();
    const directory = mkdtempSync(join(tmpdir(), 'flow-'));
    const recorder = startRecorder(log, directory);
    actor.send(call('call-0', 'Bash'));
    await expect(recorder.close()).rejects.toThrow(/Cannot write the recording/);
  });
});

describe('replay', () => {
  it('folds every actor to the recorded states and runs nothing', async () => {
    const { log } = await playFlow();
    let ran = 0;
    const counting = callMachine.provide({ actions: { rememberOutput: () => void ran++, allow: () => void ran++ } });
    const report = replayRecording(parseFlowText(flowText(snapshotRecording(log))), [parentMachine, counting]);
    expect(report).toMatchObject({ mismatches: [], skipped: [] });
    expect(report.steps).toBeGreaterThan(20);
    expect(ran).toBe(0);
  });

  it('names actor, step and event where a changed machine differs', async () => {
    const { log } = await playFlow();
    const changed = callMachine.provide({ guards: { isAllowed: () => false } });
    const { mismatches } = replayRecording(snapshotRecording(log), [parentMachine, changed]);
    expect(mismatches[0]).toMatchObject({ actor: 'executor/call-0', step: 1, event: 'START' });
    expect(mismatches[0]?.message).toBe(
      'executor/call-0, step 1 (START): recorded toolCall.executing.deciding → toolCall.executing.calling, now toolCall.executing.deciding → toolCall.executing.asking',
    );
  });

  it('notices a recording in which one state was changed', async () => {
    const { log } = await playFlow();
    const steps = eventsOf(log, 'transition').filter(
      ({ actor, to }) => actor === 'executor/call-1' && to[0] === 'toolCall.executing.asking',
    );
    const recording = snapshotRecording(log);
    const events = recording.events.map((event) =>
      event.type === 'transition' && event.seq === steps[0]?.seq ? { ...event, to: ['toolCall.denied'] } : event,
    );
    expect(replayRecording({ ...recording, events }, machines).mismatches).toMatchObject([{ actor: 'executor/call-1', step: 1 }]);
  });

  it('says which actors it could not replay, and why', async () => {
    const { log } = await playFlow();
    const report = replayRecording(snapshotRecording(log), [createMachine({ id: 'other' }), callMachine]);
    expect(report.skipped).toEqual([{ actor: 'executor', reason: 'no machine "executor" was given' }]);
  });
});

describe('time travel', () => {
  it('gives the state of any actor at any event as a fold of the flow up to there would', async () => {
    const { log } = await playFlow();
    const index = new FlowIndex();
    for (const event of log.events(0)) expect(index.add(event)).toBe(true);
    expect(log.events(0).some((event) => index.add(event))).toBe(false);
    const folded = new Map<string, { leaves: readonly string[]; status: string }>();
    for (const event of log.events(0)) {
      if (event.type === 'actor.started') folded.set(event.actor, { leaves: [], status: 'active' });
      if (event.type === 'transition') folded.set(event.actor, { leaves: event.to, status: 'active' });
      if (event.type === 'actor.stopped') folded.set(event.actor, { leaves: folded.get(event.actor)?.leaves ?? [], status: event.status });
      expect(index.actorsAt(event.seq)).toEqual([...folded.keys()]);
      for (const [actor, state] of folded) expect(index.at(actor, event.seq)).toMatchObject(state);
    }
    expect(index.at('executor/call-0', 0)).toBeUndefined();
    expect(index.at('nobody', log.lastSeq)).toBeUndefined();
  });

  it('ends where the living actors are', async () => {
    const { log, actor } = await playFlow();
    const index = new FlowIndex();
    for (const event of log.events(0)) index.add(event);
    expect(index.at('executor/call-0~2', log.lastSeq)?.leaves).toEqual(['toolCall.queued']);
    expect(childOf(actor, 'call-0').getSnapshot().value).toBe('queued');
    expect([...(index.at('executor', log.lastSeq)?.leaves ?? [])].sort()).toEqual(['executor.calls', 'executor.stream.closed']);
  });
});
