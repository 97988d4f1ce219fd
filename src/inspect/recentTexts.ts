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

  /** `isWhole`: the text is no piece of another, as names of fields never are. */
  set(text: string, known: T, isWhole = false): void {
    if (text.length > MAX_CHARS) return;
    this.#young.set(isWhole ? text : copyOf(text), known);
    this.#chars += text.length + 1;
    if (this.#chars <= GENERATION_CHARS) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#chars = 0;
  }
}

/** The same text with memory of its own. */
export function copyOf(text: string): string {
  // Read anew, it is in one piece, which is what makes finding it among others fast. So short a piece is never a mere cut.
  return text.length < 13 ? text : JSON.parse(JSON.stringify(text));
}
