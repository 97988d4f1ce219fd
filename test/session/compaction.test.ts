import { describe, expect, it } from 'vitest';
import { checkPairing } from '../../src/messages/pairing.js';
import type { MessageParam } from '../../src/messages/types.js';
import { apiError, type ScriptedRequest, text, toolUse, usage } from '../../src/testing/index.js';
import { deferred, scene, tempDir, testTool } from '../support/sessions.js';

const said = ({ body }: ScriptedRequest): string => JSON.stringify(body.messages);
const asksForSummary = (request: ScriptedRequest): boolean => said(request).includes('Write a summary of this conversation so far.');
const count = ({ body }: ScriptedRequest): number => (Array.isArray(body.messages) ? body.messages.length : 0);

/** What the API would find, were the history sent with a further prompt. */
const problemsOf = (messages: readonly MessageParam[]) =>
  checkPairing(messages.at(-1)?.role === 'user' ? messages : [...messages, { role: 'user', content: 'go on' }]);

const big = testTool({ name: 'Big', call: async ({ n }) => ({ data: `${'x'.repeat(2_000)} result ${String(n)}` }) });
const options = { tools: [big], permissions: { allow: ['Big'] } };

describe('compaction', () => {
  it('sets in when the conversation nears the window, and the work goes on from the summary', async () => {
    let turns = 0;
    const { session, server, of } = await scene(
      (request) => {
        if (asksForSummary(request)) return [text('The user wants twelve results; some are in.')];
        turns++;
        return turns <= 12 ? [usage({ input_tokens: count(request) * 100 }), toolUse('Big', { n: turns })] : [text('twelve are in')];
      },
      { ...options, limits: { compactAtTokens: 1_000 } },
    );
    expect((await session.send('get twelve results').done).text).toBe('twelve are in');
    expect(of('session.compacted').length).toBeGreaterThan(0);
    expect(of('session.compacted')[0]).toMatchObject({ trigger: 'auto' });
    const after = server.requests[server.requests.findIndex(asksForSummary) + 1];
    expect(after && said(after)).toContain('some are in');
    expect(after && count(after)).toBeLessThan(8);
    // Old results were cleared before the summary was asked for.
    const asked = server.requests.find(asksForSummary);
    expect(asked && said(asked)).toContain('[Old tool result cleared]');
    expect(server.refusals).toEqual([]);
    expect(problemsOf(session.messages)).toEqual([]);
  });

  it('by hand waits for the running query, and a resumed session begins with the summary', async () => {
    const store = tempDir();
    const inside = deferred();
    const go = deferred();
    const slow = testTool({
      name: 'Slow',
      call: async () => {
        inside.resolve();
        await go.promise;
        return { data: 'slow result' };
      },
    });
    const script = (request: ScriptedRequest, n: number) =>
      asksForSummary(request) ? [text('Summary: plum.')] : n === 1 ? [toolUse('Slow')] : [text('done')];
    const { session, server, of, cwd } = await scene(script, { tools: [slow], permissions: { allow: ['Slow'] }, store });
    const sending = session.send('remember plum');
    await inside.promise;
    const compacting = session.compact('keep the fruit');
    expect(of('session.compacted')).toEqual([]);
    go.resolve();
    await sending.done;
    expect(await compacting).toBe(true);
    expect(server.requests.some((request) => said(request).includes('keep the fruit'))).toBe(true);
    expect(JSON.stringify(session.messages[0])).toContain('Summary: plum.');
    const live = session.messages;
    await session.close();
    const again = await scene([[text('plum')]], { store, cwd, resume: session.id });
    expect(again.session.messages).toEqual(live);
    await again.session.send('which fruit?').done;
    again.server.assertConsumed();
  });

  it('at any length and repeated, leaves a history that the API takes, with one summary at its beginning', async () => {
    for (let rounds = 1; rounds <= 6; rounds++) {
      let asked = 0;
      const { session, server } = await scene((request) => {
        if (asksForSummary(request)) return [text(`summary ${++asked}`)];
        const open = said(request).split('tool_result').length - 1;
        return open < rounds ? [toolUse('Big', { n: open }), toolUse('Big', { n: 100 + open })] : [text('done')];
      }, options);
      for (let prompts = 0; prompts < 3; prompts++) {
        await session.send(`prompt ${prompts}`).done;
        await session.compact();
        expect(problemsOf(session.messages)).toEqual([]);
      }
      const history = JSON.stringify(session.messages);
      expect(history.split('was summarised to make room').length - 1).toBe(1);
      expect(history.indexOf('was summarised to make room')).toBeLessThan(100);
      await session.send('still there?').done;
      expect(server.refusals).toEqual([]);
    }
  });

  it('asks with the tools of every other request, deferred ones and a stand-in for none included', async () => {
    const toolsOf = ({ body }: ScriptedRequest) => JSON.stringify(body.tools);
    const { session, server } = await scene(
      (request, n) =>
        asksForSummary(request) ? [text('SUMMARY')] : n === 1 ? [toolUse('ToolSearch', { query: 'select:Sleep' })] : [text('done')],
      { builtInTools: ['ToolSearch', 'Sleep', 'Glob'], model: { apiToolSearch: true }, env: { ENABLE_TOOL_SEARCH: 'true' } },
    );
    await session.send('go').done;
    expect(await session.compact()).toBe(true);
    const [turn, summary] = [server.requests.findLast((request) => !asksForSummary(request)), server.requests.find(asksForSummary)];
    expect(turn && toolsOf(turn)).toContain('"defer_loading":true');
    expect(summary && toolsOf(summary)).toBe(turn && toolsOf(turn));

    const bare = await scene(
      (request, n) => (asksForSummary(request) ? [text('SUMMARY')] : n === 1 ? [toolUse('Glob', { pattern: '*' })] : [text('done')]),
      {
        builtInTools: ['Glob'],
      },
    );
    await bare.session.send('go').done;
    bare.session.updatePermissions([{ type: 'addRules', rules: [{ toolName: 'Glob' }], behavior: 'deny', destination: 'session' }]);
    expect(await bare.session.compact()).toBe(true);
    expect(bare.server.requests.filter(asksForSummary).map(toolsOf)).toEqual([expect.stringContaining('NoToolAvailable')]);
  });

  it('asks with less when the whole does not fit any more', async () => {
    let refused = 0;
    const { session, server } = await scene((request) => {
      if (!asksForSummary(request)) return [text('answer')];
      return ++refused < 3 ? [apiError(400, 'invalid_request_error', { message: 'prompt is too long' })] : [text('short summary')];
    }, options);
    for (let n = 0; n < 4; n++) await session.send(`prompt ${n}`).done;
    expect(await session.compact()).toBe(true);
    const asked = server.requests.filter(asksForSummary);
    expect(asked).toHaveLength(3);
    expect(count(asked[2] ?? { n: 0, body: {}, headers: {} })).toBeLessThan(count(asked[0] ?? { n: 0, body: {}, headers: {} }));
    expect(JSON.stringify(session.messages[0])).toContain('short summary');
  });

  it('that fails leaves the history as it was, and the conversation goes on in full', async () => {
    const { session, of } = await scene(
      (request, n) => {
        if (asksForSummary(request)) return [apiError(401, 'authentication_error')];
        return n === 1 ? [usage({ input_tokens: 9_000 }), toolUse('Big', { n: 1 })] : [text('done')];
      },
      { ...options, limits: { compactAtTokens: 1_000 } },
    );
    expect((await session.send('go').done).text).toBe('done');
    expect(of('session.compacted')).toEqual([]);
    expect(
      of('notice')
        .map(({ message }) => message)
        .join(),
    ).toMatch(/could not be summarised.*goes on in full/);
    const before = session.messages;
    expect(await session.compact()).toBe(false);
    expect(session.messages).toEqual(before);
  });

  it('tells its hooks, and one of them may hold it back', async () => {
    const events: string[] = [];
    let holds = true;
    const { session } = await scene((request) => (asksForSummary(request) ? [text('the summary')] : [text('answer')]), {
      hooks: {
        PreCompact: [
          {
            hooks: [
              async (input) => {
                events.push(`pre ${String(input.trigger)}`);
                return holds ? { decision: 'block', reason: 'not now' } : {};
              },
            ],
          },
        ],
        PostCompact: [
          {
            hooks: [
              async (input) => {
                events.push(`post ${String(input.compact_summary).includes('the summary')}`);
                return {};
              },
            ],
          },
        ],
      },
    });
    for (let n = 0; n < 3; n++) await session.send(`prompt ${n}`).done;
    expect(await session.compact()).toBe(false);
    holds = false;
    expect(await session.compact()).toBe(true);
    expect(events).toEqual(['pre manual', 'pre manual', 'post true']);
  });
});

describe('budgets', () => {
  it('end a query by money, counted by the price of the model', async () => {
    const { session, server } = await scene((_, n) => [usage({ input_tokens: 10_000, output_tokens: 1_000 }), toolUse('Big', { n })], {
      ...options,
      prices: { claude: { input: 3, output: 15 } },
      limits: { maxBudgetUsd: 0.1 },
    });
    // Each request costs 0.03 + 0.015 dollars: the third passes the limit.
    expect(await session.send('go').done).toMatchObject({
      end: 'budgetExhausted',
      reason: expect.stringMatching(/\$0\.1 is used up \(\$0\.135/),
    });
    expect(server.requests).toHaveLength(3);
  });

  it('in dollars that nothing is counted by is told at once', async () => {
    const unpriced = await scene([], { limits: { maxBudgetUsd: 1 }, prices: { other: { input: 3, output: 15 } } });
    expect(unpriced.session.warnings).toEqual([expect.stringContaining('budget of $1 has no effect')]);
    const priced = await scene([], { limits: { maxBudgetUsd: 1 }, prices: { claude: { input: 3, output: 15 } } });
    expect(priced.session.warnings).toEqual([]);
  });
});
