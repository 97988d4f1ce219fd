import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildExport } from '../../src/inspect/exports/buildExport.js';
import { singleFileHtml } from '../../src/inspect/exports/html.js';
import { chromeTrace, type FlowRecording, parseFlowText, Redactor, regressionTest, snapshotRecording } from '../../src/inspect/index.js';
import { EMBEDDED_RECORDING_ID, type FlowEvent } from '../../src/inspect/protocol/flowEvents.js';
import { flowText } from '../../src/inspect/protocol/flowText.js';
import { decodeRecording } from '../../src/inspect/recording.js';
import { call, settle, startFlow } from './support/flow.js';
import { runTestFile } from './support/runTestFile.js';

const machinesFile = fileURLToPath(new URL('./support/machines.ts', import.meta.url));

async function recordedFlow(): Promise<FlowRecording> {
  const { actor, log, sink } = startFlow();
  actor.send(call('call-0', 'Ask', { command: '<img onerror=alert(1)> </script><script>alert(2)</script>' }));
  actor.send({ type: 'TO', slot: 'call-0', event: { type: 'START' } });
  actor.send({ type: 'TO', slot: 'call-0', event: { type: 'START' } });
  actor.send({ type: 'TO', slot: 'call-0', event: { type: 'ANSWER', allow: true } });
  await settle();
  sink.result({
    toolUseId: 'toolu_call-0_Ask',
    toolName: 'Ask',
    outcome: { kind: 'succeeded', isError: false, summary: 'done' },
    body: 'ok',
  });
  actor.send(call('call-1', 'Bash'));
  return parseFlowText(flowText(snapshotRecording(log)));
}

describe('regression tests made of a recording', () => {
  const options = { runner: 'nodeTest', actor: 'executor/call-0', machine: { from: machinesFile, name: 'callMachine' } } as const;

  it('pass in a fresh process, without inspector and network', async () => {
    const source = regressionTest(await recordedFlow(), options);
    expect([...source.matchAll(/from (['"])(.*?)\1/g)].map((match) => match[2])).toEqual([
      'node:assert/strict',
      'node:test',
      'xstate',
      machinesFile,
    ]);
    const { ok, output } = runTestFile(source);
    expect(output).toMatch(/# pass 1/);
    expect(ok).toBe(true);
  });

  it('fail naming the step when one expected state is changed', async () => {
    const source = regressionTest(await recordedFlow(), options);
    const { ok, output } = runTestFile(source.replace('"toolCall.completed"', '"toolCall.failed"'));
    expect(ok).toBe(false);
    expect(output).toMatch(/step 4 \(xstate\.done\.actor\.run\)/);
  });

  it('know where the library’s own machines come from', async () => {
    const context = { redactor: new Redactor({ env: {} }), page: () => new Map() };
    const made = buildExport(await recordedFlow(), { kind: 'nodeTest', actor: 'executor/call-0' }, context);
    expect(made).toMatchObject({ text: expect.stringContaining('import { toolCallMachine as machine } from "sixgates";') });
  });

  it('are made of the first machine below one that had begun before it was inspected, and of the one a promise works for', async () => {
    const context = { redactor: new Redactor({ env: {} }), page: () => new Map() };
    const recording = await recordedFlow();
    const events = recording.events.map(
      (event): FlowEvent => (event.type === 'actor.started' && event.actor === 'executor' ? { ...event, late: true } : event),
    );
    const of = (actor: string | undefined, kind: 'nodeTest' | 'mermaid' = 'nodeTest') =>
      buildExport({ ...recording, events }, { kind, ...(actor === undefined ? {} : { actor }) }, context);
    const ofTheCall = { text: expect.stringContaining('test("recorded flow: executor/call-0"') };
    expect(of(undefined)).toMatchObject(ofTheCall);
    expect(of('executor')).toMatchObject(ofTheCall);
    const run = events.find(
      (event) => event.type === 'actor.started' && event.machine === null && event.actor.startsWith('executor/call-0/'),
    );
    expect(of(run?.type === 'actor.started' ? run.actor : '')).toMatchObject(ofTheCall);
    expect(of('executor', 'mermaid')).toMatchObject({ filename: expect.stringContaining('.executor.mmd') });
    expect(of('nobody')).toMatchObject({ code: 'unsupported', message: expect.stringContaining('nobody') });
    const alone = events.filter((event) => event.type !== 'actor.started' || event.actor === 'executor');
    expect(buildExport({ ...recording, events: alone }, { kind: 'nodeTest' }, context)).toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/Choose a machine below it, or attach the inspector before/),
    });
  });

  it('exist for Vitest too', async () => {
    const source = regressionTest(await recordedFlow(), { ...options, runner: 'vitest' });
    expect(source).toContain("import { expect, test } from 'vitest';");
    expect(source).not.toContain('node:test');
  });

  it('are refused, in words, where the recording does not hold enough', async () => {
    const recording = await recordedFlow();
    expect(() => regressionTest(recording, { ...options, actor: 'nobody' })).toThrow('holds no start of the actor "nobody"');
    expect(() => regressionTest({ ...recording, bodies: new Map() }, options)).toThrow('lacks a body');
    const context = { redactor: new Redactor({ env: {} }), page: () => new Map() };
    const events = recording.events.map((event): FlowEvent => (event.type === 'actor.started' ? { ...event, machine: 'mine' } : event));
    const unknown = { ...recording, events };
    expect(buildExport(unknown, { kind: 'vitest', actor: 'executor/call-0' }, context)).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('machineModules'),
    });
  });
});

