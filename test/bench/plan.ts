/** What the bench's server answers to a prompt: `turns` messages of `calls` tool calls each, then a last word. */
export interface Plan {
  readonly turns: number;
  readonly calls: number;
  /** Pause before each block, in milliseconds. Default none. */
  readonly blockMs?: number;
  /** Time between the last block and the end of a message with calls, in milliseconds. Default none. */
  readonly tailMs?: number;
}

const PATTERN = /\[plan turns=(\d+) calls=(\d+) blockMs=(\d+) tailMs=(\d+)\]/;

/** The prompt that asks for the plan. The server has no state: the plan travels in the conversation itself. */
export const planPrompt = ({ turns, calls, blockMs = 0, tailMs = 0 }: Plan): string =>
  `Work through the list. [plan turns=${turns} calls=${calls} blockMs=${blockMs} tailMs=${tailMs}]`;

export function readPlan(text: string): Required<Plan> | undefined {
  const [, turns, calls, blockMs, tailMs] = PATTERN.exec(text) ?? [];
  if (turns === undefined) return undefined;
  return { turns: Number(turns), calls: Number(calls), blockMs: Number(blockMs), tailMs: Number(tailMs) };
}

export const callsOf = ({ turns, calls }: Plan): number => turns * calls;
