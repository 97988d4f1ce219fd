import type { ServerResponse } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { JsonObject } from '../../json.js';
import type { Clock } from '../../model/clock.js';
import { type PlayItem, playTurn } from '../script/play.js';
import type { TakenTurn } from '../script/script.js';
import { foldMessage } from './fold.js';

/** How an answer ended. `clientClosed`: the client broke the connection before the answer was over. */
export type AnswerEnd = 'complete' | 'httpError' | 'cutOff' | 'clientClosed';

export interface AnswerOptions {
  readonly clock: Clock;
  readonly chunkBytes: number | undefined;
}

/** Plays one turn into one HTTP response. */
export class Answer {
  private gone = false;
  private readonly closed: Promise<void>;

  constructor(
    private readonly response: ServerResponse,
    private readonly options: AnswerOptions,
  ) {
    this.closed = new Promise((resolve) => {
      response.once('close', () => {
        this.gone = true;
        resolve();
      });
    });
  }

  async give(taken: TakenTurn, body: JsonObject): Promise<AnswerEnd> {
    const streaming = body.stream === true;
    const model = typeof body.model === 'string' ? body.model : '';
    const events: unknown[] = [];
    // An error takes the place of the whole answer, so its head must not be sent while the script waits for it.
    const headFirst = streaming && !taken.turn.some(({ kind }) => kind === 'apiError');
    for (const item of playTurn(taken.turn, { turn: taken.number, model })) {
      if (this.gone) return 'clientClosed';
      if (item.kind === 'httpError') {
        taken.played(item.step);
        this.sendError(item.error);
        return 'httpError';
      }
      if (item.kind === 'close') {
        taken.played(item.step);
        return this.close(item.how);
      }
      if (item.kind === 'wait') {
        if (headFirst) this.openStream();
        await this.wait(item);
        if (this.gone) return 'clientClosed';
      } else if (!streaming) events.push(item.kind === 'event' ? item.event : item.text);
      else await this.write(toSse(item));
      taken.played(item.step);
    }
    if (this.gone) return 'clientClosed';
    taken.played(taken.turn.length);
    return streaming ? this.finishStream() : this.finishMessage(events);
  }

  /** The head of the response goes out with the first byte of the body, or when the script waits: a client then knows it was heard. */
  private openStream(): void {
    if (this.response.headersSent) return;
    this.response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'request-id': 'req_scripted',
    });
    this.response.flushHeaders();
  }

  private async write(text: string): Promise<void> {
    this.openStream();
    const bytes = Buffer.from(text, 'utf8');
    const size = this.options.chunkBytes ?? bytes.length;
    for (let at = 0; at < bytes.length && !this.gone; at += size) {
      const drained = this.response.write(bytes.subarray(at, at + size));
      if (!drained) await Promise.race([new Promise((resolve) => this.response.once('drain', resolve)), this.closed]);
      else if (size < bytes.length) await nextTick();
    }
  }

  private async wait(item: Extract<PlayItem, { kind: 'wait' }>): Promise<void> {
    if ('pass' in item.until) {
      await Promise.race([item.until.pass(), this.closed]);
      return;
    }
    const { ms } = item.until;
    const { clock } = this.options;
    let timer: unknown;
    const elapsed = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, ms);
    });
    await Promise.race([elapsed, this.closed]);
    clock.clearTimeout(timer);
  }

  private sendError({ status, type, message, headers, details }: Extract<PlayItem, { kind: 'httpError' }>['error']): void {
    const error = { type, message, ...(details === undefined ? {} : { details }) };
    this.response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_scripted', ...headers });
    this.response.end(JSON.stringify({ type: 'error', error, request_id: 'req_scripted' }));
  }

  private async close(how: 'reset' | 'end'): Promise<AnswerEnd> {
    if (how === 'reset') {
      // What was written must reach the client before the break, or the script would not say what it shows.
      await new Promise<void>((resolve) => {
        if (this.response.headersSent && !this.gone) this.response.write('', () => resolve());
        else resolve();
      });
      await nextTick();
      this.response.destroy();
    } else {
      this.openStream();
      this.response.end();
    }
    await this.closed;
    return 'cutOff';
  }

  private async finishStream(): Promise<AnswerEnd> {
    this.openStream();
    let finished = false;
    this.response.once('finish', () => {
      finished = true;
    });
    this.response.end();
    await this.closed;
    return finished ? 'complete' : 'clientClosed';
  }

  private async finishMessage(events: readonly unknown[]): Promise<AnswerEnd> {
    this.response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_scripted' });
    this.response.end(JSON.stringify(foldMessage(events)));
    await this.closed;
    return 'complete';
  }
}

function toSse(item: Extract<PlayItem, { kind: 'event' | 'raw' }>): string {
  return item.kind === 'raw' ? item.text : `event: ${item.name}\ndata: ${JSON.stringify(item.event)}\n\n`;
}
