import { type AnyActorRef, isMachineSnapshot } from 'xstate';
import { isJsonObject, type JsonObject } from '../json.js';
import type { SessionUpdate } from '../session/updates.js';
import { asActor } from './actorRefs.js';
import type { FlowSink } from './flowSink.js';
import type { Inspectable, InspectableSession, InspectionFeeds } from './inspectable.js';
import { QuestionFeed } from './questionFeed.js';

/** A session as something to inspect: its updates feed the flow, its open questions lie on the desk, its subagents are shown below their calls. */
export function sessionFeed(session: InspectableSession): Inspectable {
  return {
    actor: session.actor,
    name: `session ${session.id}`,
    ...(session.gate ? { gate: session.gate } : {}),
    attachInspection: (feeds) => {
      const feed = new SessionFeed(session, feeds.sink, '');
      const questions = new QuestionFeed(session, feeds.desk);
      for (const prompt of session.openPermissions) questions.ask(prompt);
      for (const prompt of session.openQuestions) questions.inquire(prompt);
      const subscription = session.updates$.subscribe((update) => {
        feed.take(update);
        questions.take(update);
      });
      const letAgentsGo = watchAgents(session, feeds, '');
      return () => {
        subscription.unsubscribe();
        letAgentsGo();
      };
    },
  };
}

/** Shows the subagents of a session, and theirs. Ids of calls are unique within one conversation only, so an agent's id stands before them. */
function watchAgents(session: Pick<InspectableSession, 'actor' | 'onAgent'>, feeds: InspectionFeeds, prefix: string): () => void {
  const stops: (() => void)[] = [];
  const stop = session.onAgent?.((agent) => {
    const callPrefix = `${agent.id}/`;
    const feed = new SessionFeed(agent, feeds.sink, `${prefix}${callPrefix}`);
    const subscription = agent.updates$.subscribe((update) => feed.take(update));
    const host = { actor: actorOfCall(session.actor, agent.callId), name: agent.type, callPrefix };
    stops.push(() => subscription.unsubscribe(), feeds.attach(agent.actor, host), watchAgents(agent, feeds, `${prefix}${callPrefix}`));
  });
  return () => {
    stop?.();
    for (const one of stops) one();
  };
}

/** The actor of a call that is open, somewhere below `root`. */
function actorOfCall(root: AnyActorRef, callId: string): AnyActorRef | undefined {
  const snapshot: unknown = root.getSnapshot();
  if (!isMachineSnapshot(snapshot)) return undefined;
  const call: unknown = isJsonObject(snapshot.context) ? snapshot.context.call : undefined;
  if (isJsonObject(call) && call.id === callId) return root;
  for (const child of Object.values<unknown>(snapshot.children)) {
    const ref = asActor(child);
    const found = ref && actorOfCall(ref, callId);
    if (found) return found;
  }
  return undefined;
}

/** What a session tells, as facts of the flow. */
class SessionFeed {
  readonly #inputs = new Map<string, JsonObject>();
  #model = '';
  #request: string | undefined;
  /** Marks the requests of a subagent. */
  readonly #agent: { readonly agent?: string };

  constructor(
    readonly session: Pick<InspectableSession, 'mode'>,
    readonly sink: FlowSink,
    /** Stands before the ids of its calls; empty for the main session. */
    readonly prefix: string,
  ) {
    this.#agent = prefix === '' ? {} : { agent: prefix.slice(0, -1) };
  }

  take(update: SessionUpdate): void {
    switch (update.type) {
      case 'session.started':
        this.#model = update.model;
        break;
      case 'turn.started':
        this.#request = `model:${update.queryId}:${update.turn}`;
        this.sink.modelRequest({
          requestId: this.#request,
          ...this.#agent,
          model: this.#model,
          body: { queryId: update.queryId, turn: update.turn },
        });
        break;
      case 'model.ended':
        this.#modelEnded(update);
        break;
      case 'call.input':
        this.#inputs.set(update.callId, update.input);
        break;
      case 'call.decision': {
        const input = this.#inputs.get(update.callId);
        const { callId, tool: toolName, decision } = update;
        this.sink.decision({
          toolUseId: this.prefix + callId,
          toolName,
          mode: this.session.mode,
          decision,
          ...(input === undefined ? {} : { input }),
        });
        break;
      }
      case 'call.progress':
        this.sink.progress(this.prefix + update.callId, update.progress);
        break;
      case 'call.result':
        this.#inputs.delete(update.callId);
        this.sink.result({
          toolUseId: this.prefix + update.callId,
          toolName: update.tool,
          outcome: update.outcome,
          body: update.result.content ?? '',
        });
        break;
      case 'call.late':
        this.sink.note(
          'warning',
          `${update.tool} (${update.callId}) ${update.outcome} ${update.afterMs} ms after its call was settled without it.`,
        );
        break;
      case 'hook.run':
        this.sink.hookRun(update.run, update.callId === undefined ? undefined : this.prefix + update.callId);
        break;
      case 'model.retry':
        this.sink.note('warning', `The model is asked again in ${update.delayMs} ms (attempt ${update.attempt}): ${update.error.message}`);
        break;
      case 'message.discarded':
        this.sink.note('warning', `An answer was discarded: ${update.reason}`);
        break;
      case 'notice':
        this.sink.note(update.level === 'info' ? 'info' : 'warning', update.message);
        break;
      default:
    }
  }

  #modelEnded({ stopReason, usage, incomplete }: Extract<SessionUpdate, { type: 'model.ended' }>): void {
    if (this.#request === undefined) return;
    this.sink.modelEnd({
      requestId: this.#request,
      ...this.#agent,
      model: this.#model,
      ...(stopReason === null ? {} : { stopReason }),
      ...(usage === null ? {} : { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens }),
      ...(incomplete ? { error: 'the stream broke; complete blocks were kept' } : {}),
    });
    this.#request = undefined;
  }
}
