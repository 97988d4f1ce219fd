import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { text, toolUse } from '../../src/testing/index.js';
import type { AnyTool } from '../../src/tool/types.js';
import { scene, testTool } from '../support/sessions.js';

const rules = { permissions: { allow: ['Odd', 'Odd(x)', 'Echo'] } };
const fail = (message: string): never => {
  throw new Error(message);
};
const throws = () => fail('broken');
/** A tool from a program without types: what it is made of need not be what the types say. */
const oddTool = (parts: object): AnyTool => Object.assign({ ...testTool({ name: 'Odd' }) }, parts);

/** Runs the odd tool and an ordinary one in one turn; both must have a result, and the model must be asked again. */
async function runOdd(tool: AnyTool, options: { readonly hooks?: boolean } = {}) {
  const hooks = options.hooks === true ? { hooks: { PostToolUse: [{ hooks: [async () => ({})] }] } } : {};
  const made = await scene([[toolUse('Odd', {}), toolUse('Echo', {})], [text('ok')]], {
    tools: [tool, testTool({ name: 'Echo' })],
    ...rules,
    ...hooks,
  });
  const ended = await made.session.send('go').done;
  expect(ended).toMatchObject({ end: 'completed', text: 'ok' });
  expect([...made.results().keys()]).toEqual(['toolu_1_1', 'toolu_1_2']);
  expect(made.results().get('toolu_1_2')).toEqual({ text: 'Echo {}', isError: false });
  made.server.assertConsumed();
  return made.results().get('toolu_1_1');
}

describe('a tool that returns what no type allows', () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const nothing = { text: '(no output)', isError: false };
  const saying = (message: string) => ({ text: expect.stringContaining(message), isError: true });
  const unusable = 'Odd ran, but its output could not be turned into a result';

  it.each<[string, () => unknown, unknown]>([
    ['nothing', () => undefined, nothing],
    ['null', () => null, nothing],
    ['a bare string', () => 'x', nothing],
    ['no data', () => ({ data: undefined }), nothing],
    ['a function', () => ({ data: () => 1 }), nothing],
    ['a symbol', () => ({ data: Symbol('x') }), nothing],
    ['a circle', () => ({ data: circular }), saying(unusable)],
    ['a BigInt', () => ({ data: { deep: [10n] } }), saying(unusable)],
    ['data that throws when it is written as JSON', () => ({ data: { toJSON: () => fail('no JSON') } }), saying('no JSON')],
    [
      'data behind a getter that throws',
      () => ({
        get data() {
          return fail('no data');
        },
      }),
      saying('no data'),
    ],
    ['a proxy that throws at everything', () => new Proxy({}, { get: () => fail('trap'), has: () => fail('trap') }), saying('trap')],
    ['a context change that is no function', () => ({ data: 'fine', modify: 'x' }), { text: 'fine', isError: false }],
    ['a context change that throws', () => ({ data: 'fine', modify: () => throws() }), { text: 'fine', isError: false }],
  ])('%s: one result, and the loop goes on', async (_, make, expected) => {
    for (const hooks of [false, true]) expect(await runOdd(oddTool({ call: async () => make() }), { hooks })).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['an object without prototype', Object.create(null)],
    ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: () => throws() })],
    ['a circle', circular],
  ])('throws %s: an error result', async (_, thrown) => {
    const result = await runOdd(oddTool({ call: async () => Promise.reject(thrown) }));
    expect(result?.isError).toBe(true);
    expect(result?.text).not.toBe('');
  });

  it('50 MB of text, or a million numbers: the model gets a preview, the file has all of it', async () => {
    for (const data of ['x'.repeat(50_000_000), Array.from({ length: 1_000_000 }, (_, n) => n)]) {
      const result = await runOdd(oddTool({ call: async () => ({ data }) }));
      expect(result?.text).toMatch(/Output too large to show .* It was saved to: /);
      expect(result?.text.length).toBeLessThan(5_000);
    }
  });
});

