import { assertEvent, assign, sendParent, sendTo, setup } from 'xstate';
import type { HookResult } from '../src/hooks/types.js';
import type { PermissionDecision } from '../src/permissions/types.js';
import type { AbortReason, CallOutcome, OutcomeKind, ToolProgress } from '../src/tool/call.js';
import type { ValidationVerdict } from '../src/tool/types.js';
import { abortedOutcome, brokenGateOutcome, brokenRunOutcome, deniedOutcome, invalidOutcome, outcomeOfRun } from './outcome.js';
import { permissionMachine } from './permission.js';
import type { PermissionInput } from './permissionProtocol.js';
import { port } from './port.js';
import type { AbortEvent, CallClass, CallReport } from './protocol.js';
import type {
  CallPortInput,
  CallState,
  Report,
  ResolvedTool,
  RewrittenInput,
  ToolCallContext,
  ToolCallEvent,
  ToolCallInput,
  ToolEnd,
} from './toolCallProtocol.js';

export type * from './toolCallProtocol.js';

const call = ({ context }: { context: ToolCallContext }): CallPortInput => ({ callId: context.call.id });

const report = <Params = undefined>(build: (context: ToolCallContext, params: Params) => CallReport) =>
  sendParent<ToolCallContext, ToolCallEvent, Params, CallReport, ToolCallEvent>(({ context }, params) => build(context, params));

const address = ({ slot, call }: ToolCallContext) => ({ slot, callId: call.id });

/** Said on entry: which state the call is in. */
const announced = (state: CallState) => ({ type: 'announce' as const, params: { state } });

/** Where a port fails, the call is over. */
const ending = (what: string, outcomeOf: typeof brokenGateOutcome) => ({
  target: '#toolCall.completed' as const,
  actions: {
    type: 'conclude' as const,
    params: ({ event }: { readonly event: { readonly error: unknown } }) => ({ outcome: outcomeOf(what, event.error) }),
  },
});
/** A gate's own port: nothing is run. */
const broken = (gate: string) => ending(gate, brokenGateOutcome);
/** A port that is asked once the tool may have begun: nobody knows what was done. */
const brokenOff = (what: string) => ending(what, brokenRunOutcome);

/** How the call ends once its tool has: what was reported joins what is known. */
const reported = (context: ToolCallContext, report: Report) => ({ outcome: outcomeOfRun(endOf(context), report, context.abort) });

