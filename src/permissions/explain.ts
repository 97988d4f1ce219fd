import { initialTransition } from 'xstate';
import { permissionMachine } from '../../machines/permission.js';
import type { PermissionCall } from './call.js';
import { inputDigest } from './digest.js';
import type { PermissionEngine } from './engine.js';
import type { PermissionFacts, TraceEntry } from './types.js';

/** What would become of a call, and why. Plain JSON. */
export interface Explanation {
  /** `ask` when the decision waits for a hook, a classifier or a person. */
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly reason: string;
  /** The check that decided, or that demands the question. Of a rule it holds file and line. */
  readonly winner: TraceEntry;
  /** Every check that was made, in order. */
  readonly trace: readonly TraceEntry[];
  /** Rules that match the call without effect, and what stands above them. */
  readonly shadowed: PermissionFacts['shadowed'];
}

/** Explains a call by running the permission machine as far as it goes without asking anyone. */
export function explainCall(engine: PermissionEngine, call: PermissionCall, cwd?: string): Explanation {
  return explainFacts(call, engine.facts(call, cwd));
}

function explainFacts(call: PermissionCall, facts: PermissionFacts): Explanation {
  const input = { callId: 'explain', toolName: call.toolName, inputDigest: inputDigest(call.input), facts };
  const [snapshot] = initialTransition(permissionMachine, input);
  const { trace, cause } = snapshot.context;
  if (snapshot.output !== undefined) {
    const { behavior, reason, winner, shadowed } = snapshot.output;
    return { decision: behavior, reason, winner, trace, shadowed };
  }
  const winner = cause ?? trace.at(-1) ?? { check: 'start', behavior: 'ask', reason: 'Nothing was checked' };
  return { decision: 'ask', reason: winner.reason, winner, trace, shadowed: facts.shadowed };
}
