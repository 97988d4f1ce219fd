import { isJsonObject, type JsonObject } from '../json.js';
import { isLooseBlock, type LooseBlock, textField } from '../messages/blocks.js';
import { applyDelta, type Draft, type FinishedBlock, finishDraft, isWithoutInput, openDraft, sameIdentity } from './draft.js';
import { fromApiError, type ModelErrorPlace, readErrorBody } from './errors.js';
import { survivesFallback } from './fallback.js';
import { assistantBlock, looseBlock, mergeUsage, readIndex, readUsage, toStopReason } from './shapes.js';
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

type Completed = Extract<ModelStreamEvent, { type: 'block.completed' }>;

/** Stop reasons that may cut the last block off in the middle. */
const CUTTING: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded']);

/**
 * The grammar it holds the stream to (Claude API docs, "Streaming messages"): message_start, then per block start, deltas and stop under one index,
 * message_delta, message_stop. Unknown event and delta types are ignored. What breaks the grammar never joins two blocks and never
 * runs twice:
 * - a message_start with another id abandons everything before it (`message.discarded`); with the same id it is a replay;
 * - a block that comes again is compared with the first: the same one is noted, another one is noted as a protocol error, neither runs;
 * - an event for an index that is not open is noted and touches no other block;
 * - two different blocks under one index end the stream as broken, with what was complete before.
 */
export function assembleStream(options: StreamAssemblerOptions = {}): StreamAssembler {
  return new Assembler(options);
}

class Assembler implements StreamAssembler {
  ended = false;
  private out: ModelStreamEvent[] = [];
  private message: { readonly id: string; model: string } | undefined;
  private readonly drafts = new Map<number, Draft>();
  /** By index, in order of arrival. */
  private readonly done = new Map<number, Completed>();
  private readonly callIds = new Map<string, string>();
  /** A finished call without any input text: whether it was cut off before its first key is known one event later. */
  private held: Draft | undefined;
  private readonly unknown = new Set<string>();
  private usage: JsonObject | undefined;
  private stopReason: string | null = null;
  private stopDetails: JsonObject | undefined;

  constructor(private readonly options: StreamAssemblerOptions) {}

  push(event: unknown): ModelStreamEvent[] {
    if (this.ended) return [];
    if (!isJsonObject(event) || typeof event.type !== 'string') this.note('an event without a type was ignored');
    else this.dispatch(event.type, event);
    return this.flush();
  }

  end(error?: ModelError): ModelStreamEvent[] {
    if (!this.ended) this.breakOff(error ?? this.incomplete());
    return this.flush();
  }

  private flush(): ModelStreamEvent[] {
    const out = this.out;
    this.out = [];
    return out;
  }

  private note(note: string): void {
    this.out.push({ type: 'stream.noted', note });
  }

  private dispatch(type: string, event: JsonObject): void {
    if (type === 'ping') return;
    if (type === 'error') {
      const place = this.options.place ?? { baseURL: 'the API', model: this.message?.model ?? 'the model' };
      this.breakOff(fromApiError(readErrorBody(event), place));
      return;
    }
    this.releaseHeld(type === 'message_delta' && isJsonObject(event.delta) ? event.delta.stop_reason : undefined);
    switch (type) {
      case 'message_start':
        this.startMessage(event);
        return;
      case 'content_block_start':
        this.startBlock(event);
        return;
      case 'content_block_delta':
        this.addDelta(event);
        return;
      case 'content_block_stop':
        this.stopBlock(event);
        return;
      case 'message_delta':
        this.takeMessageDelta(event);
        return;
      case 'message_stop':
        this.stopMessage();
        return;
      default:
        this.noteUnknown(`event type "${type}"`);
    }
  }

  private noteUnknown(what: string): void {
    if (this.unknown.has(what)) return;
    this.unknown.add(what);
    this.note(`unknown ${what} was ignored`);
  }

