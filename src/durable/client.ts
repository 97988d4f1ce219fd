import { randomUUID } from 'node:crypto';
import { Observable, Subject } from 'rxjs';
import type { ContentBlockParam } from '../messages/types.js';
import type { PermissionAnswer, PermissionMode, PermissionUpdate } from '../permissions/types.js';
import type { AnswerReceipt, PermissionPrompt, PersonPrompt } from '../session/questions.js';
import type { QueryEnded, Sending } from '../session/sending.js';
import { UpdateQueue } from '../session/sending.js';
import type { SessionUpdate } from '../session/updates.js';
import type { AbortReason } from '../tool/call.js';
import { messageOf } from '../tool/errors.js';
import type { PersonAnswers } from '../tool/types.js';
import { OpenQuestions } from './openQuestions.js';
import { attach, callIngress, type Ingress, patiently, postMessage } from './post.js';
import { type NumberedUpdate, SESSION_OBJECT, type Unsent, type UpdatePage, updatesSchema } from './protocol.js';

/** Which session, and where. */
export interface ConnectOptions {
  /** Address of Restate's ingress, for example `http://127.0.0.1:8080`. */
  readonly ingress: string;
  /** Any id of your own; a session of this id is made by its first message. */
  readonly sessionId: string;
  /** The number of the first update to hear; default 1: from the session's beginning, as far as it is kept. */
  readonly from?: number;
  /** Longest pause between two looks for updates, in milliseconds. Default 500. */
  readonly pollMs?: number;
}

/** A session on Restate, with the face of one in this process. Everything it does is a message; it may be closed and opened at will. */
export interface RemoteSession {
  /** The session's id. */
  readonly id: string;
  /** Everything that happens, from `from` on. It ends with the session, or with `detach`. */
  readonly updates$: Observable<SessionUpdate>;
  /** The same with their numbers: a reader who remembers the last one goes on from there. */
  readonly numbered$: Observable<NumberedUpdate>;
  /** The permission mode, as far as the updates have been heard. */
  readonly mode: PermissionMode;
  /** Questions that are open as far as the updates have been heard. */
  readonly openPermissions: readonly PermissionPrompt[];
  /** Questions of tools that are open as far as the updates have been heard. */
  readonly openQuestions: readonly PersonPrompt[];
  /** Gives the model a prompt; the same as `Session.send`. */
  send(prompt: string | readonly ContentBlockParam[]): Sending;
  /** Tells the model something when it next speaks. Returns the notification's id. */
  notify(text: string): string;
  /** Stops the running query; resolves when the session is idle. */
  interrupt(reason?: AbortReason): Promise<void>;
  /** Judged by the updates heard so far; of two answers that meet on the way the first counts, and a notice says so. */
  answer(callId: string, inputDigest: string, answer: PermissionAnswer): AnswerReceipt;
  /** Answers a tool's questions, by question text. Judged by the updates heard so far. */
  answerQuestion(callId: string, answers: PersonAnswers): AnswerReceipt;
  /** Changes rules, mode or directories. Resolves when the session has taken the message; a notice says what could not be applied. */
  updatePermissions(updates: readonly PermissionUpdate[]): Promise<void>;
  /** Stops a background task. Resolves when the session has taken the message. */
  stopTask(id: string): Promise<void>;
  /** Puts a summary in place of older history once the session is idle; resolves when that is done. */
  compact(instructions?: string): Promise<void>;
  /** Resolves when everything sent so far has reached the session. */
  sent(): Promise<void>;
  /** Stops listening; the session goes on. */
  detach(): void;
  /** Ends the session for good, and resolves when it has ended. */
  close(): Promise<void>;
}

const SHORTEST_POLL_MS = 20;

/** Opens a session on Restate, new or running, for listening and speaking. Nothing is sent before the first message. */
export function connectSession(options: ConnectOptions): RemoteSession {
  return new Connection(options);
}

