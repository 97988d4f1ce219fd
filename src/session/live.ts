import type { ActorSystem, ActorSystemInfo } from 'xstate';
import {
  backgroundTaskMachine,
  executorMachine,
  permissionMachine,
  queryMachine,
  sessionMachine,
  toolCallMachine,
  turnMachine,
} from '../../machines/index.js';
import type { Admission } from '../../machines/query.js';
import type { GateAnswer } from '../../machines/toolCall.js';
import type { TurnEvent } from '../../machines/turn.js';
import { messageOf } from '../tool/errors.js';
import { contained } from './contained.js';
import { services } from './port.js';
import { parseInput, resolveTool, validateInput, weighCall } from './ports/gates.js';
import { askPerson, askTool, classifyPermission, gatherFacts, permissionRequestHooks, runPreToolUseHooks } from './ports/permission.js';
import { admitTurn, compact, recordStopReason, runPromptHooks, runStopHooks } from './ports/query.js';
import { fixResult, mapAtOnce, reportResult } from './ports/report.js';
import { awaitEnd, closeSession, compactSession, endQuery, endWaiting, openQuery, startSession } from './ports/session.js';
import { callTool } from './ports/tool.js';
import { attachResults, noteEnd, prepareTurn, streamModel, waitForRetry } from './ports/turn.js';
import type { Services } from './services.js';

/*
 * The machines with their live ports. Assembled once for all sessions of a process; whatever belongs to one session is found
 * through its actor system.
 */

const permission = contained(
  permissionMachine.provide({
    actors: { classifyCall: classifyPermission, permissionRequestHooks, askPerson },
  }),
);

const toolCall = contained(
  toolCallMachine.provide({
    actors: { validateInput, runPreToolUseHooks, askTool, permission, callTool, reportResult },
    actions: total({
      weighCall: ({ context, self, system }) => self.send(weighCall(context.call, services(system))),
      resolveTool: ({ context, self, system }) =>
        self.send(answerOf('resolving the tool', () => resolveTool(context.call.id, services(system)))),
      parseInput: ({ context, self, system }) =>
        self.send(answerOf('parsing the input', () => parseInput(context.call.id, context.rewritten, services(system)))),
      gatherFacts: ({ context, self, system }) => {
        const { call, hook, rewritten } = context;
        const gate = 'gathering permission facts';
        const gather = () => answerOf(gate, () => gatherFacts(call.id, hook, rewritten?.approval ?? null, services(system)));
        const { provider } = services(system);
        if (!provider) return self.send(gather());
        try {
          provider.gather(call.id, gather, (answer) => self.send(answer));
        } catch (error) {
          self.send(brokenGate(gate, messageOf(error)));
        }
      },
      mapResult: ({ context, self, system }, { end, abort }) =>
        self.send(answerOf('reporting the result', () => mapAtOnce({ callId: context.call.id, end, abort }, services(system)))),
      announce: ({ context, system }, { state }) => {
        const session = services(system);
        const record = session.calls.find(context.call.id);
        session.update({
          type: 'call.state',
          callId: context.call.id,
          tool: context.tool?.toolName ?? context.call.name,
          state,
          ms: record ? Math.max(0, session.now() - record.admittedAt) : 0,
        });
      },
      noteDecision: ({ context, system }, { decision }) => {
        const trace = [...context.earlierTrace, ...decision.trace];
        const tool = context.tool?.toolName ?? context.call.name;
        const session = services(system);
        session.update({ type: 'call.decision', callId: context.call.id, tool, decision: { ...decision, trace } });
        applyAnswer(session, decision.updatedPermissions ?? []);
      },
      fixResult: ({ context, system }) => {
        if (context.outcome) fixResult(context.call.id, context.outcome, services(system));
      },
    }),
  }),
);

const executor = contained(
  executorMachine.provide({
    actors: { toolCall },
    actions: total({
      applyModifiers: ({ system }, { callIds }) => applyModifiers(callIds, services(system)),
      fixResultOf: ({ system }, { callId, outcome }) => fixResult(callId, outcome, services(system)),
      tellInProgress: ({ system }, { callIds }) => services(system).update({ type: 'calls.inProgress', callIds }),
      noteDuplicate: ({ system }, { call }) =>
        notice(services(system), 'warning', `The model sent the call ${call.id} (${call.name}) twice in one answer; it runs once.`),
    }),
  }),
);

const turn = contained(
  turnMachine.provide({
    actors: { streamModel, waitForRetry, executor, attachResults },
    actions: total(
      {
        prepareTurn: ({ self, system }) =>
          self.send(
            answering<TurnEvent>(
              () => ({ type: 'turn.prepared', plan: prepareTurn(services(system)) }),
              (reason) => ({ type: 'turn.unprepared', reason }),
            ),
          ),
        recordBlock: ({ context, system }, { event }) => {
          if (event.type !== 'block.completed') return;
          const session = services(system);
          const { messageId, model } = session.answering ?? {
            messageId: `msg_${context.address.queryId}_${context.address.turn}`,
            model: session.model.id,
          };
          session.conversation.addAssistantBlock(messageId, model, event.block);
          session.update({ type: 'block', queryId: context.address.queryId, block: event.block });
        },
        noteMessage: ({ system }, { messageId, model }) => {
          services(system).answering = { messageId, model };
        },
        dropMessage: ({ system }, { reason }) => {
          const session = services(system);
          session.conversation.discardAnswer(reason);
          session.update({ type: 'message.discarded', reason });
        },
        noteStream: ({ system }, { note }) => notice(services(system), 'warning', note),
        noteEnd: ({ system }, { end }) => noteEnd(end, services(system)),
      },
      ['recordBlock', 'dropMessage'],
    ),
  }),
);