describe('Chrome traces', () => {
  interface Traced {
    readonly ph: string;
    readonly cat?: string;
    readonly id?: string;
    readonly ts?: number;
  }
  const check = (recording: FlowRecording): void => {
    const { traceEvents }: { traceEvents: Traced[] } = JSON.parse(chromeTrace(recording));
    const timed = traceEvents.filter(({ ph }) => ph !== 'M');
    const open = new Set<string>();
    let last = 0;
    for (const { ph, cat, id, ts } of timed) {
      expect(ts).toBeGreaterThanOrEqual(last);
      last = ts ?? 0;
      const key = `${cat} ${id}`;
      if (ph === 'b') {
        expect(open.has(key)).toBe(false);
        open.add(key);
      } else expect(open.delete(key)).toBe(true);
    }
    expect(open.size).toBe(0);
    expect(timed).toHaveLength(2 * recording.events.filter(({ type }) => type === 'actor.started').length);
  };

  it('have one end for each begin, in order of time', async () => {
    check(await recordedFlow());
  });

  it('never have a negative bar, however times are missing or out of order', async () => {
    const recording = await recordedFlow();
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: recording.events.length, maxLength: recording.events.length }),
        fc.integer({ min: 0, max: 100 }),
        (times, lost) => {
          const events = recording.events
            .map((event, index): FlowEvent => ({ ...event, t: times[index] ?? 0 }))
            .filter((event, index) => event.type !== 'actor.stopped' || index % 100 !== lost % 7);
          check({ ...recording, events });
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('a recording in one HTML file', () => {
  const page = new Map([
    [
      '/index.html',
      {
        type: 'text/html',
        bytes: Buffer.from(
          '<!doctype html><html lang="en"><head><script type="module" crossorigin src="/assets/index-1.js"></script><link rel="stylesheet" crossorigin href="/assets/index-1.css"></head><body><div id="root"></div><script type="application/json" id="layouts">{"a":1}</script></body></html>',
        ),
      },
    ],
    ['/assets/index-1.js', { type: 'text/javascript', bytes: Buffer.from('const s = "</script>$&$1"; globalThis.s = s;') }],
    ['/assets/index-1.css', { type: 'text/css', bytes: Buffer.from('body{color:red}') }],
  ]);

  it('holds page and recording, and loads nothing', async () => {
    const recording = await recordedFlow();
    const html = singleFileHtml(recording, page);
    expect(html).not.toMatch(/\bsrc=|href="(?!data:,)/);
    const embedded = new RegExp(`<script type="text/plain" id="${EMBEDDED_RECORDING_ID}">([^<]*)</script>`).exec(html)?.[1] ?? '';
    expect(decodeRecording(Buffer.from(embedded, 'base64'))).toEqual(recording);
    expect(html).toContain('<div id="root"></div><script type="application/json" id="layouts">{"a":1}</script>');
    expect(html).toContain('"<\\/script>$&$1"');
  });

  it('has a policy that admits exactly its own script and styles', async () => {
    const html = singleFileHtml(await recordedFlow(), page);
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1] ?? '';
    expect(policy).not.toContain('unsafe');
    for (const [, code] of html.matchAll(/<(?:script type="module"|style)>([\s\S]*?)<\/(?:script|style)>/g)) {
      expect(policy).toContain(
        createHash('sha256')
          .update(code ?? '')
          .digest('base64'),
      );
    }
  });

  it('says what to do when the page is not built', async () => {
    expect(
      buildExport(await recordedFlow(), { kind: 'html' }, { redactor: new Redactor({ env: {} }), page: () => new Map() }),
    ).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('npm run build'),
    });
  });
});

describe('the last look before an export leaves', () => {
  it('refuses what still looks like a secret, unless told otherwise, and counts the marks', async () => {
    const recording = await recordedFlow();
    const leaky = {
      ...recording,
      bodies: new Map(
        [...recording.bodies].map(([hash]) => [hash, '{"key":"AKIAIOSFODNN7EXAMPLE","other":"‹redacted jwt len=9 #abcdef›"}']),
      ),
    };
    const context = { redactor: new Redactor({ env: {} }), page: () => new Map() };
    expect(buildExport(leaky, { kind: 'recording' }, context)).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('aws-key'),
    });
    const made = buildExport(leaky, { kind: 'recording', allowFindings: true }, context);
    expect(made).toMatchObject({ filename: 'test-flow.flow.jsonl.gz', encoding: 'base64' });
    expect('redacted' in made && made.redacted[0]?.rule).toBe('jwt');
  });
});
