/**
 * Sixgates beside `@anthropic-ai/sdk`: one tool of your own and a callback that approves.
 * Run it with a key: `ANTHROPIC_API_KEY=… npx tsx examples/embed.ts "How warm is it in Oslo?"`
 */
import { buildTool, createSession } from 'sixgates';
import { z } from 'zod';

const weather = buildTool({
  name: 'Weather',
  description: 'Tells the temperature of a city in degrees Celsius.',
  inputSchema: z.strictObject({ city: z.string() }),
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  call: async ({ city }) => ({ data: `${city}: ${4 + city.length} °C` }),
});

const session = createSession({
  tools: [weather],
  builtInTools: ['Read', 'Glob', 'Grep'],
  store: false,
  canUseTool: async (name, input) =>
    name === 'Weather' ? { behavior: 'allow' } : { behavior: 'deny', message: `not ${JSON.stringify(input)} today` },
});

for await (const update of session.send(process.argv[2] ?? 'How warm is it in Oslo?')) {
  if (update.type === 'text.delta') process.stdout.write(update.text);
  if (update.type === 'call.result') console.error(`${update.tool}: ${update.outcome.kind}`);
}
await session.close();
