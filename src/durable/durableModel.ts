import { Observable } from 'rxjs';
import type { ModelClient, ModelStreamEvent } from '../model/types.js';
import type { DurableFlow } from './flow.js';

/**
 * A model whose answers are written down whole. Calls begin when the answer is complete and in the journal: an answer that an attempt
 * lost was never acted on, and asking again repeats nothing. Deltas go to the live listeners only.
 */
export function durableModel(client: ModelClient, flow: DurableFlow): ModelClient {
  return {
    stream: (request, onDelta) =>
      new Observable<ModelStreamEvent>((subscriber) => {
        const controller = new AbortController();
        // A summary is asked for by a port, a turn's answer by the turn itself.
        const ofPort = request.id.includes(':compact-');
        const collect = (signal: AbortSignal) => collected(client.stream(request, onDelta), signal);
        flow.step(request.id, collect, { signal: controller.signal, ofPort }).then(
          (events) => {
            for (const event of events) subscriber.next(event);
            subscriber.complete();
          },
          (error: unknown) => subscriber.error(error),
        );
        return () => controller.abort('stopped');
      }),
  };
}

function collected(stream: Observable<ModelStreamEvent>, signal: AbortSignal): Promise<readonly ModelStreamEvent[]> {
  return new Promise((resolve, reject) => {
    const events: ModelStreamEvent[] = [];
    const subscription = stream.subscribe({
      next: (event) => events.push(event),
      error: reject,
      complete: () => resolve(events),
    });
    const stop = () => {
      subscription.unsubscribe();
      reject(new Error('The request was given up.'));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
