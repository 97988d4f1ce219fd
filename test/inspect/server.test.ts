import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { connect, type Socket } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { FlowOptions } from '../../src/inspect/index.js';
import { encodeRecording, type InspectorServer, openRecording, snapshotRecording, startInspectorServer } from '../../src/inspect/index.js';
import type { ExportRequest, RpcResult } from '../../src/inspect/protocol/rpc.js';
import { call, childOf, startFlow } from './support/flow.js';
import { openPage } from './support/page.js';
import { PLANTED, plantedEnv } from './support/secrets.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function pageDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'page-'));
  mkdirSync(join(dir, 'assets'));
  writeFileSync(join(dir, 'index.html'), '<!doctype html><html lang="en"><body><div id="root"></div></body></html>');
  writeFileSync(join(dir, 'assets', 'index.js'), 'globalThis.loaded = true;');
  return dir;
}

async function serve(options: FlowOptions = {}, gate = true) {
  const flow = startFlow(options, gate);
  const server = await startInspectorServer(flow, { pageDir: pageDir() });
  closers.push(() => server.close());
  return { ...flow, server };
}

/** A request exactly as written: fetch would not let a forged Host through. */
function get(server: InspectorServer, path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: server.port, path, method, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part) => {
        body += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    sent.on('error', reject).end();
  });
}

/** Status of a socket that the server refuses; 101 when it is let in. */
function upgradeStatus(server: InspectorServer, headers: Record<string, string>, protocols: string[], path = '/socket'): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, protocols, { headers });
    socket.once('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.on('error', () => {});
  });
}

function value<T>(result: RpcResult<T>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

describe('who may connect', () => {
  it('listens on 127.0.0.1 only', async () => {
    const { server } = await serve();
    const reached = (host: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ host, port: server.port, timeout: 2000 });
        const end = (how: string): void => {
          socket.destroy();
          resolve(how);
        };
        socket.once('connect', () => end('connected'));
        socket.once('error', () => end('refused'));
        socket.once('timeout', () => end('refused'));
      });
    // Whoever listens on all interfaces answers on every address of the loopback network, too.
    const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
    for (const host of new Set(['127.0.0.2', ...own])) expect(await reached(host)).toBe(host === '127.0.0.1' ? 'connected' : 'refused');
  });

  it('refuses foreign hosts, other methods and paths that lead out', async () => {
    const { server } = await serve();
    expect((await get(server, '/', { host: 'evil.example' })).status).toBe(403);
    expect((await get(server, '/', { host: `127.0.0.1.evil.example:${server.port}` })).status).toBe(403);
    expect((await get(server, '/', {}, 'POST')).status).toBe(405);
    for (const path of [
      '/..%2fpackage.json',
      '/../package.json',
      '/%2e%2e/package.json',
      '/assets/..%2f..%2fpackage.json',
      '//etc/passwd',
    ]) {
      expect((await get(server, path)).status).toBe(404);
    }
  });

  it('hands out the layout engine as its own package has it', async () => {
    const { server } = await serve();
    const engine = await get(server, '/elk-worker.min.js');
    expect(engine).toMatchObject({ status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } });
    const own = createRequire(import.meta.url).resolve('elkjs/lib/elk-worker.min.js');
    expect(engine.body === readFileSync(own, 'utf8')).toBe(true);
  });

  it('serves the page under a strict policy and with no CORS header', async () => {
    const { server } = await serve();
    const page = await get(server, '/');
    expect(page.status).toBe(200);
    expect(page.body).toContain('<div id="root">');
    expect(page.headers).toMatchObject({
      'content-security-policy': expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'$/),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(page.headers['content-security-policy']).not.toContain('unsafe');
    expect(Object.keys(page.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect((await get(server, '/assets/index.js')).body).toBe('globalThis.loaded = true;');
  });

  it('admits a socket only with its own origin, a known token and the sub-protocol', async () => {
    const { server } = await serve();
    const origin = `http://127.0.0.1:${server.port}`;
    const good = ['inspector.v1', `tok.${server.tokens.view}`];
    expect(await upgradeStatus(server, { origin }, good)).toBe(101);
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      {},
      { origin: 'https://evil.example', host: 'evil.example' },
    ] as Record<string, string>[]) {
      expect(await upgradeStatus(server, headers, good)).toBe(403);
    }
    expect(await upgradeStatus(server, { origin }, ['inspector.v1', 'tok.wrong'])).toBe(401);
    expect(await upgradeStatus(server, { origin }, ['inspector.v1'])).toBe(401);
    expect(await upgradeStatus(server, { origin }, [`tok.${server.tokens.view}`])).toBe(403);
    expect(await upgradeStatus(server, { origin }, good, '/other')).toBe(404);
    expect(server.audit.filter(({ method }) => method === 'connect').map(({ outcome }) => outcome)).toContain('401');
  });

  it('makes new tokens of 192 bits each time and puts them into the fragment, which is never sent', async () => {
    const [first, second] = [await serve(), await serve()];
    const tokens = [first, second].flatMap(({ server }) => [server.tokens.view, server.tokens.control]);
    expect(new Set(tokens).size).toBe(4);
    expect(tokens.every((token) => Buffer.from(token, 'base64url').length === 24)).toBe(true);
    expect(first.server.url).toBe(`http://127.0.0.1:${first.server.port}/#token=${first.server.tokens.control}`);
  });

  it('lets at most eight pages in', async () => {
    const { server } = await serve();
    for (let page = 0; page < 8; page++) await openPage(server);
    expect(await upgradeStatus(server, { origin: `http://127.0.0.1:${server.port}` }, ['inspector.v1', `tok.${server.tokens.view}`])).toBe(
      503,
    );
  });

  it('says clearly when the port is taken', async () => {
    const { server } = await serve();
    await expect(startInspectorServer(startFlow(), { port: server.port })).rejects.toThrow(`cannot listen on 127.0.0.1:${server.port}`);
  });
});