const query = contained(
  queryMachine.provide({
    actors: { runPromptHooks, compact, turn, runStopHooks },
    actions: total({
      admitTurn: ({ self, system }) => {
        const admission = answering<Admission>(
          () => admitTurn(services(system)),
          (reason) => ({ kind: 'stop', end: 'runtimeError', reason }),
        );
        self.send({ type: 'turn.admitted', admission });
      },
      recordStopReason: ({ system }, { hook }) => recordStopReason(hook, services(system)),
      noteTurn: ({ system }, { queryId, turn: number }) => services(system).update({ type: 'turn.started', queryId, turn: number }),
    }),
  }),
);

const backgroundTask = contained(
  backgroundTaskMachine.provide({
    actors: { awaitEnd },
    actions: total({
      stopWork: ({ system }, { taskId }) => services(system).tasks.stopWork(taskId),
    }),
  }),
);

export const liveSession = contained(
  sessionMachine.provide({
    actors: { startSession, query, backgroundTask, compactSession, closeSession },
    actions: total({
      noteTaskEnd: ({ system }, { taskId, end }) => services(system).tasks.settle(taskId, end),
      openQuery: ({ system }, { queryId }) => openQuery(queryId, services(system)),
      endWaiting: ({ system }, { queryId, reason }) => endWaiting(queryId, reason, services(system)),
      noteQueryEnd: ({ system }, { output }) => endQuery(output, services(system)),
      noteFailure: ({ system }, { error }) => {
        const session = services(system);
        const reason = messageOf(error);
        notice(session, 'error', reason);
        // Whoever waits for a query must hear of its end, also where its machine broke.
        if (session.runningQuery !== undefined) endQuery({ queryId: session.runningQuery, end: 'runtimeError', reason, turns: 0 }, session);
      },
    }),
  }),
);

type Action = (scope: never, params: never) => void;

/**
 * No action may throw into a machine: what fails is told, and the machine goes on. Those in `decisive` are let through: what they
 * could not do must not be passed over, so the machine breaks, ends what it started, and is reported by its parent.
 */
function total<Actions extends Readonly<Record<string, Action>>>(
  actions: Actions,
  decisive: readonly (keyof Actions & string)[] = [],
): Actions {
  for (const [name, act] of Object.entries<Action>(actions)) {
    if (decisive.includes(name)) continue;
    Reflect.set(actions, name, (...args: readonly unknown[]) => {
      try {
        Reflect.apply(act, undefined, args);
      } catch (error) {
        const [scope] = args;
        if (isScope(scope)) notice(services(scope.system), 'error', `The runtime failed at ${name}: ${messageOf(error)}`);
      }
    });
  }
  return actions;
}
const isScope = (value: unknown): value is { readonly system: ActorSystem<ActorSystemInfo> } =>
  typeof value === 'object' && value !== null && 'system' in value;

function notice(session: Services, level: 'info' | 'warning' | 'error', message: string): void {
  session.update({ type: 'notice', level, message });
}

/** What an answer changes for the calls to come. A change that cannot be applied is told, and takes nothing from the answer. */
function applyAnswer(session: Services, updates: Parameters<Services['permissions']['apply']>[0]): void {
  if (updates.length === 0) return;
  for (const warning of session.permissions.apply(updates)) notice(session, 'warning', warning);
}

/** In block order, when the executor says so. A modifier that throws changes nothing further and is told. */
function applyModifiers(callIds: readonly string[], session: Services): void {
  for (const callId of callIds) {
    const record = session.calls.find(callId);
    try {
      record?.modify?.({
        setCwd: (cwd) => {
          // A subagent's calls each begin where the agent was started.
          if (session.agent === undefined) session.cwd = cwd;
        },
        loadTools: (names) => session.loadTools(names),
        updatePermissions: (updates) => applyAnswer(session, updates),
      });
    } catch (error) {
      notice(session, 'error', `The context change of call ${callId} failed: ${messageOf(error)}`);
    }
  }
}

/** No action may throw into a machine: what breaks is told as an answer of its own. */
function answering<Answer>(ask: () => Answer, broken: (reason: string) => Answer): Answer {
  try {
    return ask();
  } catch (error) {
    return broken(messageOf(error));
  }
}

/** A gate that breaks says so, and lets nothing through. */
const answerOf = (gate: string, ask: () => GateAnswer): GateAnswer => answering(ask, (reason) => brokenGate(gate, reason));
const brokenGate = (gate: string, reason: string): GateAnswer => ({ type: 'gate.broke', gate, reason });
