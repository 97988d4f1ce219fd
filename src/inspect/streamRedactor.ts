import type { Redactor } from './redact.js';

/** Text without a line break is let through, masked, once it is this long. */
const MAX_HELD = 8192;
/** Kept back even then: longer than any token worth masking. */
const OVERLAP = 1024;
const PEM_OPEN = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?![\s\S]*-----END [A-Z ]{0,30}PRIVATE KEY-----)/;
const MAX_PEM = 64 * 1024;

/**
 * Masks secrets in text that comes in pieces. A secret cut in two by a chunk border is whole again before it is looked for:
 * only complete lines are handed on, the rest waits for its next piece or for `flush`.
 */
export class StreamRedactor {
  readonly #redactor: Redactor;
  #held = '';

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Takes a piece; returns what can be shown by now, perhaps nothing. */
  push(piece: string): string {
    this.#held += piece;
    const cut = this.#cut();
    if (cut <= 0) return '';
    const ready = this.#held.slice(0, cut);
    this.#held = this.#held.slice(cut);
    return this.#redactor.text(ready);
  }

  /** The rest, when no more pieces come. */
  flush(): string {
    const rest = this.#held;
    this.#held = '';
    return this.#redactor.text(rest);
  }

  #cut(): number {
    const key = PEM_OPEN.exec(this.#held);
    if (key && this.#held.length < MAX_PEM) return key.index;
    const line = this.#held.lastIndexOf('\n') + 1;
    if (line > 0) return this.#whole(line);
    if (this.#held.length <= MAX_HELD) return 0;
    const blank = this.#held.slice(0, this.#held.length - OVERLAP).search(/\s\S*$/) + 1;
    return blank > 0 ? blank : this.#held.length - OVERLAP;
  }

  /** Moves the cut before a literal of several lines that might be under way. */
  #whole(cut: number): number {
    const longest = this.#redactor.longestMultiline;
    return longest === 0 ? cut : Math.max(0, this.#held.lastIndexOf('\n', cut - 1 - longest) + 1);
  }
}
