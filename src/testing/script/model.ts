import { Observable } from 'rxjs';
import { isJsonObject, type JsonObject } from '../../json.js';
import { assembleStream, type StreamAssembler } from '../../model/assemble.js';
import { type Clock, systemClock } from '../../model/clock.js';
import { fromApiError, type ModelErrorPlace } from '../../model/errors.js';
import { toRequestParams } from '../../model/params.js';
import { resolveModelSettings } from '../../model/settings.js';
import type { ModelClient, ModelDelta, ModelError, ModelRequest, ModelStreamEvent } from '../../model/types.js';
import { readWireEvent } from '../../model/wire.js';
import { messageOf } from '../../tool/errors.js';
import { findRefusal } from '../server/refusal.js';
import { type PlayItem, playTurn } from './play.js';
import { type RefusedRequest, type Script, ScriptBook, type ScriptedRequest, type UnplayedStep } from './script.js';
import { splitSse } from './sse.js';

/** Clock and strictness of a scripted model. */
export interface ScriptedModelOptions {
  /** Runs `delay()` steps. Default: real timers. */
  readonly clock?: Clock;
  /** Whether requests that the API would refuse are refused. Default true. */
  readonly strict?: boolean;
}

/** A model port that answers from a script, without HTTP. */
export interface ScriptedModel extends ModelClient {
  /** Requests answered from the script, in order; frozen. */
  readonly requests: readonly ScriptedRequest[];
  /** Requests that got an error: broken histories, and requests beyond the end of the script. */
  readonly refusals: readonly RefusedRequest[];
  /** Steps not played so far. */
  unconsumed(): readonly UnplayedStep[];
  /** Throws a `ScriptError` with positions unless every step was played and no request was refused. */
  assertConsumed(): void;
}

/**
 * The same scripts as {@link scriptedServer}'s, played straight into the stream assembler: same events, no sockets and no timers beyond the
 * script's own, so that the order of everything is decided by the test. Events come one a microtask, never during `subscribe`.
 */
export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const book = new ScriptBook(script);
  return {
    get requests() {
      return book.requests;
    },
    get refusals() {
      return book.refusals;
    },
    unconsumed: () => book.unconsumed(),
    assertConsumed: () => book.assertConsumed(),
    stream: (request, onDelta) =>
      new Observable((subscriber) => {
        const play = new Play(book, request, options, onDelta);
        const emit = (event: ModelStreamEvent): void => subscriber.next(event);
        play.run(emit).then(
          () => subscriber.complete(),
          (error: unknown) => {
            // The port never errors; a mistake in the script ends the stream in words and is found again by assertConsumed.
            const message = messageOf(error);
            book.refuse(book.requests.length, 400, message);
            for (const event of play.fail({
              type: 'invalid_request_error',
              message: `Mistake in the script: ${message}`,
              retryable: false,
            }))
              emit(event);
            subscriber.complete();
          },
        );
        return () => play.stop();
      }),
  };
}

class Play {
  private stopped = false;
  private wake = (): void => {};
  private readonly gone = new Promise<void>((resolve) => {
    this.wake = resolve;
  });
  private readonly assembler: StreamAssembler;
  private readonly place: ModelErrorPlace;

  constructor(
    private readonly book: ScriptBook,
    private readonly request: ModelRequest,
    private readonly options: ScriptedModelOptions,
    onDelta: (delta: ModelDelta) => void,
  ) {
    this.place = { baseURL: 'the scripted model', model: request.model };
    this.assembler = assembleStream({ onDelta: (delta) => !this.stopped && onDelta(delta), place: this.place });
  }

  stop(): void {
    this.stopped = true;
    this.wake();
  }

  fail(error: ModelError): readonly ModelStreamEvent[] {
    return this.assembler.end(error);
  }

  async run(emit: (event: ModelStreamEvent) => void): Promise<void> {
    // Never during subscribe: an actor must not receive events before it has started.
    await Promise.resolve();
    for await (const event of this.events()) {
      if (this.stopped) return;
      emit(event);
    }
  }

  private async *events(): AsyncGenerator<ModelStreamEvent> {
    const { book, assembler } = this;
    const arrival = book.arrive();
    const body = requestBody(this.request);
    const refusal = this.options.strict === false ? undefined : findRefusal(body);
    if (refusal !== undefined) {
      book.refuse(arrival, refusal.status, refusal.message);
      yield* assembler.end(fromApiError(refusal, this.place));
      return;
    }
    const taken = await book.take(body, {});
    if (taken === undefined) {
      const message = `The script has ${book.length ?? 0} turns, and this is request ${book.requests.length + 1}: there is no answer for it.`;
      book.refuse(arrival, 400, message);
      yield* assembler.end(fromApiError({ status: 400, message }, this.place));
      return;
    }
    for (const item of playTurn(taken.turn, { turn: taken.number, model: this.request.model })) {
      if (this.stopped) return;
      if (item.kind === 'wait') {
        await this.wait(item);
        if (this.stopped) return;
      }
      taken.played(item.step);
      yield* this.eventsOf(item);
    }
    taken.played(taken.turn.length);
    yield* assembler.end();
  }

  private *eventsOf(item: PlayItem): Generator<ModelStreamEvent> {
    const { assembler } = this;
    if (item.kind === 'event') yield* assembler.push(item.event);
    else if (item.kind === 'raw') yield* this.eventsOfRaw(item.text);
    else if (item.kind === 'httpError') {
      const { status, type, message, headers, details } = item.error;
      const code = details?.error_code;
      const facts = {
        status,
        type,
        message,
        ...(typeof code === 'string' ? { errorCode: code } : {}),
        header: (name: string) => headers[name] ?? null,
      };
      yield* assembler.end(fromApiError(facts, this.place));
    } else if (item.kind === 'close' && item.how === 'reset') {
      yield* assembler.end({ type: 'connection_error', message: 'The connection to the scripted model broke.', retryable: true });
    }
  }

  private *eventsOfRaw(text: string): Generator<ModelStreamEvent> {
    for (const { name, data } of splitSse(text)) {
      const wire = readWireEvent(name, data);
      if (wire.kind === 'event') yield* this.assembler.push(wire.event);
      else if (wire.kind === 'garbled') {
        yield* this.assembler.end({
          type: 'protocol_error',
          message: `The scripted model sent an event that is not JSON: ${wire.reason}.`,
          retryable: true,
        });
      }
    }
  }

  private async wait(item: Extract<PlayItem, { kind: 'wait' }>): Promise<void> {
    if ('pass' in item.until) {
      await Promise.race([item.until.pass(), this.gone]);
      return;
    }
    const { ms } = item.until;
    const clock = this.options.clock ?? systemClock;
    let timer: unknown;
    const elapsed = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, ms);
    });
    await Promise.race([elapsed, this.gone]);
    clock.clearTimeout(timer);
  }
}

/** The body the HTTP client would send, as plain JSON: recorded requests compare equal whichever port served them. */
function requestBody(request: ModelRequest): JsonObject {
  const params = toRequestParams(request, resolveModelSettings({ env: {} }), { promptCaching: false });
  const body: unknown = JSON.parse(JSON.stringify(params));
  return isJsonObject(body) ? body : {};
}
