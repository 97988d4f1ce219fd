import { type Attributes, type Context, type Span, type SpanOptions, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { tellClassic } from '../../src/inspect/adapters/classic.js';
import { traceFlow } from '../../src/inspect/adapters/openTelemetry.js';
import { tellStately } from '../../src/inspect/adapters/stately.js';
import { serveWire } from '../../src/inspect/adapters/wireServer.js';
import { call, childOf, settle, startFlow } from './support/flow.js';

type Message = Record<string, unknown> & { readonly type: string; readonly sessionId: string };

async function playedFlow() {
  const flow = startFlow();
  flow.actor.send(call('call-0', 'Bash', { command: 'ls', password: 'hunter2hunter2' }));
  flow.actor.send({ type: 'TO', slot: 'call-0', event: { type: 'START' } });
  await settle();
  return flow;
}

describe('the wire format of @statelyai/inspect', () => {
  it('tells actors, events and snapshots, what is past first', async () => {
    const flow = await playedFlow();
    const messages: Message[] = [];
    const stop = tellStately(flow.log, (text) => messages.push(JSON.parse(text)));
    flow.actor.send(call('call-1', 'Ask'));
    stop();
    flow.actor.send(call('call-2', 'Ask'));
    expect(new Set(messages.map(({ type }) => type))).toEqual(new Set(['@xstate.actor', '@xstate.event', '@xstate.snapshot']));
    const root = messages[0];
    expect(root).toMatchObject({ type: '@xstate.actor', name: 'executor', sessionId: 'executor', rootId: 'executor', id: null });
    expect(root).not.toHaveProperty('parentId');
    expect(JSON.parse(String(root?.definition))).toMatchObject({
      id: 'executor',
      type: 'parallel',
      states: { stream: { states: { closed: {} } } },
    });
    expect(messages.find(({ sessionId }) => sessionId === 'executor/call-0')).toMatchObject({ parentId: 'executor', rootId: 'executor' });
    const values = messages.flatMap(({ type, sessionId, snapshot }) =>
      type === '@xstate.snapshot' && sessionId === 'executor/call-0' && typeof snapshot === 'object' ? [snapshot] : [],
    );
    expect(values).toContainEqual(expect.objectContaining({ status: 'active', value: { executing: 'calling' } }));
    expect(values.at(-1)).toMatchObject({ status: 'done', value: 'completed', output: { output: 'ran Bash' } });
    expect(messages.some(({ sessionId }) => sessionId === 'executor/call-1')).toBe(true);
    expect(messages.some(({ sessionId }) => sessionId === 'executor/call-2')).toBe(false);
    expect(JSON.stringify(messages)).not.toContain('hunter2');
  });

  it('shows the value of a living actor as XState does', async () => {
    const flow = await playedFlow();
    flow.actor.send(call('call-1', 'Ask'));
    flow.actor.send({ type: 'TO', slot: 'call-1', event: { type: 'START' } });
    const last = new Map<string, unknown>();
    tellStately(flow.log, (text) => {
      const message = JSON.parse(text);
      if (message.snapshot) last.set(message.sessionId, message.snapshot.value);
    })();
    expect(last.get('executor')).toEqual(flow.actor.getSnapshot().value);
    expect(last.get('executor/call-1')).toEqual(childOf(flow.actor, 'call-1').getSnapshot().value);
  });
});

describe('the protocol of the classic @xstate/inspect', () => {
  it('registers at the first state, then tells states, events and the stop in XState 4’s words', async () => {
    const { log } = await playedFlow();
    const messages: Message[] = [];
    tellClassic(log, (text) => messages.push(JSON.parse(text)))();
    const own = messages.filter(({ sessionId }) => sessionId === 'executor/call-0');
    expect(own.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['service.register', 'service.state', 'service.event', 'service.stop']),
    );
    expect(own[0]).toMatchObject({ type: 'service.register', id: 'Bash', parent: 'executor' });
    expect(own.at(-1)?.type).toBe('service.stop');
    const machine = JSON.parse(String(own[0]?.machine));
    expect(machine).toMatchObject({ id: 'toolCall', initial: 'queued', predictableActionArguments: true });
    const { deciding, asking, calling } = machine.states.executing.states;
    expect(deciding.always[0]).toMatchObject({ target: ['#toolCall.denied'], cond: { type: 'xstate.guard', name: 'isDenied' } });
    expect(Object.keys(asking.on)).toContain('xstate.after(60000)#toolCall.executing.asking');
    expect(Object.keys(calling.on)).toEqual(['done.invoke.run', 'error.platform.run']);
    const state = JSON.parse(String(own[0]?.state));
    expect(state).toMatchObject({
      value: 'queued',
      done: false,
      _event: { name: 'xstate.init', $$type: 'scxml', data: { type: 'xstate.init' } },
    });
    const done = own.find(({ type, event }) => type === 'service.event' && String(event).includes('done.invoke.run'));
    expect(JSON.parse(String(done?.event))).toMatchObject({ name: 'done.invoke.run', origin: 'executor/call-0/run' });
  });
});

