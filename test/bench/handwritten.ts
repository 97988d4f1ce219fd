import Anthropic from '@anthropic-ai/sdk';

/** The loop that an engineer writes in an afternoon on the official SDK: stream, run the calls in parallel, answer, again. */
export async function handwrittenLoop(options: {
  readonly baseURL: string;
  readonly prompt: string;
  readonly tools: readonly Anthropic.Tool[];
  readonly run: (name: string, input: unknown) => Promise<string>;
}): Promise<number> {
  const client = new Anthropic({ apiKey: 'bench', baseURL: options.baseURL, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: options.prompt }];
  for (let turns = 1; ; turns++) {
    const stream = client.messages.stream({ model: 'claude-sonnet-5-5', max_tokens: 32_000, tools: [...options.tools], messages });
    const message = await stream.finalMessage();
    messages.push({ role: 'assistant', content: message.content });
    const calls = message.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return turns;
    const results = await Promise.all(
      calls.map(
        async (call): Promise<Anthropic.ToolResultBlockParam> => ({
          type: 'tool_result',
          tool_use_id: call.id,
          content: await options.run(call.name, call.input),
        }),
      ),
    );
    messages.push({ role: 'user', content: results });
  }
}
