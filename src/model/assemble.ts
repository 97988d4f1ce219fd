import { isJsonObject, type JsonObject } from '../json.js';
import type { LooseBlock } from '../messages/blocks.js';
import { fromApiError, type ModelErrorPlace, readErrorBody } from './errors.js';
import { BlockLedger } from './ledger.js';
import { mergeUsage, readUsage, toStopReason } from './shapes.js';
import type { ModelDelta, ModelError, ModelStreamEvent } from './types.js';

export interface StreamAssemblerOptions {
  /** Text, thinking and raw input as it arrives. Nothing is given for a block that is complete already. */
  readonly onDelta?: (delta: ModelDelta) => void;
  /** Named in the words of an `error` event. */
  readonly place?: ModelErrorPlace;
}

/**
 * Turns the raw events of one response into what a turn may rely on. Knows nothing of HTTP, SDK or time: the same events in, the same
 * events out.
 */
export interface StreamAssembler {
  /** Takes one raw event, already parsed from JSON. After the end every event is ignored. */
  push(event: unknown): ModelStreamEvent[];
  /** The response is over, for the given reason or because the connection closed. Nothing when the message has ended before. */
  end(error?: ModelError): ModelStreamEvent[];
  readonly ended: boolean;
}

/**
 * The grammar it holds the stream to (Claude API docs, "Streaming messages"): message_start, then per block start, deltas and stop under
 * one index, message_delta, message_stop. Unknown event and delta types are ignored. What breaks the grammar never joins two blocks and
 * never runs twice:
 * - a message_start with another id abandons everything before it (`message.discarded`); with the same id it is a replay;
 * - a block that comes again is compared with the first: the same one is noted and set aside, as is a call whose id has come before with
 *   other input;
 * - an event for an index that is not open is noted and touches no other block;
 * - two different blocks under one index end the stream as broken, with what was complete before.
 *
 * A `fallback` block takes back the calls and the thinking before it: `message.discarded`, a `message.started` with the new model, and
 * the blocks that survive once more.
 */
export function assembleStream(options: StreamAssemblerOptions = {}): StreamAssembler {
  return new Assembler(options);
}

class Assembler implements StreamAssembler {
  ended = false;
  private out: ModelStreamEvent[] = [];
  private message: { readonly id: string; readonly model: string } | undefined;
  private readonly blocks: BlockLedger;
  private readonly unknown = new Set<string>();
  private usage: JsonObject | undefined;
  private stopReason: string | null = null;
  private stopDetails: JsonObject | undefined;

  constructor(private readonly options: StreamAssemblerOptions) {
    this.blocks = new BlockLedger({
      completed: (block) => this.out.push(block),
      delta: (delta) => options.onDelta?.(delta),
      note: (note) => this.note(note),
      unknown: (what) => this.noteUnknown(what),
      takenOver: (fallback, dropped) => this.takeOver(fallback, dropped),
    });
  }

  push(event: unknown): ModelStreamEvent[] {
    if (this.ended) return [];
    if (!isJsonObject(event) || typeof event.type !== 'string') {
      // Gateways report their own failures so, behind an HTTP 200.
      if (isJsonObject(event) && event.error !== undefined && event.error !== null) this.dispatch('error', event);
      else this.note('an event without a type was ignored');
    } else this.dispatch(event.type, event);
    return this.flush();
  }

  end(error?: ModelError): ModelStreamEvent[] {
    if (!this.ended) this.breakOff(error ?? this.incomplete());
    return this.flush();
  }

  private flush(): ModelStreamEvent[] {
    const { out } = this;
    this.out = [];
    return out;
  }

  private note(note: string): void {
    this.out.push({ type: 'stream.noted', note });
  }

  private noteUnknown(what: string): void {
    if (this.unknown.has(what)) return;
    this.unknown.add(what);
    this.note(`unknown ${what} was ignored`);
  }

  private dispatch(type: string, event: JsonObject): void {
    if (type === 'ping') return;
    if (type === 'error') {
      const place = this.options.place ?? { baseURL: 'the API', model: this.message?.model ?? 'the model' };
      this.breakOff(fromApiError(readErrorBody(event), place));
      return;
    }
    if (type !== 'content_block_delta')
      this.blocks.releaseHeld(type === 'message_delta' && isJsonObject(event.delta) ? event.delta.stop_reason : undefined);
    if (type === 'message_start') this.startMessage(event);
    else if (type === 'message_stop') this.stopMessage();
    else if (this.message === undefined) this.note(`${type} before message_start was ignored`);
    else if (type === 'content_block_start') this.breakOn(this.blocks.start(event));
    else if (type === 'content_block_delta') this.blocks.delta(event);
    else if (type === 'content_block_stop') this.breakOn(this.blocks.stop(event));
    else if (type === 'message_delta') this.takeMessageDelta(event);
    else this.noteUnknown(`event type "${type}"`);
  }

