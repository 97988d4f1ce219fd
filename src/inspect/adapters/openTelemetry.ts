import { type Attributes, context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { FlowLog } from '../flowLog.js';
import type { ActorStarted, FlowEvent, FlowEventOf } from '../protocol/flowEvents.js';

/** Which tracer, and how much goes onto spans. */
export interface TraceFlowOptions {
  /** Default: `trace.getTracer('sixgates')`. */
  readonly tracer?: Tracer;
  /** Puts arguments and results (redacted) on the spans. Default false, as the conventions ask. */
  readonly captureContent?: boolean;
}

/**
 * Tells a flow as OpenTelemetry spans by the GenAI semantic conventions: `invoke_agent` for a query, `chat` for a request to the
 * model, `execute_tool` for a call. The conventions have nothing for permissions: those attributes carry our own prefix.
 * Spans under way stay open until their end is heard; `stop` ends what is left.
 */
export function traceFlow(log: FlowLog, options: TraceFlowOptions = {}): () => void {
  const spans = new SpanTree(log, options.tracer ?? trace.getTracer('sixgates'), options.captureContent ?? false);
  for (const event of log.events(0)) log.guard(() => spans.take(event));
  const stop = log.listen((event) => spans.take(event));
  return () => {
    stop();
    spans.endAll();
  };
}

class SpanTree {
  /** By actor path. */
  readonly #actors = new Map<string, { readonly span: Span; readonly started: ActorStarted }>();
  readonly #calls = new Map<string, Span>();
  readonly #requests = new Map<string, Span>();
  /**
   * The running query of the main session, under the empty name, and of each subagent: the turn that a request belongs to is not in its
   * event, so its parent is the youngest query.
   */
  readonly #queries = new Map<string, Span>();
  /** Sessions of subagents, by path. */
  readonly #agents = new Map<string, string>();

  constructor(
    readonly log: FlowLog,
    readonly tracer: Tracer,
    readonly captureContent: boolean,
  ) {}

  take(event: FlowEvent): void {
    switch (event.type) {
      case 'actor.started':
        this.#start(event);
        break;
      case 'actor.stopped':
        this.#stop(event);
        break;
      case 'model':
        this.#model(event);
        break;
      case 'decision': {
        const { behavior, reason, winner, asked } = event.decision;
        const prefix = 'sixgates.permission';
        const attributes = {
          [`${prefix}.behavior`]: behavior,
          [`${prefix}.reason`]: reason,
          [`${prefix}.check`]: winner.check,
          [`${prefix}.asked`]: asked,
        };
        this.#calls.get(event.toolUseId)?.setAttributes({ ...attributes, [`${prefix}.mode`]: event.mode });
        break;
      }
      case 'result':
        this.#result(event);
        break;
      default:
    }
  }

  endAll(): void {
    for (const span of [...this.#requests.values(), ...[...this.#actors.values()].reverse().map(({ span }) => span)]) span.end();
    this.#actors.clear();
    this.#requests.clear();
  }

  #start(event: ActorStarted): void {
    if (event.agent !== undefined) this.#agents.set(event.actor, event.agent);
    if (event.kind !== 'query' && event.kind !== 'toolCall') return;
    const attributes: Attributes =
      event.kind === 'query'
        ? { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.conversation.id': this.log.header.name }
        : {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': event.name,
            'gen_ai.tool.type': 'function',
            ...(event.toolUseId === undefined ? {} : { 'gen_ai.tool.call.id': event.toolUseId }),
            ...this.#content('gen_ai.tool.call.arguments', event.input?.hash),
          };
    const name = event.kind === 'query' ? 'invoke_agent' : `execute_tool ${event.name}`;
    const span = this.#open(name, SpanKind.INTERNAL, attributes, event.t, nearest(this.#actors, event.parent)?.span);
    this.#actors.set(event.actor, { span, started: event });
    if (event.kind === 'query') this.#queries.set(this.#agentOf(event.actor), span);
    else if (event.toolUseId !== undefined) this.#calls.set(event.toolUseId, span);
  }

  #stop(event: FlowEventOf<'actor.stopped'>): void {
    const known = this.#actors.get(event.actor);
    if (!known) return;
    if (event.status === 'error') known.span.setStatus({ code: SpanStatusCode.ERROR, message: event.error ?? 'error' });
    known.span.end(this.#time(event.t));
    this.#actors.delete(event.actor);
    if (known.started.toolUseId !== undefined) this.#calls.delete(known.started.toolUseId);
    for (const [agent, query] of this.#queries) if (query === known.span) this.#queries.delete(agent);
  }

  #model(event: FlowEventOf<'model'>): void {
    if (event.phase === 'request') {
      const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'anthropic', 'gen_ai.request.model': event.model };
      this.#requests.set(
        event.requestId,
        this.#open(`chat ${event.model}`, SpanKind.CLIENT, attributes, event.t, this.#queries.get(event.agent ?? '')),
      );
      return;
    }
    const span = this.#requests.get(event.requestId);
    if (!span) return;
    span.setAttributes({
      'gen_ai.response.model': event.model,
      ...(event.stopReason === undefined ? {} : { 'gen_ai.response.finish_reasons': [event.stopReason] }),
      ...(event.inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': event.inputTokens }),
      ...(event.outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': event.outputTokens }),
    });
    if (event.error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: event.error });
    span.end(this.#time(event.t));
    this.#requests.delete(event.requestId);
  }

  #result(event: FlowEventOf<'result'>): void {
    const span = this.#calls.get(event.toolUseId);
    span?.setAttributes({ 'sixgates.outcome': event.outcome, ...this.#content('gen_ai.tool.call.result', event.body.hash) });
    if (event.isError) span?.setStatus({ code: SpanStatusCode.ERROR, message: event.summary });
  }

  #content(name: string, hash: string | undefined): Attributes {
    const text = this.captureContent && hash !== undefined ? this.log.bodies.get(hash) : undefined;
    return text === undefined ? {} : { [name]: text };
  }

  /** The subagent that an actor belongs to; empty for the main session. */
  #agentOf(path: string): string {
    return nearest(this.#agents, path) ?? '';
  }

  #open(name: string, kind: SpanKind, attributes: Attributes, t: number, parent: Span | undefined): Span {
    const around = parent ? trace.setSpan(context.active(), parent) : context.active();
    return this.tracer.startSpan(name, { kind, attributes, startTime: this.#time(t) }, around);
  }

  #time(t: number): number {
    return this.log.header.startedAt + t;
  }
}

/** What is known of the actor of a path, or of the closest one above it. */
function nearest<T>(known: ReadonlyMap<string, T>, path: string | null): T | undefined {
  for (let at = path; at; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const found = known.get(at);
    if (found !== undefined) return found;
  }
  return undefined;
}
