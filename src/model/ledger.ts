import { isJsonObject, type JsonObject } from '../json.js';
import { isBlank, isLooseBlock, isThinking, type LooseBlock, textField } from '../messages/blocks.js';
import { applyDelta, type Draft, type FinishedBlock, finishDraft, isWithoutInput, openDraft, sameIdentity } from './draft.js';
import { survivesFallback } from './fallback.js';
import { assistantBlock, looseBlock, readIndex } from './shapes.js';
import type { ModelDelta, ModelStreamEvent } from './types.js';

export type CompletedBlock = Extract<ModelStreamEvent, { type: 'block.completed' }>;

/** Where the ledger reports to. */
export interface LedgerSink {
  completed(block: CompletedBlock): void;
  delta(delta: ModelDelta): void;
  note(note: string): void;
  /** A type of a newer API; to be noted once. */
  unknown(what: string): void;
  /** A `fallback` block is complete. With `dropped`, blocks before it are taken back; those that may stay are reported again next. */
  takenOver(fallback: LooseBlock, dropped: boolean): void;
}

/** Stop reasons that may cut the last block off in the middle. */
const CUTTING: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded']);

type FinishedCall = NonNullable<FinishedBlock['call']>;

/**
 * The blocks of one message, each under its index. Invariants: a block is reported at most once, a call id at most once, and no event
 * for one index changes a block under another.
 */
export class BlockLedger {
  private readonly drafts = new Map<number, Draft>();
  /** In order of arrival, which need not be index order. */
  private readonly done = new Map<number, CompletedBlock>();
  private readonly calls = new Map<string, FinishedCall>();
  /** A finished call without any input text: whether it was cut off before its first key, or its input comes late, is known one event later. */
  private held: Draft | undefined;
  private lostCall = false;
  private lostBlock = false;

  constructor(private readonly sink: LedgerSink) {}

  clear(): void {
    this.drafts.clear();
    this.done.clear();
    this.calls.clear();
    this.held = undefined;
    this.lostCall = false;
    this.lostBlock = false;
  }

  /** True when a call arrived that nobody can answer, and none that can be. */
  get lostItsCalls(): boolean {
    return this.lostCall && this.calls.size === 0;
  }

  get hasAny(): boolean {
    return this.done.size > 0;
  }

  /** True when all that is complete is thinking and blanks. */
  get saysNothing(): boolean {
    const blocks = [...this.done.values()].map(({ block }) => looseBlock(block));
    return blocks.length > 0 && blocks.every((block) => isThinking(block) || (block.type === 'text' && isBlank(textField(block, 'text'))));
  }

  /** True when blocks arrived that cannot be told apart, and nothing besides. */
  get lostEverything(): boolean {
    return this.lostBlock && this.done.size + this.drafts.size === 0;
  }

  /** `content_block_start`. Returns what is wrong when two different blocks claim one index: then nothing after it can be told apart. */
  start(event: JsonObject): string | undefined {
    const index = readIndex(event);
    const start = event.content_block;
    if (index === undefined || !isLooseBlock(start)) {
      this.lostBlock = true;
      this.lostCall ||= isLooseBlock(start) && start.type === 'tool_use';
      this.sink.note('content_block_start without an index or a block was ignored');
      return undefined;
    }
    const earlier = this.drafts.get(index)?.start ?? this.done.get(index)?.block;
    if (earlier !== undefined) {
      if (!sameIdentity(start, looseBlock(earlier))) return `block ${index} was a ${earlier.type} and came again as another ${start.type}`;
      this.sink.note(`block ${index} (${earlier.type}) started again: a replay`);
    }
    this.drafts.set(index, openDraft(index, start));
    return undefined;
  }

  /** `content_block_delta`. */
  delta(event: JsonObject): void {
    const { sink } = this;
    const index = readIndex(event);
    if (index === undefined) {
      // Nobody can tell whose input the lost text was; an open call that misses a piece must not run on the rest.
      for (const draft of this.unreported()) draft.spoilt = 'part of the input was lost: a piece of it arrived without a block index';
      sink.note('a delta without an index was ignored');
      return;
    }
    const draft = this.drafts.get(index);
    if (draft === undefined) {
      this.noteStray(event.delta);
      sink.note(`a delta for block ${index}, which is not open, was ignored`);
      return;
    }
    const { delta, misfit, unknown } = applyDelta(draft, event.delta);
    if (misfit !== undefined) this.noteStray(event.delta);
    if (misfit !== undefined) sink.note(`block ${index}: ${misfit} was ignored`);
    if (unknown !== undefined) sink.unknown(`delta type "${unknown}"`);
    if (delta !== undefined && !this.done.has(index)) sink.delta(delta);
  }

