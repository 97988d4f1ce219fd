import { sha256 } from '../sha256.js';
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

/** Bodies in order of age, and their size. */
class Shelf {
  readonly bodies = new Map<string, StoredBody>();
  bytes = 0;

  add(hash: string, body: StoredBody): void {
    this.bodies.set(hash, body);
    this.bytes += body.ref.bytes;
  }
  remove(hash: string): StoredBody | undefined {
    const body = this.bodies.get(hash);
    if (body && this.bodies.delete(hash)) this.bytes -= body.ref.bytes;
    return body;
  }
  removeOldest(): void {
    for (const hash of this.bodies.keys()) {
      const body = this.remove(hash);
      // A cut would keep the whole text in memory for as long as its event is there.
      if (body) body.ref.preview = copyOf(body.ref.preview);
      return;
    }
  }
}

/**
 * Redacted bodies by the hash of their text, bounded: the oldest give way. Nothing unredacted is ever held. What tells the whole anew
 * at each step (contexts, requests to the model) grows with the square of a flow's length, so it gets no more than half of the room:
 * else it would drive out every input and result, which are told once.
 */
export class BodyStore {
  readonly #once = new Shelf();
  readonly #anew = new Shelf();
  #puts = 0;

  constructor(
    readonly redactor: Redactor,
    readonly maxBytes: number = DEFAULT_BODY_BYTES,
  ) {}

  get bytes(): number {
    return this.#once.bytes + this.#anew.bytes;
  }

  put(value: unknown, limits: CaptureLimits = LIGHT_LIMITS): BodyRef {
    return this.#put(value, limits, this.#once);
  }

  /** As `put`, for what tells the whole anew at each step. */
  putAnew(value: unknown, limits: CaptureLimits = LIGHT_LIMITS): BodyRef {
    return this.#put(value, limits, this.#anew);
  }

  #put(value: unknown, limits: CaptureLimits, shelf: Shelf): BodyRef {
    const { text, clipped } = this.redact(value, limits);
    const ref = this.#putText(text, shelf);
    return clipped ? { ...ref, preview: copyOf(ref.preview), clipped: true } : ref;
  }

  redact(value: unknown, limits: CaptureLimits): Captured {
    return capture(value, this.redactor, limits);
  }

  /** Stores text that is redacted already. */
  putText(text: string): BodyRef {
    return this.#putText(text, this.#once);
  }

  #putText(text: string, shelf: Shelf): BodyRef {
    const hash = hashOf(text);
    const { bodies } = this.#once.bodies.has(hash) ? this.#once : shelf;
    const known = bodies.get(hash);
    if (known) {
      // Moved to the young end, if it is not near it: what is used again is worth keeping.
      if (this.#puts - known.put > bodies.size / 2) {
        bodies.delete(hash);
        bodies.set(hash, known);
        known.put = this.#puts++;
      }
      return known.ref;
    }
    // Told once as well by now: it changes the shelf.
    const made = this.#anew.remove(hash) ?? {
      text,
      ref: { hash, bytes: Buffer.byteLength(text), preview: text.slice(0, PREVIEW_CHARS) },
      put: 0,
    };
    made.put = this.#puts++;
    shelf.add(hash, made);
    if (this.bytes > this.maxBytes) this.#shrink(shelf);
    return made.ref;
  }

  get(hash: string): string | undefined {
    return (this.#once.bodies.get(hash) ?? this.#anew.bodies.get(hash))?.text;
  }

  part(hash: string, offset: number): TextPart | undefined {
    const text = this.get(hash);
    return text === undefined ? undefined : textPart(text, offset);
  }

  /** What was just put is the last of its shelf, and stays. */
  #shrink(newest: Shelf): void {
    while (this.bytes > this.maxBytes) {
      const order = this.#anew.bytes > this.maxBytes / 2 ? [this.#anew, this.#once] : [this.#once, this.#anew];
      const shelf = order.find((one) => one.bodies.size > (one === newest ? 1 : 0));
      if (!shelf) return;
      shelf.removeOldest();
    }
  }
}

const hashOf = (text: string): string => sha256(text).slice(0, 32);

/** A part of a long text, never ending inside a surrogate pair. */
export function textPart(text: string, offset: number): TextPart {
  let end = Math.min(text.length, offset + BODY_PART_CHARS);
  if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end--;
  return { offset, text: text.slice(offset, end), totalChars: text.length, done: end >= text.length };
}
