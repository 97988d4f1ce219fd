import { assign, emit, fromPromise, setup } from 'xstate';
import type {
  PermissionAnswer,
  PermissionDecision,
  PermissionFacts,
  PermissionUpdate,
  TraceEntry,
  VerdictBehavior,
  VerdictSource,
} from '../src/permissions/types.js';
import type { AbortReason } from '../src/tool/call.js';
import { type PermissionCheck, verdictOf } from './permissionChecks.js';

export interface PermissionInput {
  readonly callId: string;
  readonly toolName: string;
  /** Digest of the exact input that the facts speak of; an answer must carry it. */
  readonly inputDigest: string;
  readonly facts: PermissionFacts;
  /** A yes that came with exactly this input, when someone rewrote it while answering. */
  readonly approval?: PermissionApproval | null;
}

/**
 * A yes to a rewritten input, kept while that input walks the gates again. A person's saves every question; a hook's saves
 * those that no ask rule and no demand for a person raises. No approval helps against a deny.
 */
export interface PermissionApproval {
  readonly inputDigest: string;
  readonly source: VerdictSource;
}

/** What the ports that answer a question get to see. `id` is stable: the same call asks under the same id. */
export interface PermissionQuestion {
  readonly id: string;
  readonly callId: string;
  readonly toolName: string;
  readonly inputDigest: string;
  /** The check that demanded the question. */
  readonly cause: TraceEntry;
  readonly suggestions: readonly PermissionUpdate[];
  readonly blockedPath?: string;
}

/** An answer with its address: the call and the exact input that were shown. */
export interface AddressedAnswer {
  readonly callId: string;
  readonly inputDigest: string;
  readonly answer: PermissionAnswer;
}

/** A classifier's opinion in mode `auto`; `ask` when it does not know. */
export interface ClassifierVerdict {
  readonly behavior: 'allow' | 'deny' | 'ask';
  readonly reason: string;
}

export type PermissionEvent =
  | ({ readonly type: 'permission.answered' } & AddressedAnswer)
  | { readonly type: 'abort'; readonly reason: AbortReason };

/** An answer to another call, or to an input that has changed since, was refused. The question stays open. */
export interface AnswerRefused {
  readonly type: 'permission.answerRefused';
  readonly callId: string;
  readonly inputDigest: string;
}

export interface PermissionContext extends PermissionInput {
  readonly approval: PermissionApproval | null;
  readonly trace: readonly TraceEntry[];
  /** The check that demanded the question, once one did. */
  readonly cause: TraceEntry | null;
  readonly answer: PermissionAnswer | null;
}

const nothingChecked: TraceEntry = { check: 'start', behavior: 'passthrough', reason: 'Nothing has been checked yet' };
const lastEntry = (context: PermissionContext): TraceEntry => context.trace.at(-1) ?? nothingChecked;
const demand = (context: PermissionContext): TraceEntry => context.cause ?? lastEntry(context);

const says =
  (check: PermissionCheck, behavior: VerdictBehavior) =>
  ({ context }: { context: PermissionContext }): boolean =>
    verdictOf[check](context.facts, context.toolName).behavior === behavior;

const unprovided = (port: string): Promise<never> =>
  Promise.reject(new Error(`The port "${port}" of the permission machine is not provided.`));

const question = (context: PermissionContext, port: 'ask' | 'hook:PermissionRequest' | 'classify'): PermissionQuestion => ({
  id: `${port}:${context.callId}`,
  callId: context.callId,
  toolName: context.toolName,
  inputDigest: context.inputDigest,
  cause: demand(context),
  suggestions: context.facts.suggestions,
  ...(context.facts.blockedPath === undefined ? {} : { blockedPath: context.facts.blockedPath }),
});

