import type { FlowLog } from './flowLog.js';
import type { FlowEvent } from './protocol/flowEvents.js';
import type { Counters } from './protocol/rpc.js';

/** Keeps the figures of a flow's header line, event by event. */
export class CounterKeeper {
  readonly #running = new Set<string>();
  readonly #waiting = new Set<string>();
  #actors = 0;
  #done = 0;
  #failed = 0;
  #errors = 0;

  constructor(readonly log: FlowLog) {
    for (const event of log.events(0)) this.#take(event);
  }

  /** Starts following the log. Returns how to stop. */
  follow(): () => void {
    return this.log.listen((event) => this.#take(event));
  }

  read(clients: number): Counters {
    return {
      lastSeq: this.log.lastSeq,
      firstSeq: this.log.firstSeq,
      actors: this.#actors,
      calls: { running: this.#running.size, done: this.#done, failed: this.#failed, waiting: this.#waiting.size },
      errors: this.#errors,
      bodyBytes: this.log.bodies.bytes,
      clients,
      inspectorFaults: this.log.faults,
    };
  }

  #take(event: FlowEvent): void {
    switch (event.type) {
      case 'actor.started':
        this.#actors++;
        if (event.kind === 'toolCall') this.#running.add(event.actor);
        break;
      case 'actor.stopped':
        this.#actors--;
        if (this.#running.delete(event.actor)) this.#done++;
        break;
      case 'result':
        if (event.isError) this.#failed++;
        break;
      case 'error':
        this.#errors++;
        break;
      case 'approval':
        if (event.phase === 'asked') this.#waiting.add(event.toolUseId);
        else this.#waiting.delete(event.toolUseId);
        break;
      default:
    }
  }
}