describe('the wire server', () => {
  const connectTo = (url: string, headers: Record<string, string> = {}): Promise<string> =>
    new Promise((resolve) => {
      const socket = new WebSocket(url, { headers });
      socket.on('error', () => {});
      socket.once('unexpected-response', (_request, response) => resolve(String(response.statusCode)));
      socket.once('message', (data) => {
        socket.terminate();
        resolve(String(data));
      });
    });

  it('tells whoever has the address, and refuses a guess, a foreign page and a forged host', async () => {
    const { log } = await playedFlow();
    const server = await serveWire(log, { protocol: 'stately', allowedOrigins: ['https://stately.ai'] });
    expect(JSON.parse(await connectTo(server.url))).toMatchObject({ type: '@xstate.actor' });
    expect(JSON.parse(await connectTo(server.url, { origin: 'https://stately.ai' }))).toMatchObject({ type: '@xstate.actor' });
    expect(await connectTo(`${server.url}x`)).toBe('403');
    expect(await connectTo(server.url, { origin: 'https://evil.example' })).toBe('403');
    expect(await connectTo(server.url, { host: 'evil.example' })).toBe('403');
    await server.close();
  });
});

describe('OpenTelemetry spans', () => {
  interface Recorded {
    readonly name: string;
    readonly attributes: Attributes;
    readonly parent: Span | undefined;
    readonly span: Span;
    status: number;
    end: unknown;
    start: unknown;
  }
  /** A tracer that keeps its spans. */
  function memoryTracer() {
    const spans: Recorded[] = [];
    const startSpan = (name: string, options: SpanOptions = {}, around?: Context): Span => {
      const attributes: Attributes = { ...options.attributes };
      const span = trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: String(spans.length).padStart(16, '0'), traceFlags: 1 });
      const recorded: Recorded = {
        name,
        attributes,
        parent: around && trace.getSpan(around),
        span,
        status: 0,
        end: undefined,
        start: options.startTime,
      };
      span.setAttributes = (more) => {
        Object.assign(attributes, more);
        return span;
      };
      span.setStatus = ({ code }) => {
        recorded.status = code;
        return span;
      };
      span.end = (time) => {
        recorded.end = time ?? 'now';
      };
      spans.push(recorded);
      return span;
    };
    const startActiveSpan = (): never => {
      throw new Error('not used');
    };
    return { spans, tracer: { startSpan, startActiveSpan } };
  }

  it('follow the GenAI conventions and close with their actors', async () => {
    const { spans, tracer } = memoryTracer();
    const { log, sink, actor } = startFlow();
    const stop = traceFlow(log, { tracer });
    log.put({ type: 'actor.started', actor: 'query', parent: null, kind: 'query', machine: null, name: 'query', label: '' });
    sink.modelRequest({ requestId: 'model:1', model: 'claude-x', body: {} });
    sink.modelEnd({ requestId: 'model:1', model: 'claude-x', stopReason: 'tool_use', inputTokens: 10, outputTokens: 5 });
    actor.send(call('call-0', 'Denied', { command: 'ls' }));
    const toolUseId = 'toolu_call-0_Denied';
    const winner = { check: 'checkingDenyRule', behavior: 'deny', reason: 'Matches' } as const;
    const decision = { behavior: 'deny', reason: 'Matches', winner, trace: [winner], shadowed: [], asked: false } as const;
    sink.decision({ toolUseId, toolName: 'Denied', mode: 'default', decision });
    sink.result({ toolUseId, toolName: 'Denied', outcome: { kind: 'denied', isError: true, summary: 'no' }, body: 'no' });
    actor.send({ type: 'TO', slot: 'call-0', event: { type: 'START' } });
    stop();
    expect(spans.map(({ name }) => name)).toEqual(['invoke_agent', 'chat claude-x', 'execute_tool Denied']);
    const [query, chat, tool] = spans;
    expect(chat?.parent).toBe(query?.span);
    expect(chat?.attributes).toMatchObject({ 'gen_ai.usage.input_tokens': 10, 'gen_ai.response.finish_reasons': ['tool_use'] });
    expect(tool?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'Denied',
      'gen_ai.tool.call.id': toolUseId,
      'sixgates.permission.behavior': 'deny',
      'sixgates.permission.check': 'checkingDenyRule',
      'sixgates.outcome': 'denied',
    });
    expect(JSON.stringify(tool?.attributes)).not.toContain('secret-plans');
    expect(tool?.status).toBe(2);
    expect(spans.every(({ end }) => end !== undefined)).toBe(true);
    expect(tool?.end).toBe(1_000_000);
  });

  it('keep the requests of a subagent below its own query, and those of others apart', () => {
    const { spans, tracer } = memoryTracer();
    const { log, sink } = startFlow();
    const stop = traceFlow(log, { tracer });
    const start = (actor: string, kind: 'query' | 'toolCall' | 'session', parent: string | null, more = {}) =>
      log.put({ type: 'actor.started', actor, parent, kind, machine: null, name: kind, label: '', ...more });
    start('s/query', 'query', null);
    for (const [id, at] of [
      ['a1', 's/query/call-0'],
      ['a2', 's/query/call-1'],
    ] as const) {
      start(at, 'toolCall', 's/query', { toolUseId: id });
      start(`${at}/explore`, 'session', at, { agent: id });
      start(`${at}/explore/query`, 'query', `${at}/explore`);
    }
    for (const agent of ['a1', 'a2', undefined]) {
      const whose = agent === undefined ? {} : { agent };
      sink.modelRequest({ requestId: `model:${agent}`, ...whose, model: `of ${agent ?? 'the session'}`, body: {} });
    }
    log.put({ type: 'actor.stopped', actor: 's/query/call-1/explore/query', status: 'done' });
    sink.modelRequest({ requestId: 'model:again', model: 'again', body: {} });
    stop();
    const parentOf = (name: string) => spans.findIndex(({ span }) => span === spans.find((one) => one.name === name)?.parent);
    expect(spans.map(({ name }) => name)).toEqual([
      'invoke_agent',
      'execute_tool toolCall',
      'invoke_agent',
      'execute_tool toolCall',
      'invoke_agent',
      'chat of a1',
      'chat of a2',
      'chat of the session',
      'chat again',
    ]);
    expect(['chat of a1', 'chat of a2', 'chat of the session', 'chat again'].map(parentOf)).toEqual([2, 4, 0, 0]);
  });

  it('carry arguments and results only when asked to', () => {
    const { spans, tracer } = memoryTracer();
    const { log, actor } = startFlow();
    traceFlow(log, { tracer, captureContent: true });
    actor.send(call('call-0', 'Bash', { command: 'ls' }));
    expect(String(spans[0]?.attributes['gen_ai.tool.call.arguments'])).toContain('"command":"ls"');
  });
});
