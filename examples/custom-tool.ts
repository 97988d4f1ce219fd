/**
 * A tool with everything a careful one has: a schema, a check of its own, progress, a result for the model that differs from the value,
 * and rules that speak of its inputs. Run it: `ANTHROPIC_API_KEY=… npx tsx examples/custom-tool.ts`
 */
import { buildTool, createSession, ToolFailure } from 'sixgates';
import { z } from 'zod';

const stock = new Map([
  ['pencil', 12],
  ['rubber', 3],
]);

const order = buildTool({
  name: 'Order',
  description: 'Orders an article from the stationery store. Fails when there are not enough of it.',
  inputSchema: z.strictObject({
    article: z.string().describe('Name of the article, in the singular'),
    count: z.number().int().positive().describe('How many to order'),
  }),
  // Gate 3: what a schema cannot say. The model reads the message and may try again.
  validateInput: ({ article }) =>
    stock.has(article) ? { ok: true } : { ok: false, message: `There is no ${article}. There are: ${[...stock.keys()].join(', ')}.` },
  // Gate 5: rules may name a part of the input, as in Order(pencil).
  preparePermissionMatcher:
    ({ article }) =>
    (content) =>
      content === article,
  // Orders of different articles may run beside each other, two of the same never.
  isConcurrencySafe: () => true,
  resourceKeys: ({ article }) => [`stock:${article}`],
  timeoutMs: 10_000,
  // Gate 6.
  call: async ({ article, count }, { signal }, onProgress) => {
    onProgress({ message: `counting each ${article}` });
    signal.throwIfAborted();
    const left = (stock.get(article) ?? 0) - count;
    if (left < 0) throw new ToolFailure(`Only ${stock.get(article)} of ${article} are left; ${count} were ordered.`);
    stock.set(article, left);
    return { data: { article, count, left } };
  },
  mapToolResultToToolResultBlockParam: ({ article, count, left }) => ({ content: `Ordered ${count} × ${article}; ${left} left.` }),
});

const session = createSession({
  tools: [order],
  builtInTools: false,
  store: false,
  permissions: { allow: ['Order(pencil)'], deny: ['Order(rubber)'] },
});
for await (const update of session.send('Order two pencils, twenty pencils, a rubber, and a ruler.')) {
  if (update.type === 'call.result') console.log(`${update.tool} ${update.outcome.kind}: ${update.outcome.summary}`);
}
await session.close();
