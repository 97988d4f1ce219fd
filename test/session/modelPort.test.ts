import { EMPTY, Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ModelClient, ModelStreamEvent } from '../../src/model/types.js';
import { createSession } from '../../src/session/session.js';
import { block, type ScriptedModel, scriptedModel, simulatedClock, stop, text, toolUse } from '../../src/testing/index.js';
import { tempDir, testTool } from '../support/sessions.js';

const started: ModelStreamEvent = { type: 'message.started', messageId: 'msg_1', model: 'other' };
const said = (words: string): ModelStreamEvent => ({
  type: 'block.completed',
  index: 0,
  block: { type: 'text', text: words, citations: null },
});
const asked: ModelStreamEvent = {
  type: 'block.completed',
  index: 0,
  block: { type: 'tool_use', id: 'call_1', name: 'Echo', input: { n: 1 }, caller: { type: 'direct' } },
};
const ended: ModelStreamEvent = {
  type: 'stream.ended',
  end: { kind: 'complete', stopReason: 'end_turn', messageId: 'msg_1', model: 'other' },
};

/** A port of somebody else's that gives these streams, one for each request. */
function port(...streams: Observable<ModelStreamEvent>[]): ModelClient & { requests: number } {
  const client = {
    requests: 0,
    stream: () => streams[client.requests++] ?? EMPTY,
  };
  return client;
}

/** One that works on its requests in place. */
const careless = (inner: ModelClient): ModelClient => ({
  stream: (request, onDelta) => {
    const { messages, tools }: { messages: unknown; tools: unknown } = structuredClone({ ...request });
    const answer = inner.stream(structuredClone({ ...request }), onDelta);
    for (const list of [request.messages, request.tools]) if (Array.isArray(list)) for (const one of list) Reflect.set(one, 'extra', 1);
    for (const { content } of request.messages)
      if (Array.isArray(content)) for (const part of content) Reflect.set(part, 'cache_control', { type: 'ephemeral' });
    for (const list of [request.messages, request.tools]) if (Array.isArray(list)) list.push({ role: 'user', content: 'more' });
    expect([messages, tools]).not.toEqual([request.messages, request.tools]);
    return answer;
  },
});

function expectNothingAdded({ requests }: ScriptedModel): void {
  const sent = JSON.stringify(requests.map(({ body }) => body));
  for (const added of ['extra', 'cache_control', 'more']) expect(sent).not.toContain(`"${added}"`);
}

function sessionWith(client: ModelClient, model: Parameters<typeof createSession>[0] = {}) {
  const cwd = tempDir();
  return createSession({
    builtInTools: false,
    store: false,
    settings: { home: cwd },
    cwd,
    tools: [testTool({ name: 'Echo' })],
    permissions: { allow: ['Echo'] },
    ...model,
    model: { ...(typeof model.model === 'object' ? model.model : {}), client },
  });
}

