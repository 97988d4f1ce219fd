import type { MonotonicClock } from '../../model/clock.js';

/** Ends a pause that nobody controls any more. */
export class Grace {
  #controllers = 0;
  #timer: { readonly id: unknown; readonly due: number } | undefined;

  constructor(
    readonly clock: MonotonicClock,
    readonly ms: number,
    readonly onOver: () => void,
  ) {}

  /** Milliseconds until the pause ends by itself; null while someone controls it or nothing is paused. */
  get remaining(): number | null {
    return this.#timer ? Math.max(0, this.#timer.due - this.clock.now()) : null;
  }

  setControllers(count: number, paused: boolean): void {
    this.#controllers = count;
    this.watch(paused);
  }

  watch(paused: boolean): void {
    const alone = paused && this.#controllers === 0;
    if (!alone) this.cancel();
    else this.#timer ??= { id: this.clock.setTimeout(() => this.#over(), this.ms), due: this.clock.now() + this.ms };
  }

  cancel(): void {
    if (this.#timer) this.clock.clearTimeout(this.#timer.id);
    this.#timer = undefined;
  }

  #over(): void {
    this.#timer = undefined;
    this.onOver();
  }
}