  private startMessage(event: JsonObject): void {
    const start = isJsonObject(event.message) ? event.message : {};
    const id = typeof start.id === 'string' ? start.id : '';
    if (id !== '' && this.message?.id === id) {
      this.note(`message_start of ${id} came again and was ignored`);
      return;
    }
    if (this.message !== undefined) this.discard(`message ${id} began before ${this.message.id} had ended`);
    this.usage = isJsonObject(start.usage) ? start.usage : undefined;
    this.announce(id, typeof start.model === 'string' ? start.model : '');
    this.takeStartedContent(start);
  }

  /** While code at the API calls tools, messages arrive whole in their start event: content, stop reason and all. */
  private takeStartedContent(start: JsonObject): void {
    if (typeof start.stop_reason === 'string') this.stopReason = start.stop_reason;
    if (!Array.isArray(start.content)) return;
    for (const [index, block] of start.content.entries()) {
      this.blocks.releaseHeld(undefined);
      this.breakOn(this.blocks.start({ index, content_block: block }) ?? this.blocks.stop({ index }));
    }
  }

  private announce(id: string, model: string): void {
    this.message = { id, model };
    this.out.push({ type: 'message.started', messageId: id, model });
  }

  private discard(reason: string): void {
    this.blocks.clear();
    this.stopReason = null;
    this.stopDetails = undefined;
    this.out.push({ type: 'message.discarded', reason });
  }

  private breakOn(conflict: string | undefined): void {
    if (conflict !== undefined) this.breakOff(protocolError(conflict));
  }

  private takeOver(fallback: LooseBlock, dropped: boolean): void {
    const { id = '', model: from = '' } = this.message ?? {};
    const model = isJsonObject(fallback.to) && typeof fallback.to.model === 'string' ? fallback.to.model : from;
    this.message = { id, model };
    if (!dropped) return;
    this.out.push({ type: 'message.discarded', reason: `${model} took the answer over: thinking and tool calls before that do not count` });
    this.announce(id, model);
  }

  private takeMessageDelta(event: JsonObject): void {
    if (isJsonObject(event.usage)) this.usage = mergeUsage(this.usage, event.usage);
    if (!isJsonObject(event.delta)) return;
    const { stop_reason: reason, stop_details: details } = event.delta;
    if (typeof reason === 'string') this.stopReason = reason;
    if (isJsonObject(details)) this.stopDetails = details;
  }

  private stopMessage(): void {
    const { message, stopReason, stopDetails } = this;
    if (message === undefined) {
      this.breakOff(protocolError('message_stop came without a message_start'));
      return;
    }
    // Of a refused answer nothing is run or kept, so nothing that was cut off needs an answer either. The turn reads the stop reason.
    if (stopReason === 'refusal') this.blocks.dropOpen();
    else this.blocks.closeOpen(stopReason);
    // Taken for an answer, it would be one that asked for nothing: the loop would end, and what the model wanted done would be forgotten.
    if (this.blocks.lostEverything) {
      this.breakOff(protocolError('its blocks came without an index, so that none of them can be read'));
      return;
    }
    if (stopReason === 'tool_use' && this.blocks.lostItsCalls) {
      this.breakOff(protocolError('it stopped for a tool call, but no call arrived that can be answered'));
      return;
    }
    const usage = readUsage(this.usage);
    this.ended = true;
    this.out.push({
      type: 'stream.ended',
      end: {
        kind: 'complete',
        stopReason: toStopReason(stopReason),
        ...(stopDetails === undefined ? {} : { stopDetails }),
        ...(usage === undefined ? {} : { usage }),
        messageId: message.id,
        model: message.model,
      },
    });
  }

  private breakOff(error: ModelError): void {
    this.blocks.releaseHeld(undefined);
    this.blocks.dropOpen();
    // Thinking alone is not sent back. Kept, it would be an answer of nothing; taken off, the request can be made again.
    if (this.blocks.saysNothing && error.retryable) this.discard('the stream broke when nothing but thinking had arrived');
    else if (this.blocks.hasAny) this.note(`the answer may be incomplete: ${error.message}`);
    const usage = readUsage(this.usage);
    this.ended = true;
    this.out.push({ type: 'stream.ended', end: { kind: 'broken', error, ...(usage === undefined ? {} : { usage }) } });
  }

  private incomplete(): ModelError {
    const when = this.message === undefined ? 'before a message began' : 'before the message was complete';
    return { type: 'stream_incomplete', message: `The API closed the stream ${when}.`, retryable: true };
  }
}

function protocolError(what: string): ModelError {
  return { type: 'protocol_error', message: `The stream broke the protocol of the Messages API: ${what}.`, retryable: true };
}