const machine = setup({
  types: {
    context: {} as ToolCallContext,
    events: {} as ToolCallEvent,
    input: {} as ToolCallInput,
  },
  actors: {
    validateInput: port<CallPortInput, ValidationVerdict>('validateInput'),
    runPreToolUseHooks: port<CallPortInput, HookResult>('runPreToolUseHooks'),
    /** The tool's own `checkPermissions`; what it says stays with the port until the facts are gathered. */
    askTool: port<CallPortInput, null>('askTool'),
    permission: permissionMachine,
    callTool: port<CallPortInput, ToolEnd>('callTool'),
    reportResult: port<CallPortInput & { readonly end: ToolEnd; readonly abort: AbortReason | null }, Report>('reportResult'),
  },
  actions: {
    announce: (_, _params: { readonly state: CallState }) => {},
    /*
     * Gates that need not wait. Each is asked by name and answers with one `GateAnswer` sent to this actor; where nothing
     * waits there is no child, and what was said is an event that a recording replays.
     */
    weighCall: () => {},
    resolveTool: () => {},
    parseInput: () => {},
    gatherFacts: () => {},
    mapResult: (_, _params: { readonly end: ToolEnd; readonly abort: AbortReason | null }) => {},
    noteDecision: (_, _params: { readonly decision: PermissionDecision }) => {},
    /** Writes the one result from `context.outcome`. */
    fixResult: () => {},
    rememberTool: assign({ tool: (_, params: { readonly tool: ResolvedTool }) => params.tool }),
    rememberHooks: assign({ hook: (_, params: { readonly hook: HookResult }) => params.hook }),
    rememberDecision: assign({ decision: (_, params: { readonly decision: PermissionDecision }) => params.decision }),
    rememberEnd: assign({ end: (_, params: { readonly end: ToolEnd }) => params.end }),
    rememberAbort: assign({ abort: (_, params: { readonly reason: AbortReason }) => params.reason }),
    rewriteInput: assign({
      rewritten: (_, params: { readonly rewritten: RewrittenInput }) => params.rewritten,
      earlierTrace: ({ context }) => [...context.earlierTrace, ...(context.decision?.trace ?? [])],
    }),
    conclude: assign({
      outcome: ({ context }, params: { readonly outcome: CallOutcome }): CallOutcome =>
        context.hook?.stop ? { ...params.outcome, preventContinuation: true } : params.outcome,
    }),
    passAbortToTool: sendTo(
      'tool',
      (_, params: { readonly reason: AbortReason }): AbortEvent => ({ type: 'abort', reason: params.reason }),
    ),
    passAbortToReport: sendTo(
      'report',
      (_, params: { readonly reason: AbortReason }): AbortEvent => ({ type: 'abort', reason: params.reason }),
    ),
    tellClass: report<CallClass>((context, { safe, resourceKeys }) => ({
      type: 'call.classified',
      ...address(context),
      safe,
      resourceKeys,
    })),
    tellProgress: report<{ readonly progress: ToolProgress }>((context, { progress }) => ({
      type: 'call.progress',
      ...address(context),
      progress,
    })),
    tellCompleted: report((context) => ({
      type: 'call.completed',
      ...address(context),
      outcome: context.outcome ?? brokenGateOutcome('completion', 'no outcome was recorded'),
    })),
    tellPersonSaidStop: report((context) => ({ type: 'call.aborted', ...address(context), reason: 'permissionRejected' })),
    tellSiblingsToStop: report((context) => ({ type: 'call.aborted', ...address(context), reason: 'siblingError' })),
  },
  guards: {
    isValid: (_, params: { readonly verdict: ValidationVerdict }) => params.verdict.ok,
    toolHasNoValidation: ({ context }) => !context.tool?.hasValidation,
    toolHasNoOpinion: ({ context }) => !context.tool?.hasOwnPermissions,
    noHookIsConfigured: ({ context }) => !context.tool?.hasPreToolUseHooks,
    hooksHaveRun: ({ context }) => context.hook !== null,
    inputWasRewritten: (_, params: { readonly hook: HookResult }) =>
      params.hook.updatedInput !== undefined && params.hook.verdict.behavior !== 'deny',
    isAllowedWithOtherInput: (_, params: { readonly decision: PermissionDecision }) =>
      params.decision.behavior === 'allow' && params.decision.updatedInput !== undefined,
    isAllowed: (_, params: { readonly decision: PermissionDecision }) => params.decision.behavior === 'allow',
    personSaidStop: (_, params: { readonly decision: PermissionDecision }) => params.decision.interrupt === true,
    endsCall: (_, params: { readonly reason: AbortReason }) => params.reason !== 'newMessage',
    cutsIntoRunningCall: ({ context }, params: { readonly reason: AbortReason }) =>
      params.reason !== 'newMessage' || context.tool?.interruptBehavior === 'cancel',
    endedAs: ({ context }, params: { readonly kind: OutcomeKind }) => context.outcome?.kind === params.kind,
    failedAndStopsSiblings: ({ context }) => context.outcome?.kind === 'failed' && context.tool?.cancelsSiblingsOnError === true,
  },
}).createMachine({
  id: 'toolCall',
  options: { maxIterations: 1000 },
  context: ({ input }) => ({
    slot: input.slot,
    call: input.call,
    tool: null,
    rewritten: null,
    hook: null,
    earlierTrace: [],
    decision: null,
    abort: null,
    end: null,
    outcome: null,
  }),
  initial: 'queued',
  states: {
    queued: {
      description: 'Waits for a slot. The executor learns at once whether this input may run beside others.',
      entry: [announced('queued'), 'weighCall'],
      on: {
        'call.weighed': { actions: { type: 'tellClass', params: ({ event }) => event } },
        'call.start': { target: 'executing' },
        abort: {
          guard: { type: 'endsCall', params: ({ event }) => event },
          target: 'completed',
          actions: { type: 'conclude', params: ({ event }) => ({ outcome: abortedOutcome(event.reason, 'beforeStart') }) },
        },
      },
    },

    executing: {
      initial: 'resolving',
      on: {
        'gate.broke': {
          target: 'completed',
          actions: { type: 'conclude', params: ({ event }) => ({ outcome: brokenGateOutcome(event.gate, event.reason) }) },
        },
        abort: {
          guard: { type: 'endsCall', params: ({ event }) => event },
          target: 'completed',
          actions: { type: 'conclude', params: ({ event }) => ({ outcome: abortedOutcome(event.reason, 'beforeStart') }) },
        },
      },
      states: {
        resolving: {
          description: 'Gate 1: the tool by name in the pool as it is now.',
          entry: [announced('executing.resolving'), 'resolveTool'],
          on: {
            'tool.resolved': { target: 'parsing', actions: { type: 'rememberTool', params: ({ event }) => event } },
            'tool.missing': {
              target: '#toolCall.completed',
              actions: { type: 'conclude', params: ({ event }) => ({ outcome: invalidOutcome(event.message) }) },
            },
          },
        },
        parsing: {
          description: 'Gate 2: the JSON as decided at block end, then the schema. Also the way back in for an input that was rewritten.',
          entry: [announced('executing.parsing'), 'parseInput'],
          on: {
            'input.accepted': 'validating',
            'input.refused': {
              target: '#toolCall.completed',
              actions: { type: 'conclude', params: ({ event }) => ({ outcome: invalidOutcome(event.message) }) },
            },
          },
        },
        validating: {
          description: 'Gate 3: the tool’s own validation, where it has one.',
          entry: announced('executing.validating'),
          initial: 'matching',
          states: {
            matching: { always: [{ guard: 'toolHasNoValidation', target: '#toolCall.executing.hooking' }, { target: 'running' }] },
            running: {
              invoke: {
                src: 'validateInput',
                input: call,
                onDone: [
                  {
                    guard: { type: 'isValid', params: ({ event }) => ({ verdict: event.output }) },
                    target: '#toolCall.executing.hooking',
                  },
                  {
                    target: '#toolCall.completed',
                    actions: { type: 'conclude', params: ({ event }) => ({ outcome: invalidOutcome(messageOf(event.output)) }) },
                  },
                ],
                onError: broken('validating the input'),
              },
            },
          },
        },
        hooking: {
          description: 'Gate 4: PreToolUse hooks, once per call, whatever they rewrite.',
          entry: announced('executing.hooking'),
          initial: 'matching',
          states: {
            matching: {
              always: [
                { guard: 'noHookIsConfigured', target: '#toolCall.executing.deciding' },
                { guard: 'hooksHaveRun', target: '#toolCall.executing.deciding' },
                { target: 'running' },
              ],
            },
            running: {
              invoke: {
                src: 'runPreToolUseHooks',
                input: call,
                onDone: [
                  {
                    guard: { type: 'inputWasRewritten', params: ({ event }) => ({ hook: event.output }) },
                    target: '#toolCall.executing.parsing',
                    actions: [
                      { type: 'rememberHooks', params: ({ event }) => ({ hook: event.output }) },
                      { type: 'rewriteInput', params: ({ event }) => ({ rewritten: rewrittenByHook(event.output) }) },
                    ],
                  },
                  {
                    target: '#toolCall.executing.deciding',
                    actions: { type: 'rememberHooks', params: ({ event }) => ({ hook: event.output }) },
                  },
                ],
                onError: broken('running PreToolUse hooks'),
              },
            },
          },
        },
        deciding: {
          description: 'Gate 5: the facts are gathered once; the permission machine moves by them, and asks where it must.',
          entry: announced('executing.deciding'),
          initial: 'matching',
          states: {
            matching: { always: [{ guard: 'toolHasNoOpinion', target: 'gathering' }, { target: 'consulting' }] },
            consulting: {
              invoke: {
                src: 'askTool',
                input: call,
                onDone: 'gathering',
                onError: broken('the tool’s permission check'),
              },
            },
            gathering: {
              entry: 'gatherFacts',
              on: { 'facts.gathered': 'judging' },
            },
            judging: {
              invoke: {
                id: 'permission',
                src: 'permission',
                input: ({ context, event }) => caseOf(context, event),
                onDone: [
                  {
                    guard: { type: 'isAllowedWithOtherInput', params: ({ event }) => ({ decision: event.output }) },
                    target: '#toolCall.executing.parsing',
                    actions: [
                      { type: 'rememberDecision', params: ({ event }) => ({ decision: event.output }) },
                      { type: 'rewriteInput', params: ({ event }) => ({ rewritten: rewrittenByAnswer(event.output) }) },
                    ],
                  },
                  {
                    guard: { type: 'isAllowed', params: ({ event }) => ({ decision: event.output }) },
                    target: '#toolCall.executing.calling',
                    actions: [
                      { type: 'rememberDecision', params: ({ event }) => ({ decision: event.output }) },
                      { type: 'noteDecision', params: ({ event }) => ({ decision: event.output }) },
                    ],
                  },
                  {
                    guard: { type: 'personSaidStop', params: ({ event }) => ({ decision: event.output }) },
                    target: '#toolCall.completed',
                    actions: [
                      { type: 'rememberDecision', params: ({ event }) => ({ decision: event.output }) },
                      { type: 'noteDecision', params: ({ event }) => ({ decision: event.output }) },
                      { type: 'conclude', params: ({ event }) => ({ outcome: deniedOutcome(event.output) }) },
                      'tellPersonSaidStop',
                    ],
                  },
                  {
                    target: '#toolCall.completed',
                    actions: [
                      { type: 'rememberDecision', params: ({ event }) => ({ decision: event.output }) },
                      { type: 'noteDecision', params: ({ event }) => ({ decision: event.output }) },
                      { type: 'conclude', params: ({ event }) => ({ outcome: deniedOutcome(event.output) }) },
                    ],
                  },
                ],
                onError: broken('the permission decision'),
              },
            },
          },
        },
        calling: {
          description: 'Gate 6: the side effect. An abort signals the tool and waits for it; the port bounds that wait by a grace.',
          entry: announced('executing.calling'),
          invoke: {
            id: 'tool',
            src: 'callTool',
            input: call,
            onDone: { target: 'reporting', actions: { type: 'rememberEnd', params: ({ event }) => ({ end: event.output }) } },
            onError: broken('calling the tool'),
          },
          on: {
            'tool.progressed': { actions: { type: 'tellProgress', params: ({ event }) => event } },
            abort: [
              {
                guard: { type: 'cutsIntoRunningCall', params: ({ event }) => event },
                target: '.stopping',
                actions: [
                  { type: 'rememberAbort', params: ({ event }) => event },
                  { type: 'passAbortToTool', params: ({ event }) => event },
                ],
              },
              { description: 'A new message waits: side effects are not cut mid-way.' },
            ],
          },
          initial: 'running',
          states: { running: {}, stopping: {} },
        },
        reporting: {
          description:
            'PostToolUse hooks, mapping to a tool_result, size budget, persistence. The tool has ended; an abort only cuts the hooks.',
          entry: announced('executing.reporting'),
          initial: 'mapping',
          on: {
            'gate.broke': {
              target: '#toolCall.completed',
              actions: { type: 'conclude', params: ({ event }) => ({ outcome: brokenRunOutcome(event.gate, event.reason) }) },
            },
          },
          states: {
            mapping: {
              entry: { type: 'mapResult', params: ({ context }) => ({ end: endOf(context), abort: context.abort }) },
              on: {
                'result.mapped': {
                  target: '#toolCall.completed',
                  actions: { type: 'conclude', params: ({ context, event }) => reported(context, event.report) },
                },
                'result.awaited': { target: 'waiting' },
                abort: { description: 'The tool has ended, and nothing waits that could be cut.' },
              },
            },
            waiting: {
              invoke: {
                id: 'report',
                src: 'reportResult',
                input: ({ context }) => ({ callId: context.call.id, end: endOf(context), abort: context.abort }),
                onDone: {
                  target: '#toolCall.completed',
                  actions: { type: 'conclude', params: ({ context, event }) => reported(context, event.output) },
                },
                onError: brokenOff('reporting the result'),
              },
              on: {
                abort: { actions: { type: 'passAbortToReport', params: ({ event }) => event } },
              },
            },
          },
        },
      },
    },

    completed: {
      description: 'The result is fixed; it waits for its turn to be handed over.',
      initial: 'settling',
      on: { 'call.yield': 'yielded' },
      states: {
        settling: {
          always: [
            { guard: { type: 'endedAs', params: { kind: 'succeeded' } }, target: 'succeeded' },
            { guard: 'failedAndStopsSiblings', target: 'failed', actions: 'tellSiblingsToStop' },
            { guard: { type: 'endedAs', params: { kind: 'invalid' } }, target: 'invalid' },
            { guard: { type: 'endedAs', params: { kind: 'denied' } }, target: 'denied' },
            { guard: { type: 'endedAs', params: { kind: 'cancelled' } }, target: 'cancelled' },
            { guard: { type: 'endedAs', params: { kind: 'stopped' } }, target: 'stopped' },
            { target: 'failed' },
          ],
        },
        succeeded: { entry: [announced('completed.succeeded'), 'fixResult', 'tellCompleted'] },
        failed: { entry: [announced('completed.failed'), 'fixResult', 'tellCompleted'] },
        invalid: { entry: [announced('completed.invalid'), 'fixResult', 'tellCompleted'] },
        denied: { entry: [announced('completed.denied'), 'fixResult', 'tellCompleted'] },
        cancelled: { entry: [announced('completed.cancelled'), 'fixResult', 'tellCompleted'] },
        stopped: { entry: [announced('completed.stopped'), 'fixResult', 'tellCompleted'] },
      },
    },

    yielded: {
      type: 'final',
      entry: announced('yielded'),
    },
  },
});

