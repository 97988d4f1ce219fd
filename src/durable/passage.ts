import * as restate from '@restatedev/restate-sdk';
import { createTextTranscript } from '../messages/transcript.js';
import { type AssembledSession, assembleSession } from '../session/assemble.js';
import type { SessionOptions } from '../session/options.js';
import type { AnswerReceipt } from '../session/questions.js';
import type { Services } from '../session/services.js';
import type { SessionUpdate } from '../session/updates.js';
import { messageOf } from '../tool/errors.js';
import { adaptServices } from './adapt.js';
import { DurableFlow } from './flow.js';
import { inputsOf } from './inputs.js';
import { isLive, runLive } from './live.js';
import { obey } from './obey.js';
import type { Post } from './post.js';
import { INBOX_OBJECT, messageSchema } from './protocol.js';
import { type Loaded, loadRecord, saveRecord, UpdateLog } from './record.js';
import type { TaskDesk } from './taskDesk.js';
import { TaskEnds } from './taskEnds.js';

export interface PassageOptions {
  readonly session: SessionOptions;
  readonly desk: TaskDesk;
  readonly post: Post;
  /** Gets what is not written down: deltas and progress, with the attempt they belong to. */
  readonly onLive: ((sessionId: string, update: SessionUpdate, attempt: string) => void) | undefined;
}

/** Updates that stream: for whoever watches right now, and nobody else. */
const STREAMS: ReadonlySet<SessionUpdate['type']> = new Set([
  'text.delta',
  'thinking.delta',
  'input.delta',
  'call.progress',
  'call.late',
  'server.status',
]);
/** How often a worker looks whether the process of a running task is still there. */
const TASK_WATCH_MS = 60_000;

/**
 * Takes a session from the message that woke it to the moment when it is idle and no message is left. The session's machines, ports and
 * stores are those of a session in memory, rebuilt from what is kept; this only decides what reaches them, and when.
 */
export async function passage(context: restate.ObjectContext, first: unknown, options: PassageOptions): Promise<void> {
  const loaded = await loadRecord(context);
  const start = await context.run('begin', () => ({ at: Date.now(), inputs: inputsOf(options.session) }));
  if (start.inputs !== inputsOf(options.session)) {
    throw new Error(
      `Session ${context.key} began this query with other tools, model or system prompt than this worker has. ` +
        'Deploy a changed worker under a new URL, and keep the old one until its queries have ended.',
    );
  }
  const passage = new Passage(context, options, loaded, new DurableFlow(context, start.at));
  try {
    await passage.run(first);
  } finally {
    passage.stop();
  }
}

class Passage {
  private readonly session: AssembledSession;
  private readonly log: UpdateLog;
  private readonly tasks: TaskEnds;
  private readonly lines: string[] = [];
  private readonly granted: Parameters<Services['permissions']['apply']>[0][number][];
  private messages = 0;
  private watching = false;
  private isClosed: boolean;

  constructor(
    private readonly context: restate.ObjectContext,
    private readonly options: PassageOptions,
    private readonly loaded: Loaded,
    private readonly flow: DurableFlow,
  ) {
    this.log = new UpdateLog(context, loaded.record, flow);
    this.tasks = new TaskEnds(context.key, options.desk);
    this.granted = [...loaded.record.permissions];
    this.isClosed = loaded.record.isClosed;
    this.session = this.assemble();
    flow.waitsForMessages = () => {
      const { queue } = this.session.services;
      return queue.openPermissions().length + queue.openQuestions().length + this.tasks.running;
    };
  }

  async run(first: unknown): Promise<void> {
    if (this.loaded.transcript === '') this.warn();
    await this.flow.quiet();
    this.take(first);
    this.listen();
    for (;;) {
      await this.flow.quiet();
      this.log.flush();
      if (this.isIdle() && !(await this.moreIsOnItsWay())) break;
      this.watchTasks();
      try {
        await this.flow.deliverNext();
      } catch (error) {
        if (!(error instanceof restate.CancelledError)) throw error;
        this.session.actor.send({ type: 'abort', reason: 'userInterrupt' });
      }
    }
    this.save();
  }

  stop(): void {
    this.session.actor.stop();
  }

  private assemble(): AssembledSession {
    const { context, flow, options, loaded } = this;
    const { session } = options;
    const place = { cwd: session.cwd ?? process.cwd(), sessionId: context.key, now: flow.now, ids: flow.newId };
    const isNew = loaded.transcript === '';
    const transcript = createTextTranscript(place, { text: loaded.transcript, write: (text) => this.lines.push(text) });
    return assembleSession(
      {
        ...session,
        sessionId: context.key,
        interactive: session.interactive ?? true,
        // Servers are connected by the worker, once for all sessions; what they offer comes as tools.
        mcpServers: {},
        strictMcpConfig: true,
        store: false,
        transcript,
        now: flow.now,
        newId: flow.newId,
        onUpdate: (update) => this.hear(update),
      },
      undefined,
      isNew ? 'startup' : 'resume',
      (services) => {
        if (services.agent === undefined) this.restore(services, isNew);
        adaptServices(services, { sessionId: context.key, flow, desk: options.desk, post: options.post, tasks: this.tasks });
      },
    );
  }

