import { type Actor, createActor, fromCallback, fromPromise } from 'xstate';
import {
  type AddressedAnswer,
  type ClassifierVerdict,
  type PermissionMachine,
  type PermissionQuestion,
  permissionMachine,
} from '../../machines/permission.js';
import type { CallReport } from '../../machines/protocol.js';
import {
  type GateAnswer,
  type Report,
  type ToolCallContext,
  type ToolCallMachine,
  type ToolEnd,
  toolCallMachine,
} from '../../machines/toolCall.js';
import type { HookResult } from '../hooks/types.js';
import type { JsonObject } from '../json.js';
import { silentFacts } from '../permissions/silentFacts.js';
import type { PermissionAnswer, PermissionFacts } from '../permissions/types.js';
import type { CallOutcome } from '../tool/call.js';
import type { ValidationVerdict } from '../tool/types.js';

/** The world of a tool call, as functions. What is left out lets the call through: no hooks, no rules but an allow, a tool that succeeds. */
export interface DeterministicPorts {
  /** The first gate. Default: a tool of the call's name, without validation and permissions of its own. */
  readonly resolveTool?: (context: ToolCallContext) => GateAnswer;
  /** The second gate. Default: the input is accepted. */
  readonly parseInput?: (context: ToolCallContext) => GateAnswer;
  /** What the permission machine reads. Default: `quietFacts` with an allow. */
  readonly facts?: (context: ToolCallContext) => PermissionFacts;
  /** The third gate. Left out, it is skipped, as for a tool without `validateInput`. */
  readonly validateInput?: () => ValidationVerdict | Promise<ValidationVerdict>;
  /** The fourth gate. Left out, it is skipped, as where no hook is configured. */
  readonly runPreToolUseHooks?: () => HookResult | Promise<HookResult>;
  /** The classifier of mode `auto`. Default: ask. */
  readonly classifyCall?: (question: PermissionQuestion) => ClassifierVerdict | Promise<ClassifierVerdict>;
  /** Who is asked before the person; null passes the question on. Default: null. */
  readonly permissionRequestHooks?: (question: PermissionQuestion) => PermissionAnswer | null | Promise<PermissionAnswer | null>;
  /** Default: no. */
  readonly askPerson?: (question: PermissionQuestion) => PermissionAnswer | Promise<PermissionAnswer>;
  /** How the tool ends. Default: it succeeds after 1 ms. */
  readonly callTool?: () => ToolEnd | Promise<ToolEnd>;
  /** What reporting makes of the end. Default: a result of one character, no error. */
  readonly reportResult?: (end: ToolEnd) => Report | Promise<Report>;
}

/** Facts of a call of which nothing speaks: change what a test is about. */
export const quietFacts: PermissionFacts = silentFacts({
  mode: 'default',
  canAsk: true,
  hasPermissionRequestHooks: false,
  hasClassifier: false,
});

/** The tool call and permission machines with functions in the place of the world: the same machines that run in a session. */
export function deterministicMachines(ports: DeterministicPorts = {}): {
  readonly toolCall: ToolCallMachine;
  readonly permission: PermissionMachine;
} {
  const permission = permissionMachine.provide({
    actors: {
      classifyCall: fromPromise<ClassifierVerdict, PermissionQuestion>(
        async ({ input }) => ports.classifyCall?.(input) ?? { behavior: 'ask', reason: 'there is no classifier' },
      ),
      permissionRequestHooks: fromPromise<PermissionAnswer | null, PermissionQuestion>(
        async ({ input }) => ports.permissionRequestHooks?.(input) ?? null,
      ),
      askPerson: fromPromise<AddressedAnswer, PermissionQuestion>(async ({ input }) => {
        const answer = (await ports.askPerson?.(input)) ?? { behavior: 'deny', message: 'The test says no', source: { type: 'nobody' } };
        return { callId: input.callId, inputDigest: input.inputDigest, answer };
      }),
    },
  });
  const hookResult: HookResult = { runs: [], verdict: { behavior: 'passthrough' }, additionalContext: [], systemMessages: [], notices: [] };
  const toolCall = toolCallMachine.provide({
    actors: {
      permission,
      validateInput: fromPromise(async () => ports.validateInput?.() ?? { ok: true as const }),
      runPreToolUseHooks: fromPromise(async () => ports.runPreToolUseHooks?.() ?? hookResult),
      askTool: fromPromise(async () => null),
      callTool: fromPromise(async () => ports.callTool?.() ?? ({ kind: 'succeeded', durationMs: 1, hasModifier: false } as const)),
      reportResult: fromPromise<Report, { callId: string; end: ToolEnd; abort: ToolCallContext['abort'] }>(
        async ({ input }) => ports.reportResult?.(input.end) ?? REPORT,
      ),
    },
    actions: {
      weighCall: ({ self }) => self.send({ type: 'call.weighed', safe: false, resourceKeys: [] }),
      resolveTool: ({ context, self }) => self.send(ports.resolveTool?.(context) ?? resolved(context, ports)),
      parseInput: ({ context, self }) => self.send(ports.parseInput?.(context) ?? { type: 'input.accepted' }),
      gatherFacts: ({ context, self }) => {
        const facts = ports.facts?.(context) ?? { ...quietFacts, builtInAllow: 'The test allows it' };
        const approval = context.rewritten?.approval ?? undefined;
        self.send({
          type: 'facts.gathered',
          facts: { ...facts, hook: context.hook?.verdict ?? facts.hook, ...(approval === undefined ? {} : { approval }) },
          digest: 'digest',
        });
      },
      mapResult: ({ self }) => self.send(ports.reportResult ? { type: 'result.awaited' } : { type: 'result.mapped', report: REPORT }),
    },
  });
  return { toolCall, permission };
}

/** What reporting makes of a tool's end where nothing else is said. */
export const REPORT: Report = { isError: false, resultSize: 1, preventContinuation: false };

const resolved = ({ call }: ToolCallContext, ports: DeterministicPorts): GateAnswer => ({
  type: 'tool.resolved',
  tool: {
    toolName: call.name,
    hasValidation: ports.validateInput !== undefined,
    hasOwnPermissions: false,
    hasPreToolUseHooks: ports.runPreToolUseHooks !== undefined,
    interruptBehavior: 'block',
    cancelsSiblingsOnError: false,
  },
});

/** A call that `startCall` started. */
export interface RunningCall {
  /** The call's actor, started and granted its slot. */
  readonly actor: Actor<ToolCallMachine>;
  /** What the call has told its parent so far, in order. */
  readonly reports: readonly CallReport[];
  /** The one outcome; resolves when it is fixed. */
  readonly outcome: Promise<CallOutcome>;
}

/** Starts a call on a machine of `deterministicMachines`, with a parent that takes its reports, and grants it a slot. */
export function startCall(machine: ToolCallMachine, name: string, input: JsonObject = {}): RunningCall {
  const reports: CallReport[] = [];
  let settle: (outcome: CallOutcome) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const outcome = new Promise<CallOutcome>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  const parent = createActor(
    fromCallback<CallReport>(({ receive }) =>
      receive((report) => {
        reports.push(report);
        if (report.type === 'call.completed') settle(report.outcome);
      }),
    ),
  ).start();
  const call = { id: 'toolu_1', name, index: 0, rawInput: JSON.stringify(input), input: { kind: 'object' as const, value: input } };
  const actor = createActor(machine, { parent, input: { slot: 'call-0', call } });
  actor.subscribe({ error: fail });
  actor.start();
  actor.send({ type: 'call.start' });
  return { actor, reports, outcome };
}
