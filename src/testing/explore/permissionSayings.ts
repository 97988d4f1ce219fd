import type { AddressedAnswer } from '../../../machines/permission.js';
import type { JsonObject } from '../../json.js';
import type { PermissionAnswer, VerdictSource } from '../../permissions/types.js';
import type { Scenario } from './sayings.js';
import type { RequestHookOutcome } from './types.js';
import { doneEvent, errorEvent, permissionContext, type WalkSnapshot, type WorldEvent } from './walk.js';

const PERSON: VerdictSource = { type: 'person', surface: 'exploration' };
const REQUEST_HOOK: VerdictSource = { type: 'hook', hookName: 'PermissionRequest hook', event: 'PermissionRequest' };

/** What can be answered to the permission machine while it waits. */
export function permissionSayings(id: string, port: string, snapshot: WalkSnapshot, scenario: Scenario): readonly WorldEvent[] {
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
      const given = answers
        .filter((answer) => answer !== 'nobody')
        .map((answer): WorldEvent => {
          if (answer === 'unreachable') return failed('person.unreachable', 'the question cannot be put');
          if (answer === 'stale')
            return done('person.stale', 'the person answers another input', foreign({ behavior: 'allow', source: PERSON }));
          return done(`person.${answer}`, PERSON_SAYS[answer], { callId, inputDigest, answer: personAnswer(answer, scenario) });
        });
      const byEvent = (behavior: 'yes' | 'no'): WorldEvent =>
        toPermission(`person.${behavior}.event`, `${PERSON_SAYS[behavior]}, by event`, {
          type: 'permission.answered',
          callId,
          inputDigest,
          answer: personAnswer(behavior, scenario),
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

function personAnswer(answer: keyof typeof PERSON_SAYS, { call }: Scenario): PermissionAnswer {
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

function hookAnswer(outcome: Exclude<RequestHookOutcome, 'fails'>, input: JsonObject): PermissionAnswer | null {
  if (outcome === 'yes') return { behavior: 'allow', source: REQUEST_HOOK };
  if (outcome === 'edited') return { behavior: 'allow', source: REQUEST_HOOK, updatedInput: input };
  if (outcome === 'no') return { behavior: 'deny', message: 'The PermissionRequest hook says no', source: REQUEST_HOOK };
  return null;
}

const toPermission = (type: string, say: string, ...events: WorldEvent['events']): WorldEvent => ({ type, say, to: 'permission', events });
