/**
 * Sixgates beside `@anthropic-ai/sdk`, in twenty lines: your client, a tool of your own, and a callback that approves.
 * Run it: `ANTHROPIC_API_KEY=… npx tsx examples/embed.ts "How warm is it in Oslo?"`
 */
import Anthropic from '@anthropic-ai/sdk';
import { buildTool, createAnthropicClient, createSession } from 'sixgates';
import { z } from 'zod';

const weather = buildTool({
  name: 'Weather',
  description: 'Tells the temperature of a city in degrees Celsius.',
  inputSchema: z.strictObject({ city: z.string() }),
  isReadOnly: () => true,
  call: async ({ city }) => ({ data: `${city}: ${4 + city.length} °C` }),
});
const session = createSession({
  model: { client: createAnthropicClient({ client: new Anthropic() }) },
  tools: [weather],
  canUseTool: async (name) => (name === 'Weather' ? { behavior: 'allow' } : { behavior: 'deny', message: 'not today' }),
});
for await (const update of session.send(process.argv[2] ?? 'How warm is it in Oslo?')) {
  if (update.type === 'text.delta') process.stdout.write(update.text);
  if (update.type === 'call.result') console.error(`${update.tool}: ${update.outcome.kind}`);
}
await session.close();
