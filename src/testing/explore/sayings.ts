import type { AddressedAnswer, PermissionQuestion } from '../../../machines/permission.js';
import type { ToolEnd } from '../../../machines/toolCall.js';
import type { HookResult } from '../../hooks/types.js';
import type { JsonObject } from '../../json.js';
import type { PermissionAnswer, ToolVerdict, VerdictSource } from '../../permissions/types.js';
import type { AbortReason } from '../../tool/call.js';
import type { CallCase, HookSaying, ModeCase, PersonAnswer, RequestHookOutcome } from './types.js';
import { callContext, doneEvent, errorEvent, type MachinePair, permissionContext, type WalkSnapshot, type WorldEvent } from './walk.js';
import type { World } from './world.js';

/** A call in a situation: everything but the answers is fixed. */
export interface Scenario {
  readonly call: CallCase;
  readonly mode: ModeCase;
  /** What PreToolUse hooks may say; empty where none is configured. */
  readonly hooks: readonly HookSaying[];
  /** What PermissionRequest hooks may say; empty where none is configured. */
  readonly requestHooks: readonly RequestHookOutcome[];
  /** What a person may answer; empty where nobody can be asked. */
  readonly answers: readonly PersonAnswer[];
  /** What the tool's own permission check says. */
  readonly opinion: ToolVerdict;
  /** Also everything that can go wrong: broken gates, aborts at any moment, every end of the tool. */
  readonly faults: boolean;
}

const PERSON: VerdictSource = { type: 'person', surface: 'exploration' };
const REQUEST_HOOK: VerdictSource = { type: 'hook', hookName: 'PermissionRequest hook', event: 'PermissionRequest' };

/** All that the world can say to the machines where they are. The first of them is the way on. */
export function sayingsTo(snapshot: WalkSnapshot, scenario: Scenario, world: World, pair: MachinePair): readonly WorldEvent[] {
  const { call } = snapshot;
  const { faults } = scenario;
  const own = waitingFor(snapshot, scenario, world, pair);
  if (!faults || call.status === 'done') return own;
  if (call.matches('completed')) return own;
  return [...own, ...abortsIn(snapshot)];
}

function waitingFor(snapshot: WalkSnapshot, scenario: Scenario, world: World, pair: MachinePair): readonly WorldEvent[] {
  const { call } = snapshot;
  const context = callContext(snapshot);
  const { faults, mode } = scenario;
  const broken = (gate: string): readonly WorldEvent[] =>
    faults ? [toCall(`broken.${gate}`, `${gate} breaks`, { type: 'gate.broke', gate, reason: 'explored failure' })] : [];
  if (call.matches('queued')) {
    const weighed = { type: 'call.weighed', safe: false, resourceKeys: [] };
    return [toCall('start', 'a slot is free', weighed, { type: 'call.start' })];
  }
  if (call.matches({ executing: 'resolving' })) {
    const answer = world.resolve(scenario.call, mode, scenario.hooks.length > 0);
    const found = answer.type === 'tool.resolved';
    const gone = toCall('tool.gone', 'the tool has left the pool', { type: 'tool.missing', message: 'No such tool available any more' });
    return [
      toCall('resolve', found ? 'the tool is found' : 'there is no such tool', answer),
      ...(faults && found ? [gone] : []),
      ...broken('resolving'),
    ];
  }
  if (call.matches({ executing: 'parsing' })) {
    const answer = world.parse(scenario.call, mode, context.rewritten);
    const fits = answer.type === 'input.accepted';
    const refused = toCall('input.unfit', 'the input does not fit the schema', {
      type: 'input.refused',
      message: 'The input does not fit',
    });
    return [
      toCall('parse', fits ? 'the input fits the schema' : 'the input does not fit the schema', answer),
      ...(faults && fits ? [refused] : []),
      ...broken('parsing'),
    ];
  }
  if (call.matches({ executing: { deciding: 'gathering' } })) {
    const facts = world.facts(scenario.call, mode, {
      hook: context.hook,
      rewritten: context.rewritten,
      opinion: scenario.opinion,
      canAsk: scenario.answers.length > 0,
      hasRequestHooks: scenario.requestHooks.length > 0,
    });
    return [toCall('facts', 'the facts are gathered', { type: 'facts.gathered', facts }), ...broken('gathering')];
  }
  if (call.matches('completed')) return [toCall('yield', 'the result is handed over', { type: 'call.yield' })];
  const ports = pair.openPorts(snapshot);
  return [
    ...ports.permission.flatMap(({ id, port }) => permissionSayings(id, port, snapshot, scenario)),
    ...ports.call.flatMap(({ id, port }) => callSayings(id, port, snapshot, scenario)),
  ];
}