describe('what a page may do', () => {
  it('refuses every control method to a view token with a typed error, and the actor does not move', async () => {
    const { server, actor, gate } = await serve();
    const page = await openPage(server, server.tokens.view);
    actor.send(call('call-0', 'Ask'));
    const breakpoint = { id: 'b', enabled: true, origin: 'page', on: 'error' } as const;
    const refused = [
      await page.rpc.$call('pause'),
      await page.rpc.$call('resume'),
      await page.rpc.$call('step', {}),
      await page.rpc.$call('runToEnd', { actor: 'executor' }),
      await page.rpc.$call('setBreakpoints', { breakpoints: [breakpoint] }),
      await page.rpc.$call('answer', { id: 'ask:t', inputDigest: 'd', behavior: 'allow' }),
      await page.rpc.$call('export', { kind: 'recording' }),
    ];
    expect(refused.map((result) => (result.ok ? 'ok' : result.error.code))).toEqual(refused.map(() => 'forbidden'));
    expect(gate?.paused).toBe(false);
    expect(gate?.breakpoints).toEqual([]);
    expect(value(await page.rpc.$call('hello', { client: 'test' }))).toMatchObject({ scope: 'view', canPause: true });
    expect(server.audit.map(({ method, outcome }) => `${method} ${outcome}`)).toContain('pause forbidden');
  });

  it('checks every argument, and survives nonsense', async () => {
    const { server } = await serve();
    const page = await openPage(server);
    const raw = (method: string, ...args: unknown[]) => page.rpc.$callRaw({ method, args });
    for (const [method, ...args] of [
      ['listEvents', { fromSeq: -1, toSeq: 5 }],
      ['listEvents', { fromSeq: 'x', toSeq: 5 }],
      ['body', { hash: 5, offset: 0 }],
      ['pause', 'surplus'],
      ['setBreakpoints', { breakpoints: [{ id: 'b', on: 'nothing' }] }],
      ['answer', { id: 'a', inputDigest: 'd', behavior: 'allow', updatedInput: [] }],
    ] as [string, ...unknown[]][]) {
      expect(await raw(method, ...args)).toMatchObject({ ok: false, error: { code: 'invalidArguments' } });
    }
    for (const method of ['nonsense', 'constructor', '__proto__', 'toString']) {
      expect(await raw(method)).toMatchObject({ ok: false, error: { code: 'unknownMethod' } });
    }
    page.socket.send('{"t":"q"}');
    expect(await page.closed).toBe(1008);
    const other = await openPage(server);
    expect(await other.rpc.$call('graphs')).toMatchObject({ ok: true });
    other.socket.send('x'.repeat((1 << 20) + 1));
    expect(await other.closed).toBe(1009);
  });

  it('pauses, steps and resumes the flow, and tells every page', async () => {
    const { server, actor, gate } = await serve();
    const [page, other] = [await openPage(server), await openPage(server, server.tokens.view)];
    expect(value(await page.rpc.$call('pause'))).toMatchObject({ paused: true, why: { kind: 'manual', by: 'page-1' } });
    actor.send({ type: 'COMPLETED', slot: 'a' });
    actor.send({ type: 'COMPLETED', slot: 'b' });
    const state = value(await page.rpc.$call('step', {}));
    expect(state.held.map(({ event }) => event)).toEqual(['COMPLETED']);
    expect(actor.getSnapshot().context.done).toEqual(['a']);
    value(await page.rpc.$call('resume'));
    expect(actor.getSnapshot().context.done).toEqual(['a', 'b']);
    await other.until(() => other.said.some(({ name, value: held }) => name === 'held' && JSON.stringify(held).includes('"paused":false')));
    page.socket.close();
    await page.closed;
    expect(gate?.paused).toBe(false);
  });

  it('answers a question once: the first answer wins and the others are told by whom', async () => {
    const { server, desk } = await serve();
    const [page, other] = [await openPage(server), await openPage(server)];
    const answers: unknown[] = [];
    const take = (answer: unknown): undefined => {
      answers.push(answer);
    };
    const question = { toolName: 'Bash', title: 'git push', input: { command: 'git push' }, inputDigest: 'digest-1' };
    desk.open({ ...question, id: 'ask:t1', toolUseId: 't1' }, take);
    const settleSecond = desk.open({ ...question, id: 'ask:t2', toolUseId: 't2' }, take);
    await page.until(() =>
      page.said.some(({ name, value: list }) => name === 'pendingApprovals' && Array.isArray(list) && list.length === 2),
    );
    expect(await page.rpc.$call('answer', { id: 'ask:t1', inputDigest: 'other', behavior: 'allow' })).toMatchObject({
      ok: false,
      error: { code: 'stale' },
    });
    value(await page.rpc.$call('answer', { id: 'ask:t1', inputDigest: 'digest-1', behavior: 'allow' }));
    expect(await other.rpc.$call('answer', { id: 'ask:t1', inputDigest: 'digest-1', behavior: 'deny' })).toMatchObject({
      ok: false,
      error: { code: 'alreadyAnswered', message: 'Already answered: allow by inspector.' },
    });
    settleSecond('terminal', 'deny');
    expect(await page.rpc.$call('answer', { id: 'ask:t2', inputDigest: 'digest-1', behavior: 'allow' })).toMatchObject({
      ok: false,
      error: { code: 'alreadyAnswered', message: 'Already answered: deny by terminal.' },
    });
    expect(answers).toEqual([{ behavior: 'allow', source: { type: 'person', surface: 'inspector' } }]);
    await other.until(() => other.said.filter(({ name }) => name === 'approvalSettled').length === 2);
  });

  it('refuses to edit an input in which secrets are masked', async () => {
    const { desk } = startFlow();
    desk.open(
      {
        id: 'ask:t',
        toolUseId: 't',
        toolName: 'Bash',
        title: 'x',
        input: { command: 'curl -H "Authorization: Bearer abcdef0123456789xyz"' },
        inputDigest: 'd',
      },
      () => undefined,
    );
    expect(desk.pending[0]).toMatchObject({ editable: false });
    expect(desk.answer({ id: 'ask:t', inputDigest: 'd', behavior: 'allow', updatedInput: { command: 'x' } })?.code).toBe('refused');
  });
});

