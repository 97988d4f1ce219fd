import { isJsonObject, type JsonObject } from '../../../src/json.js';
import { type Turn, text, toolUse } from '../../../src/testing/script/steps.js';
import { randomFrom } from './random.js';

export interface FlowPlan {
  readonly turns: readonly (readonly { readonly name: string; readonly n: number; readonly ms: number }[])[];
}

/** The same for every flow: three calls side by side, one alone, ten milliseconds each, and an answer. */
export const BENCH_PLAN: FlowPlan = {
  turns: [['Look', 'Look', 'Look', 'Write'].map((name, n) => ({ name, n, ms: 10 }))],
};

const NAMES = ['Look', 'Look', 'Ring', 'Write', 'Deploy'];

/** What the model asks for in flow `seed`: two to four turns of one to four calls. */
export function flowPlan(seed: number, longestMs: number): FlowPlan {
  const random = randomFrom(seed * 7919 + 13);
  const turns = Array.from({ length: 2 + Math.floor(random() * 3) }, () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, (_, n) => ({
      name: NAMES[Math.floor(random() * NAMES.length)] ?? 'Look',
      n,
      ms: Math.floor(random() * longestMs),
    })),
  );
  return { turns };
}

/** The model of every flow: it finds out from the history which flow this is and where it stands. Ids are new in every answer. */
export function answerTo(body: JsonObject, plan: (seed: number) => FlowPlan): Turn {
  const messages = Array.isArray(body.messages) ? body.messages.filter(isJsonObject) : [];
  const seed = Number(/flow (\d+)/.exec(JSON.stringify(messages[0]))?.[1] ?? 0);
  const done = messages.filter(({ role }) => role === 'assistant').length;
  const calls = plan(seed).turns[done];
  if (calls === undefined) return [text(`flow ${seed} is done`)];
  const mark = Math.random().toString(36).slice(2, 10);
  return calls.map(({ name, n, ms }) => toolUse(name, { n, ms }, { id: `toolu_${seed}_${done}_${n}_${mark}` }));
}