function callSayings(id: string, port: string, snapshot: WalkSnapshot, scenario: Scenario): readonly WorldEvent[] {
  const { faults, hooks } = scenario;
  const done = (type: string, say: string, output: unknown): WorldEvent => toCall(type, say, doneEvent(id, output));
  const breaks = (say: string): readonly WorldEvent[] =>
    faults ? [toCall(`broken.${port}`, say, errorEvent(id, 'explored failure'))] : [];
  switch (port) {
    case 'validateInput':
      return [
        done('valid', 'the tool finds the input valid', { ok: true }),
        ...(faults ? [done('invalid', 'the tool finds the input invalid', { ok: false, message: 'explored: not valid' })] : []),
        ...breaks('validation breaks'),
      ];
    case 'runPreToolUseHooks':
      return [...hooks.map(({ type, say, result }) => done(type, say, result)), ...breaks('running the hooks breaks')];
    case 'askTool':
      return [done('opinion', `the tool itself says ${scenario.opinion.behavior}`, null), ...breaks('the tool’s own check breaks')];
    case 'permission':
      return breaks('the permission decision breaks');
    case 'callTool':
      return toolEnds(snapshot, faults)
        .map(({ type, say, end }) => done(type, say, end))
        .concat(
          faults
            ? [
                ...breaks('the tool’s port breaks'),
                toCall('progress', 'the tool reports progress', { type: 'tool.progressed', progress: { message: 'half way' } }),
              ]
            : [],
        );
    case 'reportResult': {
      const report = { isError: false, resultSize: 1, preventContinuation: false };
      return [
        done('reported', 'the result is reported', report),
        ...(faults
          ? [done('reported.error', 'the tool’s output says that it failed', { ...report, isError: true, errorLine: 'failed' })]
          : []),
        ...breaks('reporting breaks'),
      ];
    }
    default:
      return [];
  }
}

function toolEnds(
  snapshot: WalkSnapshot,
  faults: boolean,
): readonly { readonly type: string; readonly say: string; readonly end: ToolEnd }[] {
  const all: readonly { type: string; say: string; end: ToolEnd }[] = [
    { type: 'end.succeeded', say: 'the tool succeeds', end: { kind: 'succeeded', durationMs: 1, hasModifier: false } },
    { type: 'end.failed', say: 'the tool fails', end: { kind: 'failed', durationMs: 1, message: 'explored failure' } },
    { type: 'end.timedOut', say: 'the tool times out', end: { kind: 'timedOut', durationMs: 1, limitMs: 1, message: 'explored timeout' } },
    { type: 'end.aborted', say: 'the tool obeys the abort', end: { kind: 'aborted', durationMs: 1, started: true, abandoned: false } },
  ];
  const aborted = callContext(snapshot).abort !== null;
  return all.filter(({ end }, index) => (end.kind === 'aborted' ? aborted : faults || index === 0));
}

function permissionSayings(id: string, port: string, snapshot: WalkSnapshot, scenario: Scenario): readonly WorldEvent[] {
  const { permission } = snapshot;
  if (permission === null) return [];
  const { callId, inputDigest } = permissionContext(permission);
  const { faults, answers } = scenario;
  const done = (type: string, say: string, output: unknown): WorldEvent => toPermission(type, say, doneEvent(id, output));
  const failed = (type: string, say: string): WorldEvent => toPermission(type, say, errorEvent(id, 'explored failure'));
  const input = scenario.call.input;
  const foreign = (answer: PermissionAnswer): AddressedAnswer => ({ callId, inputDigest: `not ${inputDigest}`, answer });
  const unasked: readonly WorldEvent[] = faults
    ? [
        toPermission('answer.unasked', 'an answer comes to another question', {
          type: 'permission.answered',
          ...foreign({ behavior: 'allow', source: PERSON }),
        }),
        toPermission('permission.abort', 'the decision itself is aborted', { type: 'abort', reason: 'userInterrupt' }),
      ]
    : [];
  switch (port) {
    case 'classifyCall':
      return [
        ...(['allow', 'deny', 'ask'] as const).map((behavior) =>
          done(`classifier.${behavior}`, `the classifier says ${behavior}`, { behavior, reason: `the classifier says ${behavior}` }),
        ),
        ...(faults ? [failed('classifier.fails', 'the classifier fails')] : []),
        ...unasked,
      ];
    case 'permissionRequestHooks':
      return [
        ...scenario.requestHooks
          .filter((outcome) => faults || outcome !== 'fails')
          .map((outcome) => {
            if (outcome === 'fails') return failed('requestHook.fails', 'the PermissionRequest hook fails');
            return done(
              `requestHook.${outcome}`,
              `the PermissionRequest hook says ${outcome === 'silent' ? 'nothing' : outcome}`,
              hookAnswer(outcome, input),
            );
          }),
        ...unasked,
      ];
    case 'askPerson': {
      const question: PermissionQuestion | null = null;
      const given = answers
        .filter((answer) => answer !== 'nobody')
        .map((answer): WorldEvent => {
          if (answer === 'unreachable') return failed('person.unreachable', 'the question cannot be put');
          if (answer === 'stale')
            return done('person.stale', 'the person answers another input', foreign({ behavior: 'allow', source: PERSON }));
          return done(`person.${answer}`, PERSON_SAYS[answer], { callId, inputDigest, answer: personAnswer(answer, scenario, question) });
        });
      const byEvent = (behavior: 'yes' | 'no'): WorldEvent =>
        toPermission(`person.${behavior}.event`, `${PERSON_SAYS[behavior]}, by event`, {
          type: 'permission.answered',
          callId,
          inputDigest,
          answer: personAnswer(behavior, scenario, question),
        });
      return [...given, ...(faults ? [byEvent('yes'), byEvent('no')] : []), ...unasked];
    }
    default:
      return [];
  }
}

