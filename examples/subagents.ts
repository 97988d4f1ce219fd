/**
 * Two subagents side by side. Each is a session of its own below this one: it walks the same gates, its questions come up here, and only
 * its last words go back to the model. Kinds of agents beside the built-in ones are Markdown files in `.claude/agents`.
 * Run it: `ANTHROPIC_API_KEY=… npx tsx examples/subagents.ts`
 */
import { createSession } from 'sixgates';

const session = createSession({
  builtInTools: ['Agent', 'Read', 'Glob', 'Grep'],
  store: false,
  limits: { maxBudgetTokens: 200_000 },
});
for await (const update of session.send('Ask two Explore agents: one what src does, one what test covers. Then sum up.')) {
  if (update.type === 'agent.update' && update.update.type === 'call.result')
    console.log(`  ${update.agentId.slice(0, 8)}: ${update.update.tool} ${update.update.outcome.kind}`);
  if (update.type === 'call.result') console.log(`${update.tool}: ${update.outcome.kind}`);
  if (update.type === 'query.ended') console.log(update.text);
}
console.log(`${session.usage.requests} requests, those of the agents included`);
await session.close();