  /** Input for a block that takes none: it touches no call that has its own, but one that has none may be the one it was meant for. */
  private noteStray(delta: unknown): void {
    if (!isJsonObject(delta) || delta.type !== 'input_json_delta' || delta.partial_json === '') return;
    for (const draft of this.unreported()) draft.strayed = true;
  }

  private unreported(): readonly Draft[] {
    return [...this.drafts.values(), ...(this.held === undefined ? [] : [this.held])];
  }

  /** `content_block_stop`. Returns what is wrong when a block comes again with other content: a second generation has begun unsaid. */
  stop(event: JsonObject): string | undefined {
    const index = readIndex(event);
    const draft = index === undefined ? undefined : this.drafts.get(index);
    if (draft === undefined) {
      this.sink.note(`content_block_stop for block ${String(event.index)}, which is not open, was ignored`);
      return undefined;
    }
    this.drafts.delete(draft.index);
    const finished = finishDraft(draft);
    if (finished.call?.input.kind !== 'object' || !isWithoutInput(draft) || this.done.has(draft.index))
      return this.complete(draft.index, finished);
    this.held = draft;
    return undefined;
  }

  /** To be called before each further event but a delta, which may be what was meant for it. `stopReason` is the event's, if it has one. */
  releaseHeld(stopReason: unknown): void {
    const { held } = this;
    if (held === undefined) return;
    this.held = undefined;
    const cut = typeof stopReason === 'string' && CUTTING.has(stopReason);
    this.complete(held.index, finishDraft(held, cut ? `cut off by ${stopReason}` : undefined));
  }

  /** Blocks still open at a regular end: a call is answered (as invalid), text stays, the rest is unusable, as its signature may be missing. */
  closeOpen(stopReason: string | null): void {
    const why = stopReason !== null && CUTTING.has(stopReason) ? `cut off by ${stopReason}` : 'cut off: the end of the block never arrived';
    const open = [...this.drafts.values()].filter(({ index }) => !this.done.has(index)).sort((a, b) => a.index - b.index);
    this.drafts.clear();
    for (const draft of open) {
      const { index, start } = draft;
      const finished = finishDraft(draft, why);
      const usable = finished.call !== undefined || (start.type === 'text' && textField(finished.block, 'text').trim() !== '');
      this.sink.note(`block ${index} (${start.type}) was ${why}${usable ? '' : '; it was dropped'}`);
      if (usable) this.complete(index, finished);
    }
  }

  /** The stream broke, or its answer does not count: open blocks are unusable, and named. */
  dropOpen(): void {
    for (const { index, start } of this.drafts.values()) {
      if (!this.done.has(index)) this.sink.note(`block ${index} (${start.type}) was not complete when the stream ended; it was dropped`);
    }
    this.drafts.clear();
  }

  private complete(index: number, { block, call, note }: FinishedBlock): string | undefined {
    const { sink } = this;
    if (note !== undefined) sink.note(note);
    if (call !== undefined && !this.isNewCall(call)) return undefined;
    const earlier = this.done.get(index);
    if (earlier !== undefined) {
      if (JSON.stringify(earlier.block) !== JSON.stringify(block)) return `block ${index} (${block.type}) came again with other content`;
      sink.note(`block ${index} (${block.type}) was replayed; the first one counts`);
      return undefined;
    }
    if (block.type === 'fallback') this.takeOver(block);
    this.report({
      type: 'block.completed',
      index,
      block: assistantBlock(block),
      ...(call === undefined ? {} : { toolUse: { index, ...call } }),
    });
    return undefined;
  }

  private isNewCall(call: FinishedCall): boolean {
    const { id, name } = call;
    if (id === '') {
      this.lostCall = true;
      this.sink.note(`a tool_use (${name}) without an id: a protocol error. It cannot be answered and was not executed`);
      return false;
    }
    const known = this.calls.get(id);
    if (known === undefined) {
      this.calls.set(id, call);
      return true;
    }
    const isSame = known.name === name && JSON.stringify(known.input) === JSON.stringify(call.input);
    const how = isSame ? 'the same input; it is one call' : 'another name or input: a protocol error. The second was not executed';
    this.sink.note(`tool_use ${id} arrived twice with ${how}`);
    return false;
  }

  private takeOver(fallback: LooseBlock): void {
    const before = [...this.done.values()];
    const survives = survivesFallback(before.map(({ block }) => looseBlock(block)));
    const kept = before.filter(({ block }) => survives(looseBlock(block)));
    const dropped = kept.length < before.length;
    this.sink.takenOver(fallback, dropped);
    if (!dropped) return;
    this.done.clear();
    this.calls.clear();
    for (const completed of kept) this.report(completed);
  }

  private report(completed: CompletedBlock): void {
    this.done.set(completed.index, completed);
    this.sink.completed(completed);
  }
}
