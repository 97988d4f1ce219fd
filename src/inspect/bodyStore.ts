import crypto from 'node:crypto';
import { type Captured, type CaptureLimits, capture, LIGHT_LIMITS } from './capture.js';
import { BODY_PART_CHARS, type BodyRef, PREVIEW_CHARS } from './protocol/flowEvents.js';
import type { TextPart } from './protocol/rpc.js';
import { copyOf } from './recentTexts.js';
import type { Redactor } from './redact.js';

const DEFAULT_BODY_BYTES = 64 << 20;

interface StoredBody {
  readonly text: string;
  /** As long as the body is there, its preview is a mere cut of it, which costs nothing. */
  readonly ref: { -readonly [K in keyof BodyRef]: BodyRef[K] };
  /** Its place in the order of what was put at the young end. */
  put: number;
}

/** Redacted bodies by the hash of their text, bounded: the oldest give way. Nothing unredacted is ever held. */
export class BodyStore {
  readonly #bodies = new Map<string, StoredBody>();
  #bytes = 0;
  #puts = 0;

  constructor(
    readonly redactor: Redactor,
    readonly maxBytes: number = DEFAULT_BODY_BYTES,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  put(value: unknown, limits: CaptureLimits = LIGHT_LIMITS): BodyRef {
    const { text, clipped } = this.redact(value, limits);
    const ref = this.putText(text);
    return clipped ? { ...ref, preview: copyOf(ref.preview), clipped: true } : ref;
  }

  redact(value: unknown, limits: CaptureLimits): Captured {
    return capture(value, this.redactor, limits);
  }

  /** Stores text that is redacted already. */
  putText(text: string): BodyRef {
    const hash = hashOf(text);
    const known = this.#bodies.get(hash);
    if (known) {
      // Moved to the young end, if it is not near it: what is used again is worth keeping.
      if (this.#puts - known.put > this.#bodies.size / 2) {
        this.#bodies.delete(hash);
        this.#bodies.set(hash, known);
        known.put = this.#puts++;
      }
      return known.ref;
    }
    const bytes = Buffer.byteLength(text);
    const ref = { hash, bytes, preview: text.slice(0, PREVIEW_CHARS) };
    this.#bodies.set(hash, { text, ref, put: this.#puts++ });
    this.#bytes += bytes;
    if (this.#bytes > this.maxBytes) this.#shrink();
    return ref;
  }

  get(hash: string): string | undefined {
    return this.#bodies.get(hash)?.text;
  }

  part(hash: string, offset: number): TextPart | undefined {
    const text = this.get(hash);
    return text === undefined ? undefined : textPart(text, offset);
  }

  #shrink(): void {
    for (const [hash, body] of this.#bodies) {
      if (this.#bytes <= this.maxBytes || this.#bodies.size === 1) return;
      this.#bodies.delete(hash);
      this.#bytes -= body.ref.bytes;
      // A cut would keep the whole text in memory for as long as its event is there.
      body.ref.preview = copyOf(body.ref.preview);
    }
  }
}

/** In one step where Node has it (since 20.12): setting up a hash costs more than hashing a small text. */
const sha256: (text: string) => string =
  typeof crypto.hash === 'function'
    ? (text) => crypto.hash('sha256', text, 'hex')
    : (text) => crypto.createHash('sha256').update(text).digest('hex');

const hashOf = (text: string): string => sha256(text).slice(0, 32);

/** A part of a long text, never ending inside a surrogate pair. */
export function textPart(text: string, offset: number): TextPart {
  let end = Math.min(text.length, offset + BODY_PART_CHARS);
  if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end--;
  return { offset, text: text.slice(offset, end), totalChars: text.length, done: end >= text.length };
}
