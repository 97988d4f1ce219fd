/** Longer texts are seldom met twice. */
const MAX_CHARS = 8192;
const GENERATION_CHARS = 256 * 1024;

/**
 * What is known of the texts met last, bounded by their length: two generations, the older of which is dropped when the younger
 * is full. Keys are copies, since a piece cut from a long text would keep all of it in memory.
 */
export class RecentTexts<T> {
  #young = new Map<string, T>();
  #old = new Map<string, T>();
  #chars = 0;

  get(text: string): T | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    if (text.length > MAX_CHARS) return undefined;
    const old = this.#old.get(text);
    if (old !== undefined) this.set(text, old);
    return old;
  }

  set(text: string, known: T): void {
    if (text.length > MAX_CHARS) return;
    this.#young.set(copyOf(text), known);
    this.#chars += text.length + 1;
    if (this.#chars <= GENERATION_CHARS) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#chars = 0;
  }
}

/** The same text with memory of its own. */
export function copyOf(text: string): string {
  // A cut of a joined text refers to that text alone, which is one character longer.
  return text.length === 0 ? text : `${text}.`.slice(0, -1);
}
