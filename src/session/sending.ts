import type { Subject } from 'rxjs';
import type { ContentBlockParam } from '../messages/types.js';
import { readPrompt } from './prompt.js';
import type { Services } from './services.js';
import type { SessionUpdate } from './updates.js';

/** How a query ended: the last update of a prompt. */
export type QueryEnded = Extract<SessionUpdate, { readonly type: 'query.ended' }>;

/** A prompt on its way: an async iterable of updates that ends with the query that answers it. */
export interface Sending extends AsyncIterable<SessionUpdate> {
  /** Names the prompt in updates and in the transcript. */
  readonly promptId: string;
  /** How the query ended. Resolves without anyone iterating; rejects only when the prompt is withdrawn or the session ends before that. */
  readonly done: Promise<QueryEnded>;
  /** Takes the prompt back while it still waits. */
  withdraw(): boolean;
}

/** Updates that may be dropped when a slow reader falls behind: they are for display, and what matters comes again as a whole. */
const LOSSY: ReadonlySet<SessionUpdate['type']> = new Set([
  'text.delta',
  'thinking.delta',
  'input.delta',
  'call.progress',
  'calls.inProgress',
]);
/** Lossy updates that a reader may leave unread. */
const LOSSY_BACKLOG = 10_000;

/** @throws when the prompt cannot be sent, or cannot be written down. */
export function send(prompt: string | readonly ContentBlockParam[], session: Services, updates: Subject<SessionUpdate>): Sending {
  const promptId = session.newId();
  const content = readPrompt(prompt);
  session.journal({ type: 'prompt.queued', promptId, content: typeof content === 'string' ? content : [...content] });
  const queue = new UpdateQueue();
  let takeBack = () => {};
  const done = new Promise<QueryEnded>((resolve, reject) => {
    takeBack = () => {
      finish();
      reject(new Error('The prompt was withdrawn before it was answered.'));
    };
    const finish = () => {
      subscription.unsubscribe();
      queue.end();
    };
    const subscription = updates.subscribe({
      next: (update) => {
        queue.put(update);
        if (update.type !== 'query.ended' || session.inbox.peek().some((item) => item.id === promptId)) return;
        finish();
        resolve(update);
      },
      complete: () => {
        finish();
        reject(new Error('The session was closed before the prompt was answered.'));
      },
    });
  });
  // Whoever only iterates must not be punished by an unhandled rejection.
  done.catch(() => {});
  session.inbox.put({ kind: 'prompt', id: promptId, content });
  return {
    promptId,
    done,
    withdraw: () => {
      if (!session.inbox.withdraw(promptId)) return false;
      session.journal({ type: 'prompt.withdrawn', promptId });
      takeBack();
      return true;
    },
    [Symbol.asyncIterator]: () => queue.iterate(),
  };
}

/**
 * A buffer between a session that never waits and a reader that may. Bounded for what may be lost, complete for the rest. Each update is
 * read once: a reader that leaves off loses nothing for the one that reads on, and several share what comes.
 */
export class UpdateQueue {
  private items: SessionUpdate[] = [];
  /** How many of `items` have been read. */
  private read = 0;
  private lossy = 0;
  private ended = false;
  private waiting: ((update: SessionUpdate | undefined) => void)[] = [];

  put(update: SessionUpdate): void {
    const reader = this.waiting.shift();
    if (reader !== undefined) {
      reader(update);
      return;
    }
    if (LOSSY.has(update.type)) {
      if (this.lossy >= LOSSY_BACKLOG) return;
      this.lossy++;
    }
    this.items.push(update);
  }

  end(): void {
    this.ended = true;
    for (const reader of this.waiting.splice(0)) reader(undefined);
  }

  /** A reader; `onOver` is called when it has come to the end, or has been left. */
  iterate(onOver: () => void = () => {}): AsyncIterableIterator<SessionUpdate, undefined> {
    return new QueueReader((answer) => this.ask(answer), onOver);
  }

  /** Answers at once or when something comes, `undefined` at the end. Returns how to be asked no more. */
  private ask(answer: (update: SessionUpdate | undefined) => void): () => void {
    const update = this.take();
    if (update !== undefined || this.ended) answer(update);
    else this.waiting.push(answer);
    return () => {
      this.waiting = this.waiting.filter((one) => one !== answer);
    };
  }

  private take(): SessionUpdate | undefined {
    const update = this.items[this.read];
    if (update === undefined) return undefined;
    this.read++;
    if (LOSSY.has(update.type)) this.lossy--;
    // Cut off now and then, so that a reader who never catches up does not keep all it has read.
    if (this.read === this.items.length || this.read >= LOSSY_BACKLOG) {
      this.items = this.items.slice(this.read);
      this.read = 0;
    }
    return update;
  }
}

/** One reading of a queue. Not a generator: `return()` of one waits until its pending `next()` has an answer, which may be never. */
class QueueReader implements AsyncIterableIterator<SessionUpdate, undefined> {
  private readonly pending = new Set<() => void>();
  private isOver = false;

  constructor(
    private readonly ask: (answer: (update: SessionUpdate | undefined) => void) => () => void,
    private readonly onOver: () => void,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<SessionUpdate, undefined>> {
    if (this.isOver) return Promise.resolve(OVER);
    return new Promise((resolve) => {
      const giveUp = () => {
        forget();
        resolve(OVER);
      };
      this.pending.add(giveUp);
      const forget = this.ask((update) => {
        this.pending.delete(giveUp);
        if (update === undefined) this.end();
        resolve(update === undefined ? OVER : { done: false, value: update });
      });
    });
  }

  return(): Promise<IteratorResult<SessionUpdate, undefined>> {
    this.end();
    for (const giveUp of this.pending) giveUp();
    this.pending.clear();
    return Promise.resolve(OVER);
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.onOver();
  }
}

const OVER: IteratorReturnResult<undefined> = { done: true, value: undefined };