describe('a model port of somebody else’s', () => {
  it('that completes without a word ends the query with the reason', async () => {
    const client = port(EMPTY);
    const session = sessionWith(client);
    expect(await session.send('go').done).toMatchObject({ end: 'modelError', reason: 'The model port completed without `stream.ended`.' });
    expect(client.requests).toBe(1);
    await session.close();
  });

  it('that completes without saying how keeps what was complete', async () => {
    const session = sessionWith(port(of(started, said('half of it'))));
    expect(await session.send('go').done).toMatchObject({ end: 'completed', text: 'half of it' });
    await session.close();
  });

  it('that gives a call only as its block has it run like any other', async () => {
    const session = sessionWith(port(of(started, asked, ended), of(started, said('ok'), ended)));
    expect((await session.send('go').done).text).toBe('ok');
    expect(session.messages[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'call_1', content: 'Echo {"n":1}' }]);
    await session.close();
  });

  it('that goes on after the end is not listened to', async () => {
    const session = sessionWith(port(of(started, said('ok'), ended, asked, ended)));
    expect((await session.send('go').done).text).toBe('ok');
    expect(session.messages).toHaveLength(2);
    await session.close();
  });

  it('that adds to its request in place spoils neither history nor tools', async () => {
    const inner = scriptedModel([[toolUse('Echo', { n: 1 }, { id: 'toolu_1' })], [text('ok')], [text('ok')]]);
    const session = sessionWith(careless(inner));
    expect((await session.send('go').done).text).toBe('ok');
    expect((await session.send('on').done).text).toBe('ok');
    expect(session.messages).toHaveLength(6);
    expectNothingAdded(inner);
    await session.close();
  });

  it('that does so for a subagent spoils neither its history nor its parent’s', async () => {
    const inner = scriptedModel([
      [toolUse('Agent', { description: 'a task', prompt: 'look' }, { id: 'toolu_1' })],
      [toolUse('Echo', { n: 1 }, { id: 'toolu_2' })],
      [text('seen')],
      [text('ok')],
    ]);
    const session = sessionWith(careless(inner), { builtInTools: ['Agent'] });
    expect((await session.send('go').done).text).toBe('ok');
    inner.assertConsumed();
    expectNothingAdded(inner);
    await session.close();
  });

  it('is let go of when the session closes', async () => {
    let isOpen = false;
    const session = sessionWith(
      port(
        new Observable(() => {
          isOpen = true;
          return () => {
            isOpen = false;
          };
        }),
      ),
    );
    const sending = session.send('go');
    for await (const { type } of sending) if (type === 'turn.started') break;
    expect(isOpen).toBe(true);
    await session.close();
    expect((await sending.done).end).toBe('aborted');
    expect(isOpen).toBe(false);
  });
});

describe('an API that says when to come back', () => {
  it('later than anybody waits: is not waited for, and the person is told when', async () => {
    const session = sessionWith(port(refusedFor(3_600_000)));
    const end = await session.send('go').done;
    expect(end).toMatchObject({ end: 'modelError' });
    expect(end.reason).toContain('come back in 60 min');
    await session.close();
  });

  it('within the limit that was set: is waited for as long as it says', async () => {
    const time = simulatedClock();
    const client = port(refusedFor(3_600_000), of(started, said('ok'), ended));
    const session = sessionWith(client, { clock: time, model: { retry: { longestRetryAfterMs: 7_200_000 } } });
    const sending = session.send('go');
    for await (const update of sending) {
      if (update.type !== 'model.retry') continue;
      expect(update.delayMs).toBe(3_600_000);
      break;
    }
    time.advance(3_600_000);
    expect((await sending.done).text).toBe('ok');
    await session.close();
  });
});

function refusedFor(retryAfterMs: number): Observable<ModelStreamEvent> {
  const error = {
    type: 'rate_limit_error',
    message: 'The rate limit of this API key is reached.',
    status: 429,
    retryable: true,
    retryAfterMs,
  };
  return of({ type: 'stream.ended', end: { kind: 'broken', error } });
}

describe('an answer that pauses after a compaction', () => {
  it('is sent back and goes on', async () => {
    const model = scriptedModel([[block({ type: 'compaction', content: 'what went before' }), stop('compaction')], [text('went on')]]);
    const session = sessionWith(model);
    expect(await session.send('go').done).toMatchObject({ end: 'completed', text: 'went on', turns: 2 });
    expect(session.messages[1]?.content).toEqual([{ type: 'compaction', content: 'what went before' }]);
    model.assertConsumed();
    await session.close();
  });

  it('again and again is not asked for ever', async () => {
    const again = () => [block({ type: 'compaction', content: 'the same' }), stop('compaction')];
    const model = scriptedModel(Array.from({ length: 20 }, again));
    const session = sessionWith(model);
    expect((await session.send('go').done).end).toBe('completed');
    expect(model.requests).toHaveLength(11);
    await session.close();
  });
});
