import { ChatAnthropic } from '@langchain/anthropic';
import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';

process.env.LANGSMITH_TRACING = 'false';

/** LangGraph's prebuilt agent with a streaming model, compiled once. */
export function createContestant({ baseURL, look }) {
  const llm = new ChatAnthropic({
    model: 'claude-sonnet-5-5',
    apiKey: 'bench',
    anthropicApiUrl: baseURL,
    maxTokens: 32_000,
    maxRetries: 0,
    streaming: true,
  });
  const tools = [
    tool(({ path }) => look(path), {
      name: 'Look',
      description: 'Looks at one line of a file.',
      schema: z.strictObject({ path: z.string(), line: z.number() }),
    }),
  ];
  const agent = createReactAgent({ llm, tools });
  return {
    open: async () => ({
      send: async (prompt) => {
        await agent.invoke({ messages: [{ role: 'user', content: prompt }] }, { recursionLimit: 100_000 });
      },
      close: async () => {},
    }),
  };
}
