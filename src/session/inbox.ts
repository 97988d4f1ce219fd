import type { ContentBlockParam } from '../messages/types.js';

/** Something that waits for the model: what a person typed, or a fact that became known meanwhile. */
export type InboxItem =
  | { readonly kind: 'prompt'; readonly id: string; readonly content: string | readonly ContentBlockParam[] }
  | { readonly kind: 'notification'; readonly id: string; readonly text: string };

/**
 * What waits for the model. Taken out as a whole, in order, by whoever builds the next user message: each item exactly once.
 */
export class Inbox {
  private items: InboxItem[] = [];
  private waiters: (() => void)[] = [];

  constructor(private readonly onChange: (waiting: number, fromPerson: boolean) => void) {}

  get size(): number {
    return this.items.length;
  }
  peek(): readonly InboxItem[] {
    return this.items;
  }

  put(item: InboxItem): void {
    if (this.items.some((one) => one.id === item.id)) return;
    this.items.push(item);
    if (item.kind === 'notification') for (const wake of this.waiters.splice(0)) wake();
    this.onChange(this.items.length, item.kind === 'prompt');
  }

  /** Puts what could not be delivered back in front. */
  putBack(items: readonly InboxItem[]): void {
    if (items.length === 0) return;
    this.items = [...items, ...this.items];
    this.onChange(this.items.length, false);
  }

  /** The same without a word: they go with whatever comes next. For what could not be delivered and would fail again at once. */
  keep(items: readonly InboxItem[]): void {
    this.items = [...items, ...this.items];
  }

  takeAll(): readonly InboxItem[] {
    const taken = this.items;
    if (taken.length === 0) return taken;
    this.items = [];
    this.onChange(0, false);
    return taken;
  }

  /** Takes one item back before it was delivered. */
  withdraw(id: string): boolean {
    const before = this.items.length;
    this.items = this.items.filter((item) => item.id !== id);
    if (this.items.length === before) return false;
    this.onChange(this.items.length, false);
    return true;
  }

  /** Resolves when a notification waits, or when the signal fires. */
  nextNotification(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.items.some((item) => item.kind === 'notification')) return Promise.resolve();
    return new Promise((resolve) => {
      const giveUp = () => {
        this.waiters = this.waiters.filter((waiter) => waiter !== wake);
        resolve();
      };
      const wake = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      this.waiters.push(wake);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