describe('a part of a tool that breaks', () => {
  const ran = { text: 'Odd {}', isError: false };
  const refused = (message: string) => ({ text: expect.stringContaining(message), isError: true });

  it.each<[string, object, unknown]>([
    ['backfillObservableInput', { backfillObservableInput: throws }, refused('parsing the input failed: broken')],
    ['isConcurrencySafe', { isConcurrencySafe: throws }, ran],
    ['resourceKeys', { resourceKeys: throws }, ran],
    ['resourceKeys without an answer', { resourceKeys: () => undefined }, ran],
    ['isReadOnly', { isReadOnly: throws }, refused('gathering permission facts failed: broken')],
    ['isDestructive', { isDestructive: throws }, ran],
    ['requiresUserInteraction', { requiresUserInteraction: throws }, refused('gathering permission facts failed: broken')],
    ['preparePermissionMatcher', { preparePermissionMatcher: throws }, refused('gathering permission facts failed: broken')],
    ['timeoutMs', { timeoutMs: throws }, refused('calling the tool failed: broken')],
    ['timeoutMs that is no number', { timeoutMs: Number.NaN }, ran],
    [
      'timeoutMs beyond what a timer can hold',
      { timeoutMs: 2 ** 40, call: async () => ({ data: await new Promise((resolve) => setTimeout(resolve, 20, 'ran')) }) },
      { text: 'ran', isError: false },
    ],
    ['validateInput', { validateInput: throws }, refused('validating the input failed: broken')],
    ['validateInput without an answer', { validateInput: () => undefined }, ran],
    ['checkPermissions', { checkPermissions: throws }, refused('could not check its permissions: broken')],
    ['renderToolUseMessage', { renderToolUseMessage: throws }, ran],
    ['userFacingName', { userFacingName: throws }, ran],
    ['the mapper of results', { mapToolResultToToolResultBlockParam: throws }, refused('Odd ran, but its output')],
    ['a mapper without an answer', { mapToolResultToToolResultBlockParam: () => undefined }, refused('Odd ran, but its output')],
    ['a mapper that gives a number', { mapToolResultToToolResultBlockParam: () => ({ content: 5 }) }, refused('Odd ran, but its output')],
    ['a mapper that gives no blocks', { mapToolResultToToolResultBlockParam: () => ({ content: [null, 3] }) }, refused('Odd ran, but its')],
    ['a refinement', { inputSchema: z.object({}).refine(() => throws()) }, refused('parsing the input failed: broken')],
    ['an asynchronous refinement', { inputSchema: z.object({}).refine(async () => true) }, refused('validateInput')],
    ['a schema that gives a number', { inputSchema: z.object({}).transform(() => 5) }, refused('must be a JSON object')],
    [
      'a schema that gives what is no JSON',
      { inputSchema: z.preprocess(() => ({ n: 1n }), z.object({ n: z.bigint() })) },
      refused('BigInt'),
    ],
  ])('%s: the call has its result, and its sibling runs', async (_, parts, expected) => {
    expect(await runOdd(oddTool(parts))).toEqual(expected);
  });

  it('defaults and transforms of a schema reach the tool', async () => {
    const inputSchema = z.object({
      a: z
        .string()
        .default('four')
        .transform((word) => word.length),
    });
    expect((await runOdd(oddTool({ inputSchema })))?.text).toBe('Odd {"a":4}');
  });
});

describe('a check of a tool that answers what no type allows', () => {
  it.each<[string, unknown, string]>([
    ['a text', 'no', 'gave no verdict'],
    ['a verdict of another library', { result: false, message: 'no such file' }, 'no such file'],
    ['a refusal without a reason', { ok: false }, 'without a reason'],
    ['a refusal with an empty reason', { ok: false, message: '' }, 'without a reason'],
  ])('of its input, with %s: nothing runs, and the model is told so', async (_, verdict, words) => {
    const result = await runOdd(oddTool({ validateInput: async () => verdict, call: throws }));
    expect(result).toMatchObject({ isError: true });
    expect(result?.text).toContain(words);
  });

  it.each<[string, unknown, string]>([
    ['a word that is no verdict', { behavior: 'denied', reason: 'x' }, 'no verdict'],
    ['a text', 'deny', 'no verdict'],
    ['a refusal without a reason', { behavior: 'deny' }, 'Odd refuses this call'],
  ])('of its permissions, with %s: no rule lets it through', async (_, verdict, words) => {
    const result = await runOdd(oddTool({ checkPermissions: async () => verdict, call: throws }));
    expect(result).toMatchObject({ isError: true });
    expect(result?.text).toContain(words);
  });

  it('with nothing has no objection and no opinion', async () => {
    const nothing = async () => undefined;
    expect(await runOdd(oddTool({ validateInput: nothing, checkPermissions: nothing }))).toEqual({ text: 'Odd {}', isError: false });
  });
});

describe('a tool that cannot be offered', () => {
  it.each<[string, object, string]>([
    ['whose description breaks', { prompt: throws }, 'broken'],
    ['that cannot say whether it is there', { isEnabled: throws }, 'broken'],
    ['with a name that the API refuses', { name: 'bad name!' }, 'bad name!'],
    ['without a name', { name: '' }, 'name'],
    ['with too long a name', { name: 'n'.repeat(65) }, 'nnn'],
  ])('%s is left out with a warning, and none of the others', async (_, parts, warning) => {
    const { session, server, results } = await scene([[toolUse('Echo', {})], [text('ok')]], {
      tools: [oddTool(parts), testTool({ name: 'Echo' })],
      ...rules,
    });
    expect((await session.send('go').done).end).toBe('completed');
    expect(results().get('toolu_1_1')).toEqual({ text: 'Echo {}', isError: false });
    expect(session.warnings.join('\n')).toContain(warning);
    server.assertConsumed();
  });

  it('names of prototype members are ordinary names', async () => {
    const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
    const { session, server, results } = await scene([names.map((name) => toolUse(name, {})), [text('ok')]], {
      tools: names.map((name) => testTool({ name })),
      permissions: { allow: names.slice(0, 3), deny: ['hasOwnProperty'] },
    });
    expect((await session.send('go').done).end).toBe('completed');
    expect([...results().values()].map(({ isError }) => isError)).toEqual([false, false, false, true]);
    server.assertConsumed();
  });
});

describe('a session that loses its last tool', () => {
  it('goes on: calls of before stay in a request that the API takes, and a call of what is gone is told so', async () => {
    const { session, server, results } = await scene(
      [[toolUse('Echo', { n: 1 })], [text('one')], [toolUse('Echo', { n: 2 })], [toolUse('NoToolAvailable', {})], [text('two')]],
      { tools: [testTool({ name: 'Echo' })], permissions: { allow: ['Echo'] } },
    );
    expect((await session.send('go').done).text).toBe('one');
    session.updatePermissions([{ type: 'addRules', behavior: 'deny', rules: [{ toolName: 'Echo' }], destination: 'session' }]);
    expect((await session.send('again').done).text).toBe('two');
    expect(results().get('toolu_3_1')?.text).toContain('No such tool available: Echo');
    expect(results().get('toolu_4_1')?.text).toContain('No such tool available');
    server.assertConsumed();
  });
});