describe('what a page gets', () => {
  it('gets events in order, bodies only when it asks, in parts', async () => {
    const { server, actor, sink, log } = await serve();
    const page = await openPage(server);
    value(await page.rpc.$call('subscribe', { fromSeq: 0 }));
    actor.send(call('call-0', 'Bash'));
    const body = 'line of output\n'.repeat(70_000);
    sink.result({ toolUseId: 't', toolName: 'Bash', outcome: { kind: 'succeeded', isError: false, summary: 'done' }, body });
    await page.until(() => page.events.some(({ type }) => type === 'result'));
    expect(page.events.map(({ seq }) => seq)).toEqual(page.events.map((_, index) => index));
    expect(page.frames.join('').length).toBeLessThan(20_000);
    const result = page.events.find((event) => event.type === 'result');
    if (result?.type !== 'result') throw new Error('no result');
    let text = '';
    for (;;) {
      const part = value(await page.rpc.$call('body', { hash: result.body.hash, offset: text.length }));
      text += part.text;
      if (part.done) break;
    }
    expect(JSON.parse(text)).toBe(body);
    expect(value(await page.rpc.$call('listEvents', { fromSeq: 2, toSeq: 4 })).events).toEqual(log.events(2, 4));
    expect(await page.rpc.$call('body', { hash: 'unknown', offset: 0 })).toMatchObject({ ok: false, error: { code: 'notFound' } });
  });

  it('finds its place again after the server was restarted: no gap, no repeat', async () => {
    const { actor, server, ...flow } = await serve();
    const page = await openPage(server);
    value(await page.rpc.$call('subscribe', { fromSeq: 0 }));
    actor.send(call('call-0', 'Ask'));
    await page.until(() => page.events.length === flow.log.lastSeq + 1);
    const { port, tokens } = server;
    await server.close();
    expect(await page.closed).toBe(1006);
    actor.send({ type: 'TO', slot: 'call-0', event: { type: 'START' } });
    const again = await startInspectorServer({ ...flow }, { port, tokens, pageDir: pageDir() });
    closers.push(() => again.close());
    const back = await openPage(again);
    const last = page.events.at(-1)?.seq ?? 0;
    value(await back.rpc.$call('subscribe', { fromSeq: last + 1 }));
    await back.until(() => back.events.at(-1)?.seq === flow.log.lastSeq);
    expect([...page.events, ...back.events].map(({ seq }) => seq)).toEqual(Array.from({ length: flow.log.lastSeq + 1 }, (_, seq) => seq));
  });

  it('a page that does not read costs bounded memory and time, and learns what it missed', async () => {
    const { server, log, sink } = await serve({ maxEvents: 2000 });
    const socket = await stalledPage(server);
    closers.push(() => socket.destroy());
    const before = log.lastSeq;
    for (let turn = 0; turn < 400; turn++) {
      for (let n = 0; n < 50; n++) sink.note('info', 'x'.repeat(1900));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(log.lastSeq).toBe(before + 20_000);
    expect(log.events(0).length).toBeLessThanOrEqual(2500);
    let seen = '';
    const from = new Promise<number>((resolve) => {
      socket.on('data', (part) => {
        seen += part.toString('latin1');
        const gap = /"m":"gap","a":\[\{"from":(\d+)/.exec(seen);
        if (gap) resolve(Number(gap[1]));
      });
    });
    socket.resume();
    // 38 MB were produced; what was written to the socket before it was full is its limit, one batch and the kernel's buffers.
    expect((await from) * 1900).toBeLessThan(20_000_000);
  });
});

/** A page that subscribes and then stops reading: a bare socket, because `ws` always reads. */
async function stalledPage(server: InspectorServer): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  const host = `127.0.0.1:${server.port}`;
  socket.write(
    `GET /socket HTTP/1.1\r\nHost: ${host}\r\nOrigin: http://${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: inspector.v1, tok.${server.tokens.view}\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once('data', resolve));
  const message = Buffer.from('{"t":"q","i":"1","m":"subscribe","a":[{"fromSeq":0}]}');
  // A masked text frame with a mask of zeros.
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | message.length, 0, 0, 0, 0]), message]));
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  return socket;
}

describe('secrets', () => {
  it('planted in every feed appear in no frame, body, recording or export', async () => {
    const { server, actor, sink, desk, log } = await serve({ redaction: { env: plantedEnv, salt: 'fixed' } });
    const page = await openPage(server);
    value(await page.rpc.$call('subscribe', { fromSeq: 0 }));
    for (const [index, { text, value: secret }] of PLANTED.entries()) {
      const id = `t${index}`;
      actor.send(call(`call-${index}`, 'Ask', { command: text, headers: { authorization: secret }, nested: [{ password: secret }] }));
      const half = Math.floor(text.length / 2);
      sink.progress(id, { message: text.slice(0, half) });
      sink.progress(id, { message: `${text.slice(half)}\n` });
      sink.hookRun({ event: 'PreToolUse', name: 'h', handler: 'command', ms: 1, status: 'ok', output: text, notice: text }, id);
      sink.result({ toolUseId: id, toolName: 'Ask', outcome: { kind: 'failed', isError: true, summary: text }, body: new Error(text) });
      sink.modelEnd({ requestId: id, model: 'm', error: text });
      sink.note('warning', text);
      desk.open(
        { id: `ask:${id}`, toolUseId: id, toolName: 'Ask', title: text, input: { command: text }, inputDigest: 'd' },
        () => undefined,
      );
    }
    await page.until(() => page.events.at(-1)?.seq === log.lastSeq);
    const download = async (request: ExportRequest): Promise<string> => {
      const ready = value(await page.rpc.$call('export', request));
      let encoded = '';
      for (let done = false; !done; ) {
        const part = value(await page.rpc.$call('exportPart', { id: ready.id, offset: encoded.length }));
        encoded += part.text;
        done = part.done;
      }
      return encoded;
    };
    const unzip = (base64: string): string => gunzipSync(Buffer.from(base64, 'base64')).toString();
    const html = await download({ kind: 'html' });
    const exported = [
      unzip(await download({ kind: 'recording' })),
      unzip(/id="sixgates-recording">([^<]*)</.exec(html)?.[1] ?? ''),
      html,
      await download({ kind: 'nodeTest', actor: 'executor/call-3' }),
      await download({ kind: 'vitest', actor: 'executor' }),
      await download({ kind: 'chromeTrace' }),
      await download({ kind: 'mermaid' }),
      await download({ kind: 'scxml' }),
    ];
    const everything = [...page.frames, ...exported].join('\n');
    for (const { value: secret } of PLANTED) {
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(JSON.stringify(secret).slice(1, -1));
    }
    expect(everything).toContain('‹redacted');
  });
});

it('attaches and lets go while the flow runs on', async () => {
  const { attachInspector } = await import('../../src/inspect/index.js');
  const { actor } = startFlow();
  const attached = await attachInspector(actor, { pageDir: pageDir(), redaction: { env: {} } });
  const page = await openPage(attached.server);
  expect(value(await page.rpc.$call('hello', { client: 'test' }))).toMatchObject({ canPause: false, counters: { actors: 1 } });
  expect(await page.rpc.$call('pause')).toMatchObject({ ok: false, error: { code: 'unsupported' } });
  await attached.close();
  actor.send(call('call-0', 'Ask'));
  expect(childOf(actor, 'call-0').getSnapshot().value).toBe('queued');
});

it('shows a recording as it was recorded, holes and all', async () => {
  const { actor, log } = startFlow();
  actor.send(call('call-0', 'Ask'));
  const recording = snapshotRecording(log);
  const events = recording.events.filter(({ seq }) => seq !== 4);
  const file = join(mkdtempSync(join(tmpdir(), 'flow-')), 'a.flow.jsonl.gz');
  writeFileSync(file, encodeRecording({ ...recording, events }));
  const opened = await openRecording(file, { pageDir: pageDir() });
  closers.push(() => opened.close());
  const [port, token] = [Number(new URL(opened.url).port), new URL(opened.url).hash.slice('#token='.length)];
  const page = await openPage({ port, tokens: { view: '', control: token } });
  expect(value(await page.rpc.$call('hello', { client: 'test' }))).toMatchObject({
    header: recording.header,
    canPause: false,
    canAnswer: false,
    isRecorded: true,
    canRestart: false,
  });
  value(await page.rpc.$call('subscribe', { fromSeq: 0 }));
  await page.until(() => page.events.at(-1)?.type === 'note');
  expect(page.events.slice(0, -1)).toEqual([recording.header, ...events]);
  expect(page.events.at(-1)).toMatchObject({ text: 'Events 4 to 4 are missing.' });
  expect(value(await page.rpc.$call('graphs'))).toEqual(recording.graphs);
  const input = events.find((event) => event.type === 'actor.started' && event.input);
  const hash = input?.type === 'actor.started' ? (input.input?.hash ?? '') : '';
  expect(value(await page.rpc.$call('body', { hash, offset: 0 })).text).toBe(recording.bodies.get(hash));
});
