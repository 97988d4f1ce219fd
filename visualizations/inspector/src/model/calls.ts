import type { BodyRef, DecisionMade, FilePlace, FlowEvent, HookRan, RecordedOutcome } from '../../../../src/inspect/protocol/flowEvents.js';
import type { OutcomeKind } from '../../../../src/tool/call.js';
import { GATES, type Gate, gateOf, gateStatusOf, newGates } from './gates.js';

/** What a call spends its time on; `unknown` where no inspector has recorded it. */
export type Part = 'queued' | 'checks' | 'hooks' | 'asking' | 'running' | 'unknown';
export interface Segment {
  readonly part: Part;
  readonly from: number;
  /** Null while it lasts. */
  to: number | null;
}

export type CallStatus = Part | RecordedOutcome;

/** One tool call, folded from its events. */
export interface Call {
  readonly toolUseId: string;
  /** Read from a transcript: nothing is known of it but input, result and their times. */
  readonly transcript: boolean;
  /** Where input and result stand in the transcript. */
  at: FilePlace | undefined;
  resultAt: FilePlace | undefined;
  /** Null until its actor has been seen. */
  actor: string | null;
  tool: string;
  label: string;
  /** Position among all calls of the flow. */
  readonly index: number;
  turn: number;
  /** Name of the subagent it belongs to; empty for the main session. */
  agent: string;
  readonly startSeq: number;
  readonly startT: number;
  endT: number | null;
  lastSeq: number;
  status: CallStatus;
  outcome: RecordedOutcome | null;
  summary: string;
  progress: string;
  isError: boolean;
  gates: Gate[];
  gate: number;
  segments: Segment[];
  decisions: DecisionMade[];
  hooks: HookRan[];
  asked: boolean;
  input: BodyRef | undefined;
  result: BodyRef | undefined;
  /** Lane on the timeline; calls of one lane do not overlap. */
  lane: number;
}

export function newCall(toolUseId: string, index: number, seq: number, t: number, transcript = false): Call {
  return {
    toolUseId,
    transcript,
    at: undefined,
    resultAt: undefined,
    actor: null,
    tool: '',
    label: '',
    index,
    turn: 0,
    agent: '',
    startSeq: seq,
    startT: t,
    endT: null,
    lastSeq: seq,
    status: transcript ? 'unknown' : 'queued',
    outcome: null,
    summary: '',
    progress: '',
    isError: false,
    gates: newGates(transcript ? 'unknown' : 'ahead'),
    gate: -1,
    segments: [{ part: transcript ? 'unknown' : 'queued', from: t, to: null }],
    decisions: [],
    hooks: [],
    asked: false,
    input: undefined,
    result: undefined,
    lane: 0,
  };
}

/** Takes an event of the call's own, in order of `seq`. */
export function foldCall(call: Call, event: FlowEvent): void {
  call.lastSeq = Math.max(call.lastSeq, event.seq);
  switch (event.type) {
    case 'transition':
      if (event.actor === call.actor) enter(call, event.to, event.t);
      return;
    case 'decision':
      call.decisions.push(event);
      if (event.input) call.input = event.input;
      return;
    case 'hook':
      call.hooks.push(event);
      return;
    case 'approval':
      approval(call, event.phase, event.t);
      return;
    case 'progress':
      if (event.message !== undefined) call.progress = event.message;
      return;
    case 'result':
      call.outcome = event.outcome;
      call.isError = event.isError;
      call.summary = event.summary;
      call.result = event.body;
      call.resultAt = event.at;
      return;
    case 'actor.stopped':
      if (event.actor !== call.actor || call.endT !== null) return;
      finish(call, call.outcome ?? endOf(event.status), event.t);
      if (event.error !== undefined) call.summary = event.error;
      return;
    default:
      return;
  }
}

function enter(call: Call, leaves: readonly string[], t: number): void {
  const leaf = leaves[0] ?? '';
  const parts = leaf.split('.');
  if (parts[1] === 'completed') {
    const outcome = outcomeOf(parts[2]);
    if (outcome) finish(call, outcome, t);
    return;
  }
  if (parts[1] !== 'executing') return;
  const gate = gateOf(leaf);
  if (gate !== call.gate) moveTo(call, gate, t);
  if (gate === 3 && parts[3] === 'running') segment(call, 'hooks', t);
  else if (gate === 5) segment(call, 'running', t);
  else if (gate === 4 && call.status === 'asking') return;
  else segment(call, 'checks', t);
}

function moveTo(call: Call, gate: number, t: number): void {
  const left = call.gates[call.gate];
  if (left) {
    left.ms += Math.max(0, t - left.since);
    // Hooks that are not configured take no time and leave no run behind.
    left.status = call.gate === 3 && call.hooks.length === 0 && left.ms === 0 ? 'skipped' : 'passed';
  }
  if (gate >= 0 && gate < GATES.length) {
    // A rewritten input walks the gates again.
    for (const later of call.gates.slice(gate)) if (later.status !== 'ahead' && gate < call.gate) later.status = 'ahead';
    const entered = call.gates[gate];
    if (entered) {
      entered.status = 'open';
      entered.since = t;
      entered.passages++;
    }
  }
  call.gate = gate;
}

function approval(call: Call, phase: 'asked' | 'answered' | 'withdrawn', t: number): void {
  // A call is asked about at the permission gate; one that is running may ask something itself.
  const gate = call.gates[call.gate === 5 ? 5 : 4];
  if (phase === 'asked') {
    call.asked = true;
    if (call.endT !== null) return;
    segment(call, 'asking', t);
    if (gate) gate.status = 'asking';
  } else if (call.status === 'asking') {
    segment(call, call.gate === 5 ? 'running' : 'checks', t);
    if (gate) gate.status = 'open';
  }
}

function endOf(status: 'done' | 'error' | 'stopped' | 'unknown'): RecordedOutcome {
  return status === 'unknown' ? 'unknown' : status === 'error' ? 'failed' : 'stopped';
}

function finish(call: Call, outcome: RecordedOutcome, t: number): void {
  if (call.endT !== null) return;
  const last = call.segments.at(-1);
  if (last && last.to === null) last.to = Math.max(last.from, t);
  call.endT = Math.max(call.startT, t);
  call.outcome = outcome;
  call.status = outcome;
  const at = call.gates[Math.min(Math.max(call.gate, 0), GATES.length - 1)];
  if (!at || call.gate < 0) return;
  if (call.gate < GATES.length) at.ms += Math.max(0, t - at.since);
  at.status = gateStatusOf(outcome);
}

function segment(call: Call, part: Part, t: number): void {
  const last = call.segments.at(-1);
  call.status = part;
  if (last && last.to === null) {
    if (last.part === part) return;
    last.to = Math.max(last.from, t);
    if (last.to === last.from) call.segments.pop();
  }
  call.segments.push({ part, from: t, to: null });
}

const OUTCOMES: readonly OutcomeKind[] = ['succeeded', 'failed', 'invalid', 'denied', 'cancelled', 'stopped'];
const outcomeOf = (state: string | undefined): OutcomeKind | undefined => OUTCOMES.find((kind) => kind === state);

/** True for a call of which neither result nor end is known. */
export const isUnanswered = (call: Call): boolean => call.transcript && call.endT !== null && call.result === undefined;

export const isProblem = (call: Call): boolean =>
  call.outcome === 'failed' || call.outcome === 'invalid' || call.outcome === 'denied' || call.isError;
