import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/json.js';
import type { SessionUpdate } from '../../src/session/updates.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, testTool } from '../support/sessions.js';

const seen: unknown[] = [];
const tool = testTool({
  name: 'Save',
  inputSchema: z.record(z.string(), z.unknown()),
  call: async (input) => {
    seen.push(structuredClone(input));
    return { data: 'saved' };
  },
});
const script = () => [[toolUse('Save', { path: 'a', list: ['one'] }, { id: 'toolu_save' })], [text('ok')]];
const allowed = { tools: [tool], permissions: { allow: ['Save'] } };
const original = { path: 'a', list: ['one'] };

/** What careless code does with an object that it was only shown. */
function scribble(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, entry] of Object.entries(value)) {
    scribble(entry);
    Reflect.set(value, key, '***');
  }
}

describe('what is shown of a call', () => {
  const shown: readonly [string, (update: SessionUpdate) => unknown][] = [
    ['the block', (update) => (update.type === 'block' && update.block.type === 'tool_use' ? update.block.input : undefined)],
    ['the accepted input', (update) => (update.type === 'call.input' ? update.input : undefined)],
    ['the result', (update) => (update.type === 'call.result' ? update.result : undefined)],
  ];
  it.each(shown)('to a listener, when it blots out %s: neither the call nor the history changes', async (_what, of) => {
    seen.length = 0;
    const { session, results } = await scene(script(), { ...allowed, onUpdate: (update) => scribble(of(update)) });
    await session.send('go').done;
    expect(seen).toEqual([original]);
    expect(session.messages[1]?.content).toMatchObject([{ type: 'tool_use', input: original }]);
    expect(results().get('toolu_save')).toEqual({ text: 'saved', isError: false });
  });

  it('to a person, when the question is scribbled on and allowed: what was decided about runs', async () => {
    seen.length = 0;
    const { session } = await scene(script(), {
      tools: [tool],
      interactive: true,
      onUpdate: (update) => {
        if (update.type !== 'permission.requested') return;
        const { callId, inputDigest, input } = update.prompt;
        scribble(input);
        session.answer(callId, inputDigest, { behavior: 'allow', source: { type: 'person', surface: 'test' } });
      },
    });
    await session.send('go').done;
    expect(seen).toEqual([original]);
  });

  it('to canUseTool, when it changes the input in place and allows: the input that was judged runs', async () => {
    seen.length = 0;
    const { session } = await scene(script(), {
      tools: [tool],
      canUseTool: async (_name, input) => {
        scribble(input);
        return { behavior: 'allow' };
      },
    });
    await session.send('go').done;
    expect(seen).toEqual([original]);
  });

  it('to the tool itself, when it works on its input in place: the history stays as it was sent', async () => {
    const careless = testTool({
      name: 'Save',
      call: async (input) => {
        scribble(input);
        return { data: 'saved' };
      },
    });
    const { session } = await scene(script(), { tools: [careless], permissions: { allow: ['Save'] } });
    await session.send('go').done;
    expect(session.messages[1]?.content).toMatchObject([{ type: 'tool_use', input: original }]);
  });
});

describe('an input that canUseTool puts in place of the call’s', () => {
  const answering = (updatedInput: JsonObject) => ({
    tools: [tool],
    canUseTool: async () => ({ behavior: 'allow', updatedInput }) as const,
  });

  it('is no change where it says the same', async () => {
    seen.length = 0;
    const { session, of } = await scene(script(), answering({ list: ['one'], path: 'a' }));
    await session.send('go').done;
    expect(seen).toEqual([original]);
    expect(of('notice')).toEqual([]);
  });

  it('runs as the JSON that is written down of it', async () => {
    seen.length = 0;
    const odd: object = Object.assign(new (class Input {})(), { path: new URL('https://a.example/'), list: undefined });
    const { session } = await scene(script(), answering({ ...original, ...odd }));
    await session.send('go').done;
    expect(seen).toEqual([{ path: 'https://a.example/' }]);
  });

  it('may come from a callback with the Agent SDK’s types', async () => {
    seen.length = 0;
    type SdkResult =
      | { behavior: 'allow'; updatedInput?: Record<string, unknown>; toolUseID?: string }
      | { behavior: 'deny'; message: string; interrupt?: boolean; toolUseID?: string };
    type SdkOptions = { signal: AbortSignal; toolUseID: string; agentID?: string; requestId: string };
    const ported = async (_tool: string, input: Record<string, unknown>, options: SdkOptions): Promise<SdkResult | null> => ({
      behavior: 'allow',
      updatedInput: { ...input, path: 'b' },
      toolUseID: options.toolUseID,
    });
    const { session } = await scene(script(), { tools: [tool], canUseTool: ported });
    await session.send('go').done;
    expect(seen).toEqual([{ ...original, path: 'b' }]);
  });

  it('that is no JSON is refused in words, and nothing runs', async () => {
    seen.length = 0;
    const odd: object = { path: 10n };
    const { session, results } = await scene(script(), answering({ ...original, ...odd }));
    expect((await session.send('go').done).end).toBe('completed');
    expect(seen).toEqual([]);
    expect(results().get('toolu_save')).toMatchObject({ isError: true });
    expect(results().get('toolu_save')?.text).toContain('Not executed: the input that the answer put in place');
  });
});

describe('the history as a session shows it', () => {
  it('is as it was when it was asked for', async () => {
    const { session } = await scene([[text('one')], [text('two')]]);
    await session.send('go').done;
    const before = session.messages;
    await session.send('on').done;
    expect(before).toHaveLength(2);
    expect(session.messages).toHaveLength(4);
  });
});
