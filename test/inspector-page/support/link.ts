import type { Page } from 'playwright-core';

/** Keeps the socket that the page opens, so that a test can speak over it. For `prepare` of a page. */
export async function keepLink(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const Original = window.WebSocket;
    window.WebSocket = class extends Original {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        Object.assign(window, { link: this });
      }
    };
  });
}

/** Calls a method of the server over the page's own link, as a page that has been tampered with would. */
export const askOver = (page: Page, method: string, ...args: readonly unknown[]): Promise<unknown> =>
  page.evaluate(
    ({ m, a }) =>
      new Promise<unknown>((resolve, reject) => {
        if (!('link' in window && window.link instanceof WebSocket)) return reject(new Error('This page has no link.'));
        const { link } = window;
        const id = `test-${Math.random()}`;
        const hear = ({ data }: MessageEvent): void => {
          const frame: unknown = JSON.parse(String(data));
          if (typeof frame !== 'object' || frame === null || !('i' in frame) || frame.i !== id) return;
          link.removeEventListener('message', hear);
          resolve('r' in frame ? frame.r : frame);
        };
        link.addEventListener('message', hear);
        link.send(JSON.stringify({ t: 'q', m, a, i: id }));
      }),
    { m: method, a: args },
  );