class Connection implements RemoteSession {
  readonly id: string;
  mode: PermissionMode = 'default';
  private readonly heard = new Subject<NumberedUpdate>();
  private readonly questions = new OpenQuestions();
  private readonly detached = new AbortController();
  private readonly ingress: Ingress;
  private next: number;
  private reading: Promise<void> | undefined;
  private listeners = 0;
  private polling = false;
  private delivery: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: ConnectOptions) {
    this.id = options.sessionId;
    this.ingress = { url: options.ingress, signal: this.detached.signal };
    this.next = options.from ?? 1;
  }

  readonly numbered$ = new Observable<NumberedUpdate>((subscriber) => {
    const subscription = this.heard.subscribe(subscriber);
    this.listeners++;
    this.poll();
    return () => {
      this.listeners--;
      subscription.unsubscribe();
    };
  });
  readonly updates$ = new Observable<SessionUpdate>((subscriber) =>
    this.numbered$.subscribe({
      next: ({ update }) => update && subscriber.next(update),
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    }),
  );

  get openPermissions(): readonly PermissionPrompt[] {
    return this.questions.permissions();
  }
  get openQuestions(): readonly PersonPrompt[] {
    return this.questions.questions();
  }

  send(prompt: string | readonly ContentBlockParam[]): Sending {
    const promptId = randomUUID();
    const queue = new UpdateQueue();
    let isTaken = false;
    let isAnswered = false;
    const ended = new Promise<QueryEnded>((resolve) => {
      const subscription = this.heard.subscribe({
        next: ({ update, took, waiting }) => {
          if (took?.id === promptId) isTaken = true;
          if (update) queue.put(update);
          if (!isTaken || update?.type !== 'query.ended' || waiting?.includes(promptId)) return;
          subscription.unsubscribe();
          queue.end();
          isAnswered = true;
          resolve(update);
        },
        complete: () => queue.end(),
      });
    });
    const content = typeof prompt === 'string' ? prompt : [...prompt];
    const done = this.post({ type: 'prompt', content }, promptId).then(async (invocation) => {
      const idle = this.attach(invocation)
        .then(() => this.read())
        .then(() => {
          if (!isAnswered)
            throw new Error(`Session ${this.id} did not answer the prompt: it is closed, or has broken. Its notices say more.`);
          return ended;
        });
      return Promise.race([ended, idle]);
    });
    done.catch(() => queue.end());
    return {
      promptId,
      done,
      withdraw: () => {
        void this.post({ type: 'withdraw', promptId });
        return !isTaken;
      },
      [Symbol.asyncIterator]: () => {
        const listening = this.numbered$.subscribe();
        return queue.iterate(() => listening.unsubscribe());
      },
    };
  }

  notify(text: string): string {
    const id = randomUUID();
    void this.post({ type: 'notify', text }, id);
    return id;
  }
  async interrupt(reason: AbortReason = 'userInterrupt'): Promise<void> {
    await this.attach(await this.post({ type: 'abort', reason }));
    await this.read();
  }
  answer(callId: string, inputDigest: string, answer: PermissionAnswer): AnswerReceipt {
    const receipt = this.questions.answer(callId, inputDigest);
    if (receipt.accepted) void this.post({ type: 'answer', callId, inputDigest, answer });
    return receipt;
  }
  answerQuestion(callId: string, answers: PersonAnswers): AnswerReceipt {
    const receipt = this.questions.answerQuestion(callId);
    if (receipt.accepted) void this.post({ type: 'answerQuestion', callId, answers: { ...answers } });
    return receipt;
  }
  async updatePermissions(updates: readonly PermissionUpdate[]): Promise<void> {
    await this.post({ type: 'permissions', updates: [...updates] });
  }
  async stopTask(taskId: string): Promise<void> {
    await this.post({ type: 'stopTask', taskId });
  }
  async compact(instructions?: string): Promise<void> {
    await this.attach(await this.post({ type: 'compact', ...(instructions === undefined ? {} : { instructions }) }));
    await this.read();
  }
  async sent(): Promise<void> {
    await this.delivery;
  }
  detach(): void {
    this.detached.abort();
    this.heard.complete();
  }
  async close(): Promise<void> {
    await this.attach(await this.post({ type: 'close' }));
    await this.read();
    this.detach();
  }

  /** In the order of the calls: what is sent later arrives later. */
  private post(message: Unsent, id: string = randomUUID()): Promise<string> {
    const sending = this.delivery.then(async () => {
      const { invocation } = await postMessage(this.ingress, this.id, message, id);
      return invocation;
    });
    this.delivery = sending.catch((error: unknown) => {
      const text = messageOf(error);
      this.heard.next({ seq: this.next, at: Date.now(), update: { type: 'notice', level: 'error', message: text } });
    });
    return sending;
  }

  /** Resolves when the session has dealt with what it was given and is idle. */
  private async attach(invocation: string): Promise<void> {
    await attach(this.ingress, invocation);
  }

  /** Reads everything there is. One reader at a time, so that every update is heard once and in order. */
  private read(): Promise<void> {
    const before = this.reading ?? Promise.resolve();
    const reading = before
      .catch(() => {})
      .then(async () => {
        for (;;) {
          const { updates, next } = await this.page();
          this.next = next;
          for (const one of updates) this.hear(one);
          if (updates.length === 0) return;
        }
      });
    this.reading = reading;
    return reading;
  }

  private async page(): Promise<UpdatePage> {
    const path = `${SESSION_OBJECT}/${encodeURIComponent(this.id)}/updates`;
    return updatesSchema.parse(await patiently(this.ingress, () => callIngress(this.ingress, path, { from: this.next })));
  }

  private hear(one: NumberedUpdate): void {
    if (one.update) this.questions.hear(one.update);
    if (one.update?.type === 'session.started') this.mode = one.update.mode;
    this.heard.next(one);
  }

  /** While somebody listens: often after news, seldom in silence. */
  private poll(): void {
    if (this.polling) return;
    this.polling = true;
    const longest = this.options.pollMs ?? 500;
    let pause = SHORTEST_POLL_MS;
    const look = async (): Promise<void> => {
      const before = this.next;
      await this.read().catch(() => {});
      pause = this.next > before ? SHORTEST_POLL_MS : Math.min(longest, pause * 2);
      if (this.listeners === 0 || this.detached.signal.aborted) {
        this.polling = false;
        return;
      }
      setTimeout(() => void look(), pause);
    };
    void look();
  }
}