const messageOf = (verdict: ValidationVerdict): string => (verdict.ok ? '' : verdict.message);

const rewrittenByHook = ({ updatedInput }: HookResult): RewrittenInput => ({
  value: updatedInput?.value ?? null,
  by: `hook ${updatedInput?.hookName ?? 'PreToolUse'}`,
  approval: null,
});

const rewrittenByAnswer = ({ updatedInput, winner }: PermissionDecision): RewrittenInput => ({
  value: updatedInput ?? null,
  by: winner.source?.type === 'hook' ? `hook ${winner.source.hookName}` : 'the person asked',
  approval: winner,
});

/** What is to be judged. `judging` is entered with the facts alone; they stay with the machine that reads them. */
const caseOf = ({ call, tool }: ToolCallContext, event: ToolCallEvent): PermissionInput => {
  assertEvent(event, 'facts.gathered');
  const { facts, digest } = event;
  return { callId: call.id, toolName: tool?.toolName ?? call.name, inputDigest: digest, facts };
};

/** `reporting` is entered from `calling` alone, which has just set the end. */
const endOf = (context: ToolCallContext): ToolEnd =>
  context.end ?? { kind: 'failed', durationMs: 0, message: 'the tool’s end was not recorded' };

type Machine = typeof machine;
/** The machine's type by name: inferred, it would be written out in the declarations of every machine that invokes it. */
export interface ToolCallMachine extends Machine {}

/**
 * One `tool_use` block's life: queued → executing (six gates) → completed → yielded.
 * `completed` is the only place where a result is fixed; whatever comes later finds no transition.
 */
export const toolCallMachine: ToolCallMachine = machine;
