import { isJsonObject, type JsonObject } from '../../json.js';
import type { ContentBlockParam, ToolResultBlockParam } from '../../messages/types.js';
import { anyObjectInput, buildTool } from '../../tool/build.js';
import type { AnyTool } from '../../tool/types.js';
import type { ScriptedModel } from '../script/model.js';
import { scriptedModel } from '../script/model.js';
import { block, type Step, type Turn, text, thinking, toolUse } from '../script/steps.js';

/** A call as it stands in a conversation, in order. */
export interface RecordedCall {
  /** The `tool_use` id. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The call's input. */
  readonly input: JsonObject;
}
/** A tool’s recorded answer. */
export interface RecordedResult {
  /** The result's content, as it went to the model. */
  readonly content: ToolResultBlockParam['content'];
  /** Whether the result was marked as an error. */
  readonly isError: boolean;
}
/** A prompt and the answers that followed it, one a request. */
export interface RecordedQuery {
  /** What the person said. */
  readonly prompt: string | readonly ContentBlockParam[];
  /** What the model answered, as turns of a script. */
  readonly turns: readonly Turn[];
}

/** A conversation of another time, ready to be played again: the model from a script, the tools from their recorded results. */
export interface RecordedConversation {
  /** Where it comes from, for messages. */
  readonly name: string;
  /** Prompts with their answers, in order. */
  readonly queries: readonly RecordedQuery[];
  /** Every tool call, in order. */
  readonly calls: readonly RecordedCall[];
  /** Results by `tool_use` id. */
  readonly results: ReadonlyMap<string, RecordedResult>;
  /** A new scripted model that answers as the recorded one did. */
  model(): ScriptedModel;
  /** Fake tools under the names of the recorded ones: each call gets its recorded result. Nothing is run. */
  tools(): readonly AnyTool[];
}

export function recordedConversation(
  name: string,
  queries: readonly RecordedQuery[],
  calls: readonly RecordedCall[],
  results: ReadonlyMap<string, RecordedResult>,
): RecordedConversation {
  return {
    name,
    queries,
    calls,
    results,
    model: () => scriptedModel(queries.flatMap(({ turns }) => turns)),
    tools: () => [...new Set(calls.map((call) => call.name))].map((tool) => recordedTool(tool, results)),
  };
}

function recordedTool(name: string, results: ReadonlyMap<string, RecordedResult>): AnyTool {
  return buildTool<JsonObject, RecordedResult>({
    name,
    description: `Gives the recorded results of ${name}.`,
    inputSchema: anyObjectInput,
    inputJSONSchema: { type: 'object' },
    isConcurrencySafe: () => true,
    maxResultSizeChars: Number.POSITIVE_INFINITY,
    call: async (_input, { callId }) => {
      const result = results.get(callId);
      if (result === undefined) throw new Error(`The recording holds no result of call ${callId} (${name}).`);
      return { data: result };
    },
    mapToolResultToToolResultBlockParam: ({ content, isError }) => ({ content, ...(isError ? { isError } : {}) }),
  });
}

/** An assistant block as a step of a script; undefined for what a script has no step for. */
export function stepOf(content: unknown): Step | undefined {
  if (!isJsonObject(content)) return undefined;
  switch (content.type) {
    case 'text':
      return typeof content.text === 'string' && content.text !== '' ? text(content.text) : undefined;
    case 'thinking':
      return typeof content.thinking === 'string' && typeof content.signature === 'string'
        ? thinking(content.thinking, { signature: content.signature })
        : undefined;
    case 'tool_use': {
      const call = callOf(content);
      return call === undefined ? undefined : toolUse(call.name, call.input, { id: call.id });
    }
    default:
      return block(content);
  }
}

export function callOf(content: unknown): RecordedCall | undefined {
  if (!isJsonObject(content) || content.type !== 'tool_use') return undefined;
  const { id, name, input } = content;
  return typeof id === 'string' && typeof name === 'string' ? { id, name, input: isJsonObject(input) ? input : {} } : undefined;
}
