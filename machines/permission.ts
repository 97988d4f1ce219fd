import { assign, emit, setup } from 'xstate';
import type { PermissionAnswer, PermissionDecision, TraceEntry, VerdictBehavior } from '../src/permissions/types.js';
import type { AbortReason } from '../src/tool/call.js';
import { messageOf } from './errorText.js';
import { checksBetween, type PermissionCheck, verdictOf } from './permissionChecks.js';
import type {
  AddressedAnswer,
  AnswerRefused,
  ClassifierVerdict,
  PermissionContext,
  PermissionEvent,
  PermissionInput,
  PermissionQuestion,
} from './permissionProtocol.js';
import {
  abortEntry,
  answerEntry,
  approvalCounts,
  classifierEntry,
  decisionOf,
  demandOf,
  failureEntry,
  modeRefusal,
  nobodyEntry,
  questionTo,
} from './permissionTrace.js';
import { port } from './port.js';

export type { AddressedAnswer, ClassifierVerdict, PermissionContext, PermissionQuestion } from './permissionProtocol.js';

const says =
  (check: PermissionCheck, behavior: VerdictBehavior) =>
  ({ context }: { context: PermissionContext }): boolean =>
    verdictOf[check](context.facts, context.toolName).behavior === behavior;

const machine = setup({
  types: {
    context: {} as PermissionContext,
    events: {} as PermissionEvent,
    input: {} as PermissionInput,
    output: {} as PermissionDecision,
    emitted: {} as AnswerRefused,
  },
  actors: {
    /** Asked in mode `auto` only, where one is provided. A failure means ask. */
    classifyCall: port<PermissionQuestion, ClassifierVerdict>('classifyCall'),
    /** Resolves to null when no hook decided. A failure decides nothing. */
    permissionRequestHooks: port<PermissionQuestion, PermissionAnswer | null>('permissionRequestHooks'),
    /** Puts the question to a person. May resolve, or stay open while the answer arrives as `permission.answered`. */
    askPerson: port<PermissionQuestion, AddressedAnswer>('askPerson'),
  },
  actions: {
    /** Every check from the last one noted on, in order, up to this one. */
    noteThrough: assign({
      trace: ({ context }, last: PermissionCheck) => [
        ...context.trace,
        ...checksBetween(context.trace.length, last).map((check) => ({ check, ...verdictOf[check](context.facts, context.toolName) })),
      ],
    }),
    noteEntry: assign({ trace: ({ context }, entry: TraceEntry) => [...context.trace, entry] }),
    notePersonsAnswer: assign({
      answer: (_, { answer }: AddressedAnswer) => answer,
      trace: ({ context }, { answer }: AddressedAnswer) => [...context.trace, answerEntry('waitingForPerson', answer)],
    }),
    noteHookAnswer: assign({
      answer: (_, answer: PermissionAnswer | null) => answer,
      trace: ({ context }, answer: PermissionAnswer | null) =>
        answer === null ? context.trace : [...context.trace, answerEntry('consultingHooks', answer)],
    }),
    noteAbort: assign({ trace: ({ context }, { reason }: { reason: AbortReason }) => [...context.trace, abortEntry(reason)] }),
    noteClassifier: assign({ trace: ({ context }, verdict: ClassifierVerdict) => [...context.trace, classifierEntry(verdict)] }),
    noteThatTheModeRefuses: assign({ trace: ({ context }) => [...context.trace, modeRefusal(context)] }),
    noteTheApproval: assign({
      trace: ({ context }) => [...context.trace, { ...(context.facts.approval ?? demandOf(context)), check: 'findingSomeone' }],
    }),
    noteThatNobodyIsThere: assign({
      trace: ({ context }) => [...context.trace, nobodyEntry('findingPerson', `Nobody can be asked. ${demandOf(context).reason}`)],
    }),
    rememberTheDemand: assign({ cause: ({ context }) => demandOf(context) }),
    refuseTheAnswer: emit((_, { callId, inputDigest }: AddressedAnswer) => ({
      type: 'permission.answerRefused' as const,
      callId,
      inputDigest,
    })),
  },
  guards: {
    aDenyRuleMatches: says('checkingDenyRule', 'deny'),
    aHookDenies: says('checkingHookDeny', 'deny'),
    theToolDenies: says('checkingToolDeny', 'deny'),
    anAskRuleMatches: says('checkingAskRule', 'ask'),
    onlyAPersonMayAnswer: says('checkingRequiredPerson', 'ask'),
    aSafetyCheckAsks: says('checkingSafety', 'ask'),
    aHookAsks: says('checkingHookAsk', 'ask'),
    theToolAsks: says('checkingToolAsk', 'ask'),
    theModeAsks: says('checkingMode', 'ask'),
    theModeAllows: says('checkingMode', 'allow'),
    aHookAllows: says('checkingHookAllow', 'allow'),
    theToolAllows: says('checkingToolAllow', 'allow'),
    anAllowRuleMatches: says('checkingAllowRule', 'allow'),
    noRuleIsNeeded: says('checkingBuiltInAllow', 'allow'),
    aClassifierMayDecide: ({ context }) => context.facts.mode === 'auto' && context.facts.hasClassifier === true,
    theAnswerCameWithTheInput: ({ context }) => approvalCounts(context),
    theModeNeverAsks: ({ context }) => context.facts.mode === 'dontAsk',
    /** Hooks whose rewritten input still demands a question have spoken: asked again, they would say the same for ever. */
    hooksMayAnswer: ({ context: { facts } }) => facts.hasPermissionRequestHooks && facts.approval?.source?.type !== 'hook',
    aPersonCanBeAsked: ({ context }) => context.facts.canAsk,
    isYes: (_, verdict: { behavior: string } | null) => verdict?.behavior === 'allow',
    isNo: (_, verdict: { behavior: string } | null) => verdict?.behavior === 'deny',
    /** Where only a person may answer, a hook's yes is not enough; its no is. */
    isYesThatCounts: ({ context }, answer: PermissionAnswer | null) =>
      answer?.behavior === 'allow' && context.facts.requiresPerson === null,
    isYesToThisQuestion: ({ context }, { callId, inputDigest, answer }: AddressedAnswer) =>
      callId === context.callId && inputDigest === context.inputDigest && answer.behavior === 'allow',
    isNoToThisQuestion: ({ context }, { callId, inputDigest, answer }: AddressedAnswer) =>
      callId === context.callId && inputDigest === context.inputDigest && answer.behavior === 'deny',
  },
}).createMachine({
  id: 'permission',
  options: { maxIterations: 1000 },
  context: ({ input: { callId, toolName, inputDigest, facts } }) => ({
    callId,
    toolName,
    inputDigest,
    facts,
    trace: [],
    cause: null,
    answer: null,
  }),
  output: ({ context }) => decisionOf(context),
  initial: 'checking',
  on: {
    abort: {
      target: '.denied',
      actions: { type: 'noteAbort', params: ({ event }) => event },
    },
    'permission.answered': {
      description: 'An answer to another question, or to a question nobody has put. It is refused, and says so.',
      actions: { type: 'refuseTheAnswer', params: ({ event }) => event },
    },
  },
  states: {
    checking: {
      description: 'The law, from top to bottom: the first that holds decides, and nothing below outvotes it.',
      always: [
        // A no is final, whoever says it.
        { guard: 'aDenyRuleMatches', target: 'denied', actions: { type: 'noteThrough', params: 'checkingDenyRule' } },
        { guard: 'aHookDenies', target: 'denied', actions: { type: 'noteThrough', params: 'checkingHookDeny' } },
        { guard: 'theToolDenies', target: 'denied', actions: { type: 'noteThrough', params: 'checkingToolDeny' } },
        // What demands a question cannot be outvoted by anything that allows.
        { guard: 'anAskRuleMatches', target: 'asking', actions: { type: 'noteThrough', params: 'checkingAskRule' } },
        { guard: 'onlyAPersonMayAnswer', target: 'asking', actions: { type: 'noteThrough', params: 'checkingRequiredPerson' } },
        { guard: 'aSafetyCheckAsks', target: 'asking', actions: { type: 'noteThrough', params: 'checkingSafety' } },
        { guard: 'aHookAsks', target: 'asking', actions: { type: 'noteThrough', params: 'checkingHookAsk' } },
        { guard: 'theToolAsks', target: 'asking', actions: { type: 'noteThrough', params: 'checkingToolAsk' } },
        // The mode has the last word that can demand a question (plan). What follows can only save one.
        { guard: 'theModeAsks', target: 'asking', actions: { type: 'noteThrough', params: 'checkingMode' } },
        { guard: 'theModeAllows', target: 'allowed', actions: { type: 'noteThrough', params: 'checkingMode' } },
        { guard: 'aHookAllows', target: 'allowed', actions: { type: 'noteThrough', params: 'checkingHookAllow' } },
        { guard: 'theToolAllows', target: 'allowed', actions: { type: 'noteThrough', params: 'checkingToolAllow' } },
        { guard: 'anAllowRuleMatches', target: 'allowed', actions: { type: 'noteThrough', params: 'checkingAllowRule' } },
        { guard: 'noRuleIsNeeded', target: 'allowed', actions: { type: 'noteThrough', params: 'checkingBuiltInAllow' } },
        { guard: 'aClassifierMayDecide', target: 'classifying', actions: { type: 'noteThrough', params: 'findingNothingThatAllows' } },
        { target: 'asking', actions: { type: 'noteThrough', params: 'findingNothingThatAllows' } },
      ],
    },
    classifying: {
      invoke: {
        src: 'classifyCall',
        id: 'classifier',
        input: ({ context }) => questionTo('classify', context),
        onDone: [
          {
            guard: { type: 'isYes', params: ({ event }) => event.output },
            target: 'allowed',
            actions: { type: 'noteClassifier', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'isNo', params: ({ event }) => event.output },
            target: 'denied',
            actions: { type: 'noteClassifier', params: ({ event }) => event.output },
          },
          {
            target: 'asking',
            actions: { type: 'noteClassifier', params: ({ event }) => event.output },
          },
        ],
        onError: {
          target: 'asking',
          actions: { type: 'noteEntry', params: ({ event }) => failureEntry('classifying', 'The classifier', event.error) },
        },
      },
    },
    asking: {
      entry: 'rememberTheDemand',
      initial: 'findingSomeone',
      states: {
        findingSomeone: {
          always: [
            { guard: 'theAnswerCameWithTheInput', target: '#permission.allowed', actions: 'noteTheApproval' },
            { guard: 'theModeNeverAsks', target: '#permission.denied', actions: 'noteThatTheModeRefuses' },
            { guard: 'hooksMayAnswer', target: 'consultingHooks' },
            { target: 'findingPerson' },
          ],
        },
        consultingHooks: {
          invoke: {
            src: 'permissionRequestHooks',
            id: 'permissionRequestHooks',
            input: ({ context }) => questionTo('hook:PermissionRequest', context),
            onDone: [
              {
                guard: { type: 'isYesThatCounts', params: ({ event }) => event.output },
                target: '#permission.allowed',
                actions: { type: 'noteHookAnswer', params: ({ event }) => event.output },
              },
              {
                guard: { type: 'isNo', params: ({ event }) => event.output },
                target: '#permission.denied',
                actions: { type: 'noteHookAnswer', params: ({ event }) => event.output },
              },
              { target: 'findingPerson' },
            ],
            onError: {
              target: 'findingPerson',
              actions: {
                type: 'noteEntry',
                params: ({ event }) => failureEntry('consultingHooks', 'PermissionRequest hooks', event.error),
              },
            },
          },
        },
        findingPerson: {
          always: [
            { guard: 'aPersonCanBeAsked', target: 'waitingForPerson' },
            { target: '#permission.denied', actions: 'noteThatNobodyIsThere' },
          ],
        },
        waitingForPerson: {
          invoke: {
            src: 'askPerson',
            id: 'askPerson',
            input: ({ context }) => questionTo('ask', context),
            onDone: [
              {
                guard: { type: 'isYesToThisQuestion', params: ({ event }) => event.output },
                target: '#permission.allowed',
                actions: { type: 'notePersonsAnswer', params: ({ event }) => event.output },
              },
              {
                guard: { type: 'isNoToThisQuestion', params: ({ event }) => event.output },
                target: '#permission.denied',
                actions: { type: 'notePersonsAnswer', params: ({ event }) => event.output },
              },
              {
                target: '#permission.denied',
                actions: { type: 'noteEntry', params: nobodyEntry('waitingForPerson', 'The answer speaks of another call or input') },
              },
            ],
            onError: {
              target: '#permission.denied',
              actions: {
                type: 'noteEntry',
                params: ({ event }) => nobodyEntry('waitingForPerson', `Asking failed: ${messageOf(event.error)}`),
              },
            },
          },
          on: {
            'permission.answered': [
              {
                guard: { type: 'isYesToThisQuestion', params: ({ event }) => event },
                target: '#permission.allowed',
                actions: { type: 'notePersonsAnswer', params: ({ event }) => event },
              },
              {
                guard: { type: 'isNoToThisQuestion', params: ({ event }) => event },
                target: '#permission.denied',
                actions: { type: 'notePersonsAnswer', params: ({ event }) => event },
              },
            ],
          },
        },
      },
    },
    allowed: { type: 'final' },
    denied: { type: 'final' },
  },
});

type Machine = typeof machine;
/** The machine's type by name: inferred, it would be written out in the declarations of every machine that invokes it. */
export interface PermissionMachine extends Machine {}

/**
 * The decision about one call. Reads facts, asks where something demands a question, and ends in `allowed` or `denied`.
 * `deny > ask > allow` is a lattice: states and guards stand in the order of the checks, and no later one lowers what an
 * earlier one said. Every check appends to the trace, which is what `explain` and the inspector show.
 */
export const permissionMachine: PermissionMachine = machine;
