import { config } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, testTool } from '../support/sessions.js';

const echoing = { tools: [testTool({ name: 'Echo' })], permissions: { allow: ['Echo'] } };

afterEach(() => {
  config.onUnhandledError = null;
});

describe('a listener that throws', () => {
  const types = [
    'session.started',
    'query.started',
    'turn.started',
    'text.delta',
    'input.delta',
    'block',
    'model.ended',
    'call.input',
    'call.state',
    'call.decision',
    'calls.inProgress',
    'call.result',
    'query.ended',
    'session.ended',
  ];

  it.each(types)('at %s: changes nothing, and whoever else listens hears of it', async (type) => {
    const heard: string[] = [];
    const { session, server, results } = await scene([[toolUse('Echo', {})], [text('ok')]], {
      ...echoing,
      onUpdate: (update) => {
        if (update.type === type) throw new Error('a poor listener');
      },
    });
    session.updates$.subscribe((update) => {
      heard.push(update.type === 'notice' ? update.message : update.type);
    });
    expect(await session.send('go').done).toMatchObject({ end: 'completed', text: 'ok' });
    expect(results().get('toolu_1_1')).toEqual({ text: 'Echo {}', isError: false });
    await session.close();
    // Whoever comes late hears that the session has started, and nothing else of the past.
    if (type !== 'session.started') expect(heard).toContain(`onUpdate threw at ${type}: a poor listener`);
    expect(heard).toContain(type);
    server.assertConsumed();
  });

  it('of the observable: is reported in the manner of RxJS and harms nobody else', async () => {
    const unhandled: unknown[] = [];
    config.onUnhandledError = (error) => unhandled.push(error);
    const heard: string[] = [];
    const { session, server } = await scene([[toolUse('Echo', {})], [text('ok')]], echoing);
    session.updates$.subscribe(() => {
      throw new Error('a poor listener');
    });
    session.updates$.subscribe(({ type }) => heard.push(type));
    expect((await session.send('go').done).end).toBe('completed');
    await session.close();
    await new Promise((resolve) => setTimeout(resolve));
    expect(heard).toContain('query.ended');
    expect(unhandled.length).toBeGreaterThan(0);
    server.assertConsumed();
  });
});
