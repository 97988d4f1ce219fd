/** What was made of a page. */
export interface CachedPage {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

const MAX_CHARS = 20_000_000;

/** Pages by URL for a time, oldest out first when they grow too many. */
export class PageCache {
  readonly #pages = new Map<string, { readonly page: CachedPage; readonly expires: number }>();
  readonly #now: () => number;
  #chars = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get(url: string): CachedPage | undefined {
    const entry = this.#pages.get(url);
    if (entry === undefined) return undefined;
    if (entry.expires > this.#now()) return entry.page;
    this.#drop(url);
    return undefined;
  }

  set(url: string, page: CachedPage, ttlMs: number): void {
    this.#drop(url);
    this.#pages.set(url, { page, expires: this.#now() + ttlMs });
    this.#chars += page.text.length;
    for (const oldest of this.#pages.keys()) {
      if (this.#chars <= MAX_CHARS || oldest === url) break;
      this.#drop(oldest);
    }
  }

  #drop(url: string): void {
    this.#chars -= this.#pages.get(url)?.page.text.length ?? 0;
    this.#pages.delete(url);
  }
}