  private startMessage(event: JsonObject): void {
    const start = isJsonObject(event.message) ? event.message : {};
    const id = typeof start.id === 'string' ? start.id : '';
    if (this.message !== undefined && this.message.id === id) {
      this.note(`message_start of ${id} came again and was ignored`);
      return;
    }
    if (this.message !== undefined) this.discard(`message ${id} began before ${this.message.id} had ended`);
    this.usage = isJsonObject(start.usage) ? start.usage : undefined;
    this.announce({ id, model: typeof start.model === 'string' ? start.model : '' });
  }

  private announce(message: { readonly id: string; readonly model: string }): void {
    this.message = { ...message };
    this.out.push({ type: 'message.started', messageId: message.id, model: message.model });
  }

  private discard(reason: string): void {
    this.drafts.clear();
    this.done.clear();
    this.callIds.clear();
    this.stopReason = null;
    this.stopDetails = undefined;
    this.out.push({ type: 'message.discarded', reason });
  }

  private startBlock(event: JsonObject): void {
    const index = readIndex(event);
    const start = event.content_block;
    if (this.message === undefined) {
      this.note('content_block_start before message_start was ignored');
      return;
    }
    if (index === undefined || !isLooseBlock(start)) {
      this.note('content_block_start without an index or a block was ignored');
      return;
    }
    const earlier = this.drafts.get(index)?.start ?? this.done.get(index)?.block;
    if (earlier !== undefined) {
      if (!sameIdentity(start, looseBlock(earlier))) {
        this.breakOff(protocolError(`block ${index} was a ${earlier.type} and came again as another ${start.type}`));
        return;
      }
      this.note(`block ${index} (${earlier.type}) started again: a replay`);
    }
    this.drafts.set(index, openDraft(index, start));
  }

  private addDelta(event: JsonObject): void {
    const index = readIndex(event);
    if (index === undefined) {
      this.spoilOpenCalls();
      return;
    }
    const draft = this.drafts.get(index);
    if (draft === undefined) {
      this.note(`a delta for block ${index}, which is not open, was ignored`);
      return;
    }
    const { delta, misfit, unknown } = applyDelta(draft, event.delta);
    if (misfit !== undefined) this.note(`block ${index}: ${misfit} was ignored`);
    if (unknown !== undefined) this.noteUnknown(`delta type "${unknown}"`);
    if (delta !== undefined && !this.done.has(index)) this.options.onDelta?.(delta);
  }

  /** Nobody can tell whose input the lost text was; an open call that misses a piece must not run on the rest. */
  private spoilOpenCalls(): void {
    this.note('a delta without an index was ignored');
    for (const draft of this.drafts.values()) draft.spoilt = 'part of the input was lost: a piece of it arrived without a block index';
  }

  private stopBlock(event: JsonObject): void {
    const index = readIndex(event);
    const draft = index === undefined ? undefined : this.drafts.get(index);
    if (draft === undefined) {
      this.note(`content_block_stop for block ${String(event.index)}, which is not open, was ignored`);
      return;
    }
    this.drafts.delete(draft.index);
    const finished = finishDraft(draft);
    if (finished.call?.input.kind === 'object' && isWithoutInput(draft) && !this.done.has(draft.index)) this.held = draft;
    else this.complete(draft.index, finished);
  }

  private releaseHeld(stopReason: unknown): void {
    const held = this.held;
    if (held === undefined) return;
    this.held = undefined;
    const cut = typeof stopReason === 'string' && CUTTING.has(stopReason);
    this.complete(held.index, finishDraft(held, cut ? cutOffBy(stopReason) : undefined));
  }