  /** What a session on Restate cannot have is said once. */
  private warn(): void {
    const names = Object.keys(this.options.session.mcpServers ?? {});
    if (names.length === 0) return;
    const message =
      `MCP servers are not started for a session on Restate (${names.join(', ')}): each attempt would start them anew. ` +
      'Connect them in the worker and give their tools in `tools`.';
    this.log.add({ update: { type: 'notice', level: 'warning', message } });
  }

  private restore(services: Services, isNew: boolean): void {
    const { record } = this.loaded;
    if (!isNew) {
      if (record.usage) services.usage = record.usage;
      Object.assign(services.spend, record.spend);
      services.contextTokens = record.contextTokens;
      for (const [path, known] of record.files) services.files.set(path, known);
      if (this.granted.length > 0) services.permissions.apply(this.granted);
      // Started once, not at every prompt.
      const isConfigured = services.hooks.isConfigured;
      services.hooks.isConfigured = (event, subject) => event !== 'SessionStart' && isConfigured(event, subject);
    }
    const apply = services.permissions.apply;
    services.permissions.apply = (updates) => {
      this.granted.push(...updates.filter(({ destination }) => destination === 'session'));
      return apply(updates);
    };
  }

  private hear(update: SessionUpdate): void {
    this.options.session.onUpdate?.(update);
    if (STREAMS.has(update.type) || isLive()) this.options.onLive?.(this.context.key, update, this.flow.attempt);
    else if (update.type === 'session.started' && this.loaded.transcript !== '') return;
    else if (update.type === 'query.ended') this.log.add({ update, waiting: this.waitingPrompts() });
    else this.log.add({ update });
  }

  private waitingPrompts(): string[] {
    return this.session.services.inbox.peek().flatMap((item) => (item.kind === 'prompt' ? [item.id] : []));
  }

  private listen(): void {
    this.flow.message(`m${this.messages}`, (value) => {
      this.messages++;
      this.take(value);
      this.listen();
    });
  }

  private isIdle(): boolean {
    const snapshot = this.session.actor.getSnapshot();
    if (snapshot.status !== 'active' || snapshot.matches({ conversation: 'closed' })) return true;
    return snapshot.matches({ conversation: 'idle' }) && snapshot.context.waiting === 0 && this.tasks.running === 0;
  }

  /** The last word of the inbox: whether it has given this invocation a message that has not come yet. */
  private async moreIsOnItsWay(): Promise<boolean> {
    const asked = { invocation: this.context.request().id, messages: this.messages };
    const answer = await this.context.genericCall<typeof asked, { more: boolean }>({
      service: INBOX_OBJECT,
      method: 'finish',
      key: this.context.key,
      parameter: asked,
      inputSerde: json,
      outputSerde: json,
    });
    return answer.more;
  }

  private take(value: unknown): void {
    const parsed = messageSchema.safeParse(value);
    if (!parsed.success) {
      const message = `A message that is not understood was set aside: ${parsed.error.issues[0]?.message ?? ''}`;
      this.log.add({ update: { type: 'notice', level: 'warning', message } });
      return;
    }
    const { data: message } = parsed;
    this.flow.advance(message.at);
    let receipt: AnswerReceipt | undefined;
    try {
      if (this.isClosed) throw new Error(`Session ${this.context.key} is closed.`);
      if (message.type === 'close') this.isClosed = true;
      receipt = obey(message, this.session, this.tasks);
    } catch (error) {
      this.log.add({ update: { type: 'notice', level: 'error', message: messageOf(error) } });
    }
    this.log.add({ took: { id: message.id, ...(receipt === undefined ? {} : { receipt }) } });
  }

  /** While tasks run, somebody looks now and then whether their worker still does. */
  private watchTasks(): void {
    if (this.watching || this.tasks.adopted.size === 0) return;
    this.watching = true;
    runLive(() => void this.tasks.report().catch(() => {}));
    this.flow.clock.setTimeout(() => {
      this.watching = false;
    }, TASK_WATCH_MS);
  }

  private save(): void {
    const { services } = this.session;
    this.log.flush();
    saveRecord(this.context, this.loaded.record, this.lines.join(''), {
      ...this.log.kept(),
      usage: services.usage,
      spend: { tokens: services.spend.tokens, usd: services.spend.usd },
      contextTokens: services.contextTokens,
      files: [...services.files.entries()],
      permissions: this.granted,
      isClosed: this.isClosed,
    });
  }
}

const json = {
  contentType: 'application/json',
  serialize: (value: unknown) => Buffer.from(JSON.stringify(value)),
  deserialize: (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString('utf8')),
};
