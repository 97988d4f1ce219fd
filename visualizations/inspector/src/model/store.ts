/** Longest wait for a frame: a page in the background gets none, but its title must still say that something waits. */
const NO_FRAME_MS = 400;
/** Rest between two renders, in terms of what the last one took: events are taken in meanwhile, and keys are heard. */
const REST = 1.5;
const NO_REST_BELOW_MS = 12;

/**
 * Tells React that something changed, at most once a frame, however many events arrived in it. State lives in plain
 * mutable structures beside it; a version number is all that components compare.
 */
export class Pulse {
  #version = 0;
  #scheduled = false;
  /** Something changed after the render that is under way had begun. */
  #missed = false;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly version = (): number => this.#version;

  /** Something changed: listeners hear of it with the next frame. */
  readonly beat = (): void => {
    if (this.#scheduled) {
      this.#missed = true;
      return;
    }
    this.#scheduled = true;
    let done = false;
    const flush = (): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      this.#flush();
    };
    const timer = setTimeout(flush, NO_FRAME_MS);
    requestAnimationFrame(flush);
  };

  #flush(): void {
    const since = performance.now();
    this.now();
    // React has rendered by the time a task of ours runs again.
    setTimeout(() => {
      const took = performance.now() - since;
      setTimeout(
        () => {
          this.#scheduled = false;
          if (!this.#missed) return;
          this.#missed = false;
          this.beat();
        },
        took < NO_REST_BELOW_MS ? 0 : took * REST,
      );
    }, 0);
  }

  /** Listeners hear of it at once: for what a person has just done. */
  readonly now = (): void => {
    this.#version++;
    for (const listener of this.#listeners) listener();
  };
}

/** A value that is replaced, never changed in place. */
export class Cell<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly get = (): T => this.#value;
  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }
  patch(part: Partial<T>): void {
    this.set({ ...this.#value, ...part });
  }
}
