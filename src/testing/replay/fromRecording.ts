import type { FlowRecording } from '../../inspect/protocol/flowEvents.js';
import { readRecording } from '../../inspect/recording.js';
import { isJsonObject } from '../../json.js';
import type { Step } from '../script/steps.js';
import { callOf, type RecordedCall, type RecordedConversation, type RecordedResult, recordedConversation, stepOf } from './conversation.js';

/**
 * A recorded flow as a script and fake tools. Prompts are not part of a recording; each is named by the query it began. What subagents
 * said and did is not played again: the call that started one has its result.
 *
 * @param source - The recording, or its file.
 * @throws when a block or a result was clipped or is not in the recording: what is played again must be whole.
 */
export function fromRecording(source: FlowRecording | string): RecordedConversation {
  const recording = typeof source === 'string' ? readRecording(source) : source;
  const bodyOf = (hash: string, what: string): unknown => {
    const text = recording.bodies.get(hash);
    if (text === undefined) throw new Error(`The recording ${recording.header.name} does not hold ${what}.`);
    return JSON.parse(text);
  };
  const queries = new Map<string, Step[][]>();
  const calls: RecordedCall[] = [];
  const results = new Map<string, RecordedResult>();
  let turn: Step[] | undefined;
  const agents: string[] = [];
  for (const event of recording.events) {
    if (event.type === 'actor.started' && event.kind === 'session' && event.parent !== null) agents.push(`${event.actor}/`);
    if ('actor' in event && agents.some((below) => event.actor?.startsWith(below))) continue;
    if (event.type === 'model' && event.phase === 'request') {
      if (event.agent !== undefined) continue;
      const query = event.requestId.split(':').slice(0, -1).join(':');
      const turns = queries.get(query) ?? [];
      queries.set(query, turns);
      turn = [];
      turns.push(turn);
    } else if (event.type === 'event' && event.event === 'block.completed' && event.body !== undefined) {
      if (event.body.clipped)
        throw new Error(
          `The recording ${recording.header.name} holds only a part of a block (event ${event.seq}); record with larger limits.`,
        );
      const body = bodyOf(event.body.hash, `the block of event ${event.seq}`);
      const content = isJsonObject(body) ? body.block : undefined;
      const step = stepOf(content);
      if (step !== undefined) turn?.push(step);
      const call = callOf(content);
      if (call !== undefined) calls.push(call);
    } else if (event.type === 'result') {
      if (event.body.clipped)
        throw new Error(`The recording ${recording.header.name} holds only a part of the result of ${event.toolUseId}.`);
      results.set(event.toolUseId, {
        content: contentOf(bodyOf(event.body.hash, `the result of ${event.toolUseId}`)),
        isError: event.isError,
      });
    }
  }
  const named = [...queries].map(([query, turns]) => ({
    prompt: `(prompt of ${query.replace(/^model:/, '')})`,
    turns: turns.filter((steps) => steps.length > 0),
  }));
  return recordedConversation(
    recording.header.name,
    named.filter(({ turns }) => turns.length > 0),
    calls,
    results,
  );
}

function contentOf(body: unknown): RecordedResult['content'] {
  return typeof body === 'string' ? body : JSON.stringify(body, null, 2);
}
