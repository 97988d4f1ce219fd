import type { JsonObject } from '../json.js';
import { anyObjectInput, buildTool, type ToolDefinition } from '../tool/build.js';
import { ToolFailure } from '../tool/errors.js';
import type { Tool, ToolContext } from '../tool/types.js';

/** What a fake tool answers: a value for every call, or a function that decides by input. Return an `Error` to fail. */
export type FakeAnswer = string | JsonObject | Error | ((input: JsonObject, context: ToolContext) => unknown);

/** A tool that runs nothing and remembers its calls. */
export interface FakeTool extends Tool<JsonObject, unknown> {
  /** Calls that came through all gates, in order: the oracle of a permission test. */
  readonly calls: readonly { readonly callId: string; readonly input: JsonObject }[];
}

/** Makes a fake tool under any name. By default it takes any object, is safe to run beside others, and answers `ok`. */
export function fakeTool(name: string, answer: FakeAnswer = 'ok', more: Partial<ToolDefinition<JsonObject, unknown>> = {}): FakeTool {
  const calls: { callId: string; input: JsonObject }[] = [];
  const tool = buildTool<JsonObject, unknown>({
    name,
    description: `A fake of ${name}.`,
    inputSchema: anyObjectInput,
    inputJSONSchema: { type: 'object' },
    isConcurrencySafe: () => true,
    ...more,
    call: async (input, context) => {
      calls.push({ callId: context.callId, input });
      const data = typeof answer === 'function' ? await answer(input, context) : answer;
      if (data instanceof Error) throw new ToolFailure(data.message);
      return { data };
    },
  });
  return Object.freeze({ ...tool, calls });
}
