import type { BodyRef } from '../../../../src/inspect/protocol/flowEvents.js';
import type { TextPart } from '../../../../src/inspect/protocol/rpc.js';

/** Characters that are fetched without asking; of a larger body the head is shown until someone wants the rest. */
const AUTO_CHARS = 2 * 1024 * 1024;
/** Characters of bodies kept. */
const KEPT_CHARS = 48 * 1024 * 1024;

export type Body =
  | { readonly kind: 'loading'; readonly loaded: number; readonly total: number }
  | { readonly kind: 'text'; readonly text: string }
  /** The beginning of a large body. */
  | { readonly kind: 'head'; readonly text: string; readonly total: number }
  | { readonly kind: 'missing'; readonly message: string };

export type FetchPart = (hash: string, offset: number) => Promise<TextPart | { readonly message: string }>;

/** Bodies by hash, fetched part by part when someone opens them and kept within bounds. */
export class Bodies {
  readonly #bodies = new Map<string, Body>();
  #chars = 0;

  constructor(
    readonly fetchPart: FetchPart,
    readonly changed: () => void,
  ) {}

  get(ref: BodyRef): Body {
    const known = this.#bodies.get(ref.hash);
    if (known) return known;
    const loading: Body = { kind: 'loading', loaded: 0, total: ref.bytes };
    this.#bodies.set(ref.hash, loading);
    void this.#load(ref.hash, '', AUTO_CHARS);
    return loading;
  }

  /** Fetches the rest of a body of which only the head is here. */
  loadAll(ref: BodyRef): void {
    const known = this.#bodies.get(ref.hash);
    if (known?.kind !== 'head') return;
    this.#bodies.set(ref.hash, { kind: 'loading', loaded: known.text.length, total: known.total });
    this.changed();
    void this.#load(ref.hash, known.text, Number.POSITIVE_INFINITY);
  }

  /** A body that could not be had may be there again after a reconnect. */
  forgetMissing(): void {
    for (const [hash, body] of this.#bodies) if (body.kind === 'missing' || body.kind === 'loading') this.#bodies.delete(hash);
  }

  async #load(hash: string, head: string, limit: number): Promise<void> {
    const parts = head === '' ? [] : [head];
    let offset = head.length;
    for (;;) {
      const part = await this.fetchPart(hash, offset);
      if ('message' in part) {
        this.#set(hash, { kind: 'missing', message: part.message });
        return;
      }
      parts.push(part.text);
      offset += part.text.length;
      if (part.done || part.text === '') {
        this.#set(hash, { kind: 'text', text: parts.join('') });
        return;
      }
      if (part.totalChars > limit) {
        this.#set(hash, { kind: 'head', text: parts.join(''), total: part.totalChars });
        return;
      }
      this.#set(hash, { kind: 'loading', loaded: offset, total: part.totalChars });
    }
  }

  #set(hash: string, body: Body): void {
    this.#bodies.set(hash, body);
    if (body.kind === 'text') {
      this.#chars += body.text.length;
      for (const [old, { kind }] of this.#bodies) {
        if (this.#chars <= KEPT_CHARS || old === hash) break;
        const dropped = this.#bodies.get(old);
        if (kind === 'text' && dropped?.kind === 'text') {
          this.#chars -= dropped.text.length;
          this.#bodies.delete(old);
        }
      }
    }
    this.changed();
  }
}
