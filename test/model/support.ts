import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { lastValueFrom, toArray } from 'rxjs';
import type { JsonObject } from '../../src/json.js';
import { assembleStream } from '../../src/model/assemble.js';
import type { ModelClient, ModelDelta, ModelRequest, ModelStreamEvent, StreamEnd } from '../../src/model/types.js';
import type { ToolUseRequest } from '../../src/tool/call.js';

/** A request that the scripted API accepts. */
export function modelRequest(over: Partial<ModelRequest> = {}): ModelRequest {
  return {
    id: 'model:session:query:1',
    model: 'claude-test',
    maxTokens: 1024,
    system: undefined,
    tools: [{ name: 'Read', description: 'reads', input_schema: { type: 'object' } }],
    messages: [{ role: 'user', content: 'Hello' }],
    ...over,
  };
}

/** All events of one request. The port never errors, so neither does this. */
export function collect(
  model: ModelClient,
  request = modelRequest(),
  onDelta: (delta: ModelDelta) => void = () => {},
): Promise<ModelStreamEvent[]> {
  return lastValueFrom(model.stream(request, onDelta).pipe(toArray()));
}

/** Feeds raw events to the assembler, and ends it as a closed connection would. */
export function assembled(events: readonly unknown[], onDelta: (delta: ModelDelta) => void = () => {}): ModelStreamEvent[] {
  const assembler = assembleStream({ onDelta });
  return [...events.flatMap((event) => assembler.push(event)), ...assembler.end()];
}

/** What counts of a stream: the blocks after the last discard in index order, their calls, how it ended, and what was noted. */
export function outcome(events: readonly ModelStreamEvent[]) {
  const from = events.findLastIndex(({ type }) => type === 'message.discarded') + 1;
  const completed = events.slice(from).flatMap((event) => (event.type === 'block.completed' ? [event] : []));
  completed.sort((a, b) => a.index - b.index);
  const ends = events.flatMap((event): StreamEnd[] => (event.type === 'stream.ended' ? [event.end] : []));
  return {
    blocks: completed.map(({ block }) => block),
    calls: completed.flatMap(({ toolUse }): ToolUseRequest[] => (toolUse === undefined ? [] : [toolUse])),
    discarded: events.flatMap((event) => (event.type === 'message.discarded' ? [event.reason] : [])),
    notes: events.flatMap((event) => (event.type === 'stream.noted' ? [event.note] : [])),
    end: ends[0],
    ends: ends.length,
  };
}

export const start = (id = 'msg_1', model = 'claude-test'): JsonObject => ({
  type: 'message_start',
  message: { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage: { input_tokens: 5, output_tokens: 1 } },
});
export const open = (index: number, block: JsonObject): JsonObject => ({ type: 'content_block_start', index, content_block: block });
export const openTool = (index: number, id: string, name = 'Read', input: JsonObject = {}): JsonObject =>
  open(index, { type: 'tool_use', id, name, input });
export const openText = (index: number): JsonObject => open(index, { type: 'text', text: '' });
export const json = (index: number, partial: string): JsonObject => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json: partial },
});
export const say = (index: number, content: string): JsonObject => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'text_delta', text: content },
});
export const close = (index: number): JsonObject => ({ type: 'content_block_stop', index });
export const finish = (reason = 'tool_use'): JsonObject[] => [
  { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];
/** A whole tool_use block. */
export const tool = (index: number, id: string, input: string, name = 'Read'): JsonObject[] => [
  openTool(index, id, name),
  json(index, input),
  close(index),
];

const RECORDINGS = new URL('../../../shared/data/sse/', import.meta.url);

/** Recorded streams that live beside the project, one entry a response; none where they are absent. */
export function recordings(): readonly { readonly name: string; readonly text: string }[] {
  if (!existsSync(RECORDINGS)) {
    console.info(`no recorded streams at ${RECORDINGS.pathname}: tests over them are left out`);
    return [];
  }
  const names = readdirSync(RECORDINGS).filter((name) => /\.(txt|sse)$/.test(name));
  return names.flatMap((name) => {
    const responses = splitResponses(readFileSync(new URL(name, RECORDINGS), 'utf8'));
    return responses.map((text, at) => ({ name: responses.length === 1 ? name : `${name} #${at + 1}`, text }));
  });
}

/** Some files hold the responses of a whole conversation, each up to its message_stop. */
function splitResponses(text: string): readonly string[] {
  const lines = text.split('\n');
  const responses: string[][] = [[]];
  for (const [at, line] of lines.entries()) {
    responses.at(-1)?.push(line);
    const rest = lines.slice(at + 1).some((later) => later.trim() !== '');
    if (/^(data: )?\{"type":\s*"message_stop"/.test(line) && rest) responses.push([]);
  }
  return responses.map((response) => response.join('\n'));
}
