import type { ToolEnd } from '../../../machines/toolCall.js';
import type { ToolVerdict } from '../../permissions/types.js';
import type { AbortReason } from '../../tool/call.js';
import { REPORT } from '../machines.js';
import { permissionSayings } from './permissionSayings.js';
import type { CallCase, HookSaying, ModeCase, PersonAnswer, RequestHookOutcome } from './types.js';
import { callContext, doneEvent, errorEvent, type MachinePair, type WalkSnapshot, type WorldEvent } from './walk.js';
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
    const gathered = world.gather(scenario.call, mode, {
      hook: context.hook,
      rewritten: context.rewritten,
      opinion: scenario.opinion,
      canAsk: scenario.answers.length > 0,
      hasRequestHooks: scenario.requestHooks.length > 0,
    });
    return [toCall('facts', 'the facts are gathered', gathered), ...broken('gathering')];
  }
  if (call.matches({ executing: { reporting: 'mapping' } })) {
    const mapped = toCall('mapped', 'the result is mapped', { type: 'result.mapped', report: REPORT });
    const awaited = toCall('awaited', 'a hook or a file is waited for', { type: 'result.awaited' });
    return [mapped, ...(faults ? [awaited] : []), ...broken('reporting the result')];
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
      return [
        done('reported', 'the result is reported', REPORT),
        ...(faults
          ? [done('reported.error', 'the tool’s output says that it failed', { ...REPORT, isError: true, errorLine: 'failed' })]
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
