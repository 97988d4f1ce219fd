import type { AnyActorRef, AnyEventObject } from 'xstate';

/** An event that waits at its actor while the flow is paused. */
export interface Held {
  readonly id: number;
  readonly self: AnyActorRef;
  readonly event: AnyEventObject;
  /** Milliseconds since the flow's start. */
  readonly t: number;
  /** States it would enter. */
  readonly next: readonly string[];
}

/** The events a gate holds, oldest first, and those on their way back to their actors. Addressed by actor too: one event object may go to several. */
export class HeldEvents {
  #list: readonly Held[] = [];
  #nextId = 1;
  #last: Held | undefined;
  readonly #releasing = new Set<Held>();

  get list(): readonly Held[] {
    return this.#list;
  }
  get oldest(): Held | undefined {
    return this.#list[0];
  }

  hold(event: Omit<Held, 'id'>): void {
    const held = { id: this.#nextId++, ...event };
    this.#list = [...this.#list, held];
    this.#last = held;
  }
  /** Another event is looked at now. */
  forgetLast(): void {
    this.#last = undefined;
  }
  /** Whether this is the event that was held just now. */
  isLast(ref: object, event: object): boolean {
    return this.#last?.self === ref && this.#last.event === event;
  }
  waitsAt(ref: object): boolean {
    return this.#list.some((held) => held.self === ref);
  }

  /** No longer held. Returns false when its actor has ended meanwhile. */
  take(held: Held): boolean {
    this.#list = this.#list.filter((other) => other !== held);
    return held.self.getSnapshot().status === 'active';
  }
  send(held: Held): void {
    this.#releasing.add(held);
    held.self.send(held.event);
  }
  isReleasing(ref: object, event: object): boolean {
    return this.#releaseOf(ref, event) !== undefined;
  }
  /** Whether the event is one that was let go; it counts once. */
  arrive(ref: object, event: object): boolean {
    const release = this.#releaseOf(ref, event);
    return release !== undefined && this.#releasing.delete(release);
  }
  /** Its actor has stopped. */
  forget(ref: object): void {
    this.#list = this.#list.filter((held) => held.self !== ref);
  }

  #releaseOf(ref: object, event: object): Held | undefined {
    for (const held of this.#releasing) if (held.self === ref && held.event === event) return held;
    return undefined;
  }
}
