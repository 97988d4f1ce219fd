/** Gives each call the lowest timeline lane that is free when it starts. */
export class Lanes {
  /** End of the last call of each lane; null while it runs. */
  readonly #lanes: (number | null)[] = [];

  get count(): number {
    return this.#lanes.length;
  }
  take(t: number): number {
    const free = this.#lanes.findIndex((end) => end !== null && end <= t);
    const lane = free < 0 ? this.#lanes.length : free;
    this.#lanes[lane] = null;
    return lane;
  }
  leave(lane: number, t: number): void {
    if (lane < this.#lanes.length) this.#lanes[lane] = t;
  }
}
