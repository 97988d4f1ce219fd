/** The six gates in the order in which a call walks them; each is a state of the tool call machine. */
export const GATES = [
  { name: 'resolve', state: 'resolving', about: 'Is there such a tool?' },
  { name: 'schema', state: 'parsing', about: 'Does the input fit the schema?' },
  { name: 'validate', state: 'validating', about: 'Does the tool accept the input?' },
  { name: 'hooks', state: 'hooking', about: 'What do PreToolUse hooks say?' },
  { name: 'permission', state: 'deciding', about: 'Do rules, mode and person allow it?' },
  { name: 'call', state: 'calling', about: 'The tool runs' },
] as const;

export type GateStatus = 'ahead' | 'open' | 'asking' | 'passed' | 'skipped' | 'refused' | 'failed' | 'cut' | 'unknown';
export interface Gate {
  status: GateStatus;
  /** When the call came to it last, in milliseconds of the flow. */
  since: number;
  /** Time spent in it, all passages together. */
  ms: number;
  passages: number;
}

export const newGates = (status: GateStatus = 'ahead'): Gate[] => GATES.map(() => ({ status, since: 0, ms: 0, passages: 0 }));

/** Number of the gate that a state of the tool call machine stands for; -1 outside the gates, 6 behind them. */
export function gateOf(leaf: string): number {
  const [, phase, state] = leaf.split('.');
  if (phase !== 'executing') return -1;
  if (state === 'reporting') return GATES.length;
  return GATES.findIndex((gate) => gate.state === state);
}

/** How a call's end shows on the gate it had come to. */
export function gateStatusOf(outcome: string): GateStatus {
  switch (outcome) {
    case 'succeeded':
      return 'passed';
    case 'denied':
      return 'refused';
    case 'cancelled':
    case 'stopped':
      return 'cut';
    default:
      return 'failed';
  }
}
