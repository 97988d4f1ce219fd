import type { Observable } from 'rxjs';
import type { ModelClient, ModelRequest, ModelStreamEvent, StreamEnd } from '../model/types.js';

/** The words of one answer to a request that is no turn of the conversation. */
export interface Completion {
  /** Of a broken answer, what was complete. */
  readonly text: string;
  readonly end: StreamEnd;
}

/** Asks once, without retries, and collects the text. Rejects with `stopped` as its message when the signal aborts. */
export function completeText(client: ModelClient, request: ModelRequest, signal: AbortSignal, stopped: string): Promise<Completion> {
  return new Promise((resolve, reject) => {
    const texts: string[] = [];
    const stream: Observable<ModelStreamEvent> = client.stream(request, () => {});
    const stop = (): void => {
      subscription.unsubscribe();
      reject(new Error(stopped));
    };
    const subscription = stream.subscribe({
      next: (event) => {
        if (event.type === 'message.discarded') texts.length = 0;
        if (event.type === 'block.completed' && event.block.type === 'text') texts.push(event.block.text);
        if (event.type !== 'stream.ended') return;
        signal.removeEventListener('abort', stop);
        resolve({ text: texts.join('\n').trim(), end: event.end });
      },
      error: (error: unknown) => {
        signal.removeEventListener('abort', stop);
        reject(error);
      },
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
