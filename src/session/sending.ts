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

/** A buffer between a session that never waits and a reader that may. Bounded for what may be lost, complete for the rest. */
export class UpdateQueue {
  private items: SessionUpdate[] = [];
  private lossy = 0;
  private ended = false;
  private wake: (() => void) | undefined;

  put(update: SessionUpdate): void {
    if (LOSSY.has(update.type)) {
      if (this.lossy >= LOSSY_BACKLOG) return;
      this.lossy++;
    }
    this.items.push(update);
    this.wake?.();
  }

  end(): void {
    this.ended = true;
    this.wake?.();
  }

  async *iterate(): AsyncGenerator<SessionUpdate, void, undefined> {
    for (;;) {
      const batch = this.items;
      this.items = [];
      this.lossy = 0;
      yield* batch;
      if (this.items.length > 0) continue;
      if (this.ended) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = undefined;
    }
  }
}