const answerEntry = (check: string, answer: PermissionAnswer): TraceEntry => {
  const spoken = answer.behavior === 'deny' && answer.message !== '' ? answer.message : undefined;
  return {
    check,
    behavior: answer.behavior,
    source: answer.source,
    reason: spoken ?? (answer.behavior === 'allow' ? 'Approved' : 'Refused'),
  };
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const failure = (check: string, who: string, error: unknown): TraceEntry => ({
  check,
  behavior: 'passthrough',
  reason: `${who} failed: ${messageOf(error)}`,
});

const unanswered = (reason: string): TraceEntry => ({ check: 'waitingForPerson', behavior: 'deny', source: { type: 'nobody' }, reason });

/** A person has seen and written this input: nothing is left to ask. A hook's yes does not reach past what an ask rule or a person's tool demands. */
const approvalCounts = ({ approval, inputDigest, facts }: PermissionContext): boolean =>
  approval !== null &&
  approval.inputDigest === inputDigest &&
  (approval.source.type === 'person' || (facts.askRule === null && facts.requiresPerson === null));

const decision = (context: PermissionContext): PermissionDecision => {
  const winner = lastEntry(context);
  const { answer } = context;
  return {
    behavior: winner.behavior === 'allow' ? 'allow' : 'deny',
    reason: winner.reason,
    winner,
    trace: context.trace,
    shadowed: context.facts.shadowed,
    asked: answer !== null,
    ...(answer?.behavior === 'allow' && answer.updatedInput !== undefined ? { updatedInput: answer.updatedInput } : {}),
    ...(answer?.behavior === 'allow' && answer.updatedPermissions !== undefined ? { updatedPermissions: answer.updatedPermissions } : {}),
    ...(answer?.behavior === 'deny' && answer.interrupt !== undefined ? { interrupt: answer.interrupt } : {}),
  };
};

/**
 * The decision about one call. Reads facts, asks where something demands a question, and ends in `allowed` or `denied`.
 * `deny > ask > allow` is a lattice: the order of the states is the order of the checks, and no later state lowers what an
 * earlier one said. Every check appends to the trace, which is what `explain` and the inspector show.
 */
export const permissionMachine = setup({
  types: {
    context: {} as PermissionContext,
    events: {} as PermissionEvent,
    input: {} as PermissionInput,
    output: {} as PermissionDecision,
    emitted: {} as AnswerRefused,
  },
  actors: {
    /** Asked in mode `auto` only, where one is provided. A failure means ask. */
    classifyCall: fromPromise<ClassifierVerdict, PermissionQuestion>(() => unprovided('classifyCall')),
    /** Resolves to null when no hook decided. A failure decides nothing. */
    permissionRequestHooks: fromPromise<PermissionAnswer | null, PermissionQuestion>(() => unprovided('permissionRequestHooks')),
    /** Puts the question to a person. May resolve, or stay open while the answer arrives as `permission.answered`. */
    askPerson: fromPromise<AddressedAnswer, PermissionQuestion>(() => unprovided('askPerson')),
  },
  actions: {
    note: assign({
      trace: ({ context }, check: PermissionCheck) => [...context.trace, { check, ...verdictOf[check](context.facts, context.toolName) }],
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
    rememberTheDemand: assign({ cause: ({ context }) => demand(context) }),
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
    theModeDenies: says('checkingMode', 'deny'),
    theModeAsks: says('checkingMode', 'ask'),
    theModeAllows: says('checkingMode', 'allow'),
    aHookAllows: says('checkingHookAllow', 'allow'),
    theToolAllows: says('checkingToolAllow', 'allow'),
    anAllowRuleMatches: says('checkingAllowRule', 'allow'),
    noRuleIsNeeded: says('checkingBuiltInAllow', 'allow'),
    aClassifierMayDecide: ({ context }) => context.facts.mode === 'auto' && context.facts.hasClassifier === true,
    /** Whoever rewrote the input said yes to it. A hook's yes saves only a question that nothing demands. */
    theAnswerCameWithTheInput: ({ context }) =>
      context.facts.approval?.source?.type === 'person' ||
      (context.facts.approval?.source?.type === 'hook' && demand(context).check === 'findingNothingThatAllows'),
    theModeNeverAsks: ({ context }) => context.facts.mode === 'dontAsk',
    hooksMayAnswer: ({ context }) => context.facts.hasPermissionRequestHooks,
    aYesToThisInputIsAtHand: ({ context }) => approvalCounts(context),
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
  context: ({ input }) => ({ ...input, approval: input.approval ?? null, trace: [], cause: null, answer: null }),
  output: ({ context }) => decision(context),
  initial: 'checkingDenyRule',
  on: {
    abort: {
      target: '.denied',
      actions: {
        type: 'noteEntry',
        params: ({ event }) => ({ check: 'abort', behavior: 'deny', source: { type: 'abort' }, reason: `Aborted: ${event.reason}` }),
      },
    },
    'permission.answered': {
      description: 'An answer to another question, or to a question nobody has put. It is refused, and says so.',
      actions: { type: 'refuseTheAnswer', params: ({ event }) => event },
    },
  },
  states: {
    checkingDenyRule: {
      entry: { type: 'note', params: 'checkingDenyRule' },
      always: [{ guard: 'aDenyRuleMatches', target: 'denied' }, { target: 'checkingHookDeny' }],
    },
    checkingHookDeny: {
      entry: { type: 'note', params: 'checkingHookDeny' },
      always: [{ guard: 'aHookDenies', target: 'denied' }, { target: 'checkingToolDeny' }],
    },
    checkingToolDeny: {
      entry: { type: 'note', params: 'checkingToolDeny' },
      always: [{ guard: 'theToolDenies', target: 'denied' }, { target: 'checkingAskRule' }],
    },
    checkingAskRule: {
      entry: { type: 'note', params: 'checkingAskRule' },
      always: [{ guard: 'anAskRuleMatches', target: 'asking' }, { target: 'checkingRequiredPerson' }],
    },
    checkingRequiredPerson: {
      entry: { type: 'note', params: 'checkingRequiredPerson' },
      always: [{ guard: 'onlyAPersonMayAnswer', target: 'asking' }, { target: 'checkingSafety' }],
    },
    checkingSafety: {
      entry: { type: 'note', params: 'checkingSafety' },
      always: [{ guard: 'aSafetyCheckAsks', target: 'asking' }, { target: 'checkingHookAsk' }],
    },
    checkingHookAsk: {
      entry: { type: 'note', params: 'checkingHookAsk' },
      always: [{ guard: 'aHookAsks', target: 'asking' }, { target: 'checkingToolAsk' }],
    },
    checkingToolAsk: {
      entry: { type: 'note', params: 'checkingToolAsk' },
      always: [{ guard: 'theToolAsks', target: 'asking' }, { target: 'checkingMode' }],
    },
    checkingMode: {
      description: 'From here on nothing demands a question; what follows can only save one.',
      entry: { type: 'note', params: 'checkingMode' },
      always: [
        { guard: 'theModeDenies', target: 'denied' },
        { guard: 'theModeAsks', target: 'asking' },
        { guard: 'theModeAllows', target: 'allowed' },
        { target: 'checkingHookAllow' },
      ],
    },
    checkingHookAllow: {
      entry: { type: 'note', params: 'checkingHookAllow' },
      always: [{ guard: 'aHookAllows', target: 'allowed' }, { target: 'checkingToolAllow' }],
    },
    checkingToolAllow: {
      entry: { type: 'note', params: 'checkingToolAllow' },
      always: [{ guard: 'theToolAllows', target: 'allowed' }, { target: 'checkingAllowRule' }],
    },
    checkingAllowRule: {
      entry: { type: 'note', params: 'checkingAllowRule' },
      always: [{ guard: 'anAllowRuleMatches', target: 'allowed' }, { target: 'checkingBuiltInAllow' }],
    },
    checkingBuiltInAllow: {
      entry: { type: 'note', params: 'checkingBuiltInAllow' },
      always: [{ guard: 'noRuleIsNeeded', target: 'allowed' }, { target: 'findingNothingThatAllows' }],
    },
    findingNothingThatAllows: {
      always: [{ guard: 'aClassifierMayDecide', target: 'classifying' }, { target: 'asking' }],
      exit: { type: 'note', params: 'findingNothingThatAllows' },
    },
    classifying: {
      invoke: {
        src: 'classifyCall',
        id: 'classifier',
        input: ({ context }) => question(context, 'classify'),
        onDone: [
          {
            guard: { type: 'isYes', params: ({ event }) => event.output },
            target: 'allowed',
            actions: {
              type: 'noteEntry',
              params: ({ event }) => ({ check: 'classifying', source: { type: 'classifier' }, ...event.output }),
            },
          },
          {
            guard: { type: 'isNo', params: ({ event }) => event.output },
            target: 'denied',
            actions: {
              type: 'noteEntry',
              params: ({ event }) => ({ check: 'classifying', source: { type: 'classifier' }, ...event.output }),
            },
          },
          {
            target: 'asking',
            actions: {
              type: 'noteEntry',
              params: ({ event }) => ({ check: 'classifying', source: { type: 'classifier' }, ...event.output }),
            },
          },
        ],
        onError: {
          target: 'asking',
          actions: { type: 'noteEntry', params: ({ event }) => failure('classifying', 'The classifier', event.error) },
        },
      },
    },
    asking: {
      entry: 'rememberTheDemand',
      initial: 'findingSomeone',
      states: {
        findingSomeone: {
          always: [
            {
              guard: 'theAnswerCameWithTheInput',
              target: '#permission.allowed',
              actions: {
                type: 'noteEntry',
                params: ({ context }) => ({ ...(context.facts.approval ?? demand(context)), check: 'findingSomeone' }),
              },
            },
            {
              guard: 'theModeNeverAsks',
              target: '#permission.denied',
              actions: {
                type: 'noteEntry',
                params: ({ context }) => ({
                  check: 'findingSomeone',
                  behavior: 'deny',
                  source: { type: 'mode', mode: context.facts.mode },
                  reason: `Mode dontAsk refuses what would ask. ${demand(context).reason}`,
                }),
              },
            },
            {
              guard: 'aYesToThisInputIsAtHand',
              target: '#permission.allowed',
              actions: {
                type: 'noteEntry',
                params: ({ context }) => ({
                  check: 'findingSomeone',
                  behavior: 'allow',
                  ...(context.approval === null ? {} : { source: context.approval.source }),
                  reason: 'Approved with this very input',
                }),
              },
            },
            { guard: 'hooksMayAnswer', target: 'consultingHooks' },
            { target: 'findingPerson' },
          ],
        },
        consultingHooks: {
          invoke: {
            src: 'permissionRequestHooks',
            id: 'permissionRequestHooks',
            input: ({ context }) => question(context, 'hook:PermissionRequest'),
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
              actions: { type: 'noteEntry', params: ({ event }) => failure('consultingHooks', 'PermissionRequest hooks', event.error) },
            },
          },
        },
        findingPerson: {
          always: [
            { guard: 'aPersonCanBeAsked', target: 'waitingForPerson' },
            {
              target: '#permission.denied',
              actions: {
                type: 'noteEntry',
                params: ({ context }) => ({
                  check: 'findingPerson',
                  behavior: 'deny',
                  source: { type: 'nobody' },
                  reason: `Nobody can be asked. ${demand(context).reason}`,
                }),
              },
            },
          ],
        },
        waitingForPerson: {
          invoke: {
            src: 'askPerson',
            id: 'askPerson',
            input: ({ context }) => question(context, 'ask'),
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
                actions: { type: 'noteEntry', params: unanswered('The answer speaks of another call or input') },
              },
            ],
            onError: {
              target: '#permission.denied',
              actions: { type: 'noteEntry', params: ({ event }) => unanswered(`Asking failed: ${messageOf(event.error)}`) },
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
