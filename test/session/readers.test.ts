import { describe, expect, it } from 'vitest';
import { gate, text, toolUse } from '../../src/testing/index.js';
import { scene, testTool } from '../support/sessions.js';

const echoing = { tools: [testTool({ name: 'Echo' })], permissions: { allow: ['Echo'] } };

describe('whoever iterates a prompt', () => {
  it('leaves off and goes on later: nothing between is lost', async () => {
    const { session } = await scene([[toolUse('Echo', {})], [text('ok')]], echoing);
    const sending = session.send('go');
    await sending.done;
    const heard: string[] = [];
    for await (const update of sending) {
      heard.push(update.type);
      if (update.type === 'turn.started') break;
    }
    for await (const update of sending) heard.push(update.type);
    expect(heard.filter((type) => type === 'turn.started' || type === 'call.result' || type === 'query.ended')).toEqual([
      'turn.started',
      'call.result',
      'turn.started',
      'query.ended',
    ]);
  });

  it('does so twice at once: each update is read once, and both come to the end', async () => {
    const middle = gate();
    const { session } = await scene([[text('one'), middle, text('two')]]);
    const sending = session.send('go');
    const heard: string[] = [];
    const read = async () => {
      for await (const update of sending) heard.push(update.type);
    };
    const readers = [read(), read()];
    await middle.reached;
    middle.open();
    await Promise.all(readers);
    expect(heard.filter((type) => type === 'block')).toHaveLength(2);
    expect(heard.filter((type) => type === 'query.ended')).toHaveLength(1);
  });

  it('gives up while nothing comes: it is over at once, and what comes then is there for others', async () => {
    const middle = gate();
    const { session } = await scene([[middle, text('ok')]]);
    const sending = session.send('go');
    const reader = sending[Symbol.asyncIterator]();
    for (let type = ''; type !== 'turn.started'; ) type = (await reader.next()).value?.type ?? 'none';
    await middle.reached;
    const pending = reader.next();
    expect(await reader.return?.()).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
    middle.open();
    const heard: string[] = [];
    for await (const update of sending) heard.push(update.type);
    expect(heard).toContain('block');
    expect(heard.at(-1)).toBe('query.ended');
  });

  it('asks for several at once: they come in order', async () => {
    const { session } = await scene([[text('ok')]]);
    const reader = session.send('go')[Symbol.asyncIterator]();
    const first = await Promise.all([reader.next(), reader.next(), reader.next()]);
    const types = first.map(({ value }) => value?.type).filter((type) => type !== 'session.started');
    expect(types.slice(0, 2)).toEqual(['query.started', 'turn.started']);
  });
});