  private complete(index: number, { block, call, note }: FinishedBlock): void {
    if (note !== undefined) this.note(note);
    const earlier = this.done.get(index);
    if (call !== undefined) {
      if (call.id === '') {
        this.note(`a tool_use (${call.name}) without an id: a protocol error. It cannot be answered and was not executed`);
        return;
      }
      const print = JSON.stringify([call.name, call.input]);
      const known = this.callIds.get(call.id);
      if (known !== undefined) {
        const same =
          known === print ? 'the same input; it is one call' : 'another name or input: a protocol error. The second was not executed';
        this.note(`tool_use ${call.id} arrived twice with ${same}`);
        return;
      }
      this.callIds.set(call.id, print);
    }
    if (earlier !== undefined) {
      const same = JSON.stringify(earlier.block) === JSON.stringify(block);
      this.note(`block ${index} was replayed${same ? '' : ' with other content: a protocol error. The first one counts'}`);
      return;
    }
    if (block.type === 'fallback') this.dropBeforeFallback(block);
    const completed: Completed = {
      type: 'block.completed',
      index,
      block: assistantBlock(block),
      ...(call === undefined ? {} : { toolUse: { ...call, index } }),
    };
    this.done.set(index, completed);
    this.out.push(completed);
  }

  /** Blocks of the model that declined are taken back; those that may stay are given again under the same message. */
  private dropBeforeFallback(fallback: LooseBlock): void {
    const to = isJsonObject(fallback.to) && typeof fallback.to.model === 'string' ? fallback.to.model : this.message?.model;
    const message = { id: this.message?.id ?? '', model: to ?? '' };
    const before = [...this.done.values()];
    const survives = survivesFallback(before.map(({ block }) => looseBlock(block)));
    const kept = before.filter(({ block }) => survives(looseBlock(block)));
    if (kept.length === before.length) {
      this.message = { ...message };
      return;
    }
    const { drafts } = this;
    const open = [...drafts];
    this.discard(`the answer was taken over by ${message.model}: thinking and tool calls before it do not count`);
    for (const [index, draft] of open) drafts.set(index, draft);
    this.announce(message);
    for (const completed of kept) {
      this.done.set(completed.index, completed);
      this.out.push(completed);
    }
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
    if (stopReason === 'refusal') {
      if (this.done.size > 0) this.discard('the model refused: its partial answer does not count, and its tool calls are not run');
    } else {
      for (const draft of [...this.drafts.values()].sort((a, b) => a.index - b.index)) this.closeCut(draft);
    }
    this.drafts.clear();
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

  /** A block still open at a regular end. A call is answered (as invalid), text stays, the rest is unusable: a signature may be missing. */
  private closeCut(draft: Draft): void {
    const { index, start } = draft;
    if (this.done.has(index)) return;
    const why =
      this.stopReason !== null && CUTTING.has(this.stopReason) ? cutOffBy(this.stopReason) : 'cut off: the end of the block never arrived';
    const finished = finishDraft(draft, why);
    if (finished.call !== undefined || (start.type === 'text' && textField(finished.block, 'text').trim() !== '')) {
      this.note(`block ${index} (${start.type}) was ${why}`);
      this.complete(index, finished);
    } else {
      this.note(`block ${index} (${start.type}) was ${why}; it was dropped`);
    }
  }

  private breakOff(error: ModelError): void {
    this.releaseHeld(undefined);
    for (const { index, start } of this.drafts.values()) {
      if (!this.done.has(index)) this.note(`block ${index} (${start.type}) was not complete when the stream broke; it was dropped`);
    }
    this.drafts.clear();
    const usage = readUsage(this.usage);
    this.ended = true;
    this.out.push({ type: 'stream.ended', end: { kind: 'broken', error, ...(usage === undefined ? {} : { usage }) } });
  }

  private incomplete(): ModelError {
    const message =
      this.message === undefined
        ? 'The API closed the stream before a message began.'
        : 'The API closed the stream before the message was complete.';
    return { type: 'stream_incomplete', message, retryable: true };
  }
}

function cutOffBy(stopReason: string): string {
  return `cut off by ${stopReason}`;
}

function protocolError(what: string): ModelError {
  return { type: 'protocol_error', message: `The stream broke the protocol of the Messages API: ${what}.`, retryable: true };
}