const PERSON_SAYS = {
  yes: 'the person says yes',
  no: 'the person says no',
  always: 'the person says yes, always',
  edited: 'the person says yes to another input',
  stop: 'the person says stop',
} as const;

function personAnswer(answer: keyof typeof PERSON_SAYS, { call }: Scenario, _question: PermissionQuestion | null): PermissionAnswer {
  switch (answer) {
    case 'yes':
      return { behavior: 'allow', source: PERSON };
    case 'always':
      return {
        behavior: 'allow',
        source: PERSON,
        updatedPermissions: [{ type: 'addRules', rules: [{ toolName: call.tool }], behavior: 'allow', destination: 'session' }],
      };
    case 'edited':
      return { behavior: 'allow', source: PERSON, updatedInput: call.input };
    case 'no':
      return { behavior: 'deny', message: 'The person said no', source: PERSON };
    case 'stop':
      return { behavior: 'deny', message: 'The person said stop', interrupt: true, source: PERSON };
  }
}

function hookAnswer(outcome: Exclude<RequestHookOutcome, 'fails' | 'absent'> | 'absent', input: JsonObject): PermissionAnswer | null {
  if (outcome === 'yes') return { behavior: 'allow', source: REQUEST_HOOK };
  if (outcome === 'edited') return { behavior: 'allow', source: REQUEST_HOOK, updatedInput: input };
  if (outcome === 'no') return { behavior: 'deny', message: 'The PermissionRequest hook says no', source: REQUEST_HOOK };
  return null;
}

const ABORTS: readonly AbortReason[] = ['userInterrupt', 'siblingError', 'newMessage'];

function abortsIn({ call }: WalkSnapshot): readonly WorldEvent[] {
  const waits = call.matches('queued') || call.matches('executing');
  if (!waits) return [];
  const stopping = call.matches({ executing: { calling: 'stopping' } });
  return ABORTS.filter((reason) => !stopping || reason !== 'newMessage').map((reason) =>
    toCall(`abort.${reason}`, `the call is aborted (${reason})`, { type: 'abort', reason }),
  );
}

const toCall = (type: string, say: string, ...events: WorldEvent['events']): WorldEvent => ({ type, say, to: 'call', events });
const toPermission = (type: string, say: string, ...events: WorldEvent['events']): WorldEvent => ({ type, say, to: 'permission', events });

/** Hook sayings for assumed outcomes; a rewrite puts the same input in its place, which sends it through the gates again. */
export function assumedHook(
  outcome: 'silent' | 'allow' | 'ask' | 'deny' | 'rewrite' | 'rewriteAndAllow' | 'stop',
  input: JsonObject,
): HookSaying {
  const hookName = 'a PreToolUse hook';
  const base: HookResult = { runs: [], verdict: { behavior: 'passthrough' }, additionalContext: [], systemMessages: [], notices: [] };
  const verdict = (behavior: 'allow' | 'ask' | 'deny') => ({ behavior, hookName, reason: `${hookName} says ${behavior}` });
  const type = `hook.${outcome}`;
  switch (outcome) {
    case 'silent':
      return { type, say: 'the hook decides nothing', result: base };
    case 'allow':
    case 'ask':
    case 'deny':
      return { type, say: `the hook says ${outcome}`, result: { ...base, verdict: verdict(outcome) } };
    case 'rewrite':
      return { type, say: 'the hook rewrites the input', result: { ...base, updatedInput: { value: input, hookName } } };
    case 'rewriteAndAllow':
      return {
        type,
        say: 'the hook rewrites the input and allows it',
        result: { ...base, verdict: verdict('allow'), updatedInput: { value: input, hookName } },
      };
    case 'stop':
      return { type, say: 'the hook ends the query', result: { ...base, stop: { reason: 'explored stop', hookName } } };
  }
}
