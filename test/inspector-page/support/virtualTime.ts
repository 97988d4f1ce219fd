/** Waits that end in order of their due time, without a real clock: a flow of minutes plays in milliseconds, the same each time. */
export class VirtualTime {
  #now = 0;
  #order = 0;
  readonly #waits: { readonly at: number; readonly order: number; readonly go: () => void }[] = [];

  get now(): number {
    return this.#now;
  }
  after(ms: number): Promise<void> {
    return new Promise((go) => this.#waits.push({ at: this.#now + ms, order: this.#order++, go }));
  }
  /** Plays until nothing waits any more, or until the next wait would end after `until`. */
  async play(until = Number.POSITIVE_INFINITY): Promise<void> {
    for (;;) {
      await settle();
      this.#waits.sort((a, b) => a.at - b.at || a.order - b.order);
      const [next] = this.#waits;
      if (!next || next.at > until) return;
      this.#waits.shift();
      this.#now = next.at;
      next.go();
    }
  }
}

/** Lets promises that are ready run, and what follows from them. */
async function settle(): Promise<void> {
  for (let round = 0; round < 3; round++) await new Promise((done) => setImmediate(done));
}
