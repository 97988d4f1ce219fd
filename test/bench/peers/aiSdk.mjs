import { createAnthropic } from '@ai-sdk/anthropic';
import { stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

/** The AI SDK's own loop, as its documentation shows it. */
export function createContestant({ baseURL, look }) {
  const anthropic = createAnthropic({ apiKey: 'bench', baseURL: `${baseURL}/v1` });
  const model = anthropic('claude-sonnet-5-5');
  const tools = {
    Look: tool({
      description: 'Looks at one line of a file.',
      inputSchema: z.strictObject({ path: z.string(), line: z.number() }),
      execute: ({ path }) => look(path),
    }),
  };
  return {
    open: async () => ({
      send: async (prompt) => {
        const result = streamText({ model, tools, prompt, maxOutputTokens: 32_000, maxRetries: 0, stopWhen: stepCountIs(10_000) });
        let failure;
        await result.consumeStream({
          onError: (error) => {
            failure = error;
          },
        });
        if (failure) throw failure;
        if ((await result.finishReason) !== 'stop') throw new Error(`The AI SDK ended otherwise: ${await result.finishReason}`);
      },
      close: async () => {},
    }),
  };
}
