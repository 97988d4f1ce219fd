import { type Attachment, renderAttachment } from '../messages/attachments.js';
import {
  answeredServerCalls,
  blocksOf,
  isClientToolUse,
  isContentBlock,
  isServerToolUse,
  isThinking,
  onlyResultsMayFollow,
  textField,
} from '../messages/blocks.js';
import { cleanAnswerBlock, tidy } from '../messages/clean.js';
import type { Note } from '../messages/note.js';
import { repairMessages } from '../messages/repair.js';
import type { Compaction } from '../messages/transcript.js';
import type { AssistantBlock, ContentBlockParam, MessageParam, ToolResultBlockParam } from '../messages/types.js';
import { wellFormedCopy } from '../messages/wellFormed.js';
import { assistantBlock, looseBlock } from '../model/shapes.js';
import { WrittenAnswers } from './writtenAnswers.js';
import { WrittenCalls } from './writtenCalls.js';

/** A line of the transcript as the conversation writes it; the log adds ids, links and times. */
export type ConversationEntry =
  | { readonly kind: 'user'; readonly content: string | readonly ContentBlockParam[]; readonly promptId?: string }
  | { readonly kind: 'assistant'; readonly messageId: string; readonly model: string; readonly block: AssistantBlock }
  | { readonly kind: 'attachment'; readonly attachment: Attachment }
  | { readonly kind: 'discarded'; readonly messageId: string; readonly reason: string }
  | { readonly kind: 'compacted'; readonly compaction: Compaction };

/** What the place a conversation is written to held before, the present history or not. */
export interface WrittenBefore {
  /** Names of answers. */
  readonly answers: Iterable<string>;
  /** Ids of calls. */
  readonly calls: ReadonlySet<string>;
}

/** Where a conversation is written down as it grows: a line is handed over before what it records has any effect. */
export type ConversationLog = (entry: ConversationEntry) => void;

/**
 * The history as the next request carries it, grown in place and written down at the same time. What has been sent is never
 * rewritten, so the prefix stays byte-stable from turn to turn. Loading the written lines gives the same history.
 */
export class Conversation {
  private readonly history: MessageParam[];
  /** The answer that is growing: its blocks from `from` on belong to this message, what is before them to the paused answer it continues. */
  private open: { readonly messageId: string; readonly blocks: AssistantBlock[]; readonly from: number } | undefined;
  private readonly written: WrittenAnswers;
  private readonly calls: WrittenCalls;
  /** The blocks of the last answer, for the next message to continue where that one was paused. */
  private lastAnswer: AssistantBlock[] = [];
  /** What may not stand beside results while server calls are pending: it goes behind the next answer. */
  private held: ContentBlockParam[] = [];
  private lastText = '';

  constructor(
    private readonly log: ConversationLog,
    history: readonly MessageParam[] = [],
    before: WrittenBefore = { answers: [], calls: new Set() },
  ) {
    this.history = [...history];
    this.written = new WrittenAnswers(before.answers);
    this.calls = new WrittenCalls(before.calls);
    for (const { content } of history) {
      for (const block of blocksOf(content)) if (isClientToolUse(block)) this.calls.add(block);
    }
  }

  /** Whether a call of this id was ever written down, be it in the history or not. Ids must be unique in a request, and name files. */
  hasCall(id: string): boolean {
    return this.calls.has(id);
  }

  get messages(): readonly MessageParam[] {
    return this.history;
  }
  /** The text of the latest answer. */
  get answerText(): string {
    return this.lastText;
  }

  /** Whether any call has ever stood in the history. */
  get hasCalls(): boolean {
    return this.calls.hasAny;
  }

  addPrompt(content: string | readonly ContentBlockParam[], promptId: string): void {
    this.log({ kind: 'user', content, promptId });
    this.push(typeof content === 'string' ? [{ type: 'text', text: content }] : content);
  }

  /** A request is made: what comes is another answer, and to discard it must not take back the paused one that it continues. */
  beginAnswer(): void {
    this.endWritten();
  }

  /** A complete block of the answer. It is on the transcript before any tool of it runs. */
  addAssistantBlock(messageId: string, model: string, block: AssistantBlock): void {
    // The API refuses empty text; an answer may contain it.
    if (block.type === 'text' && block.text.trim() === '') return;
    this.log({ kind: 'assistant', messageId: this.written.nameOf(messageId), model, block });
    const sendable = asSentBack(block);
    if (sendable === undefined) return;
    if (this.open?.messageId !== messageId) {
      const continues = this.history.at(-1)?.role === 'assistant' && this.lastAnswer.length > 0;
      if (!continues) {
        this.lastAnswer = [];
        this.history.push({ role: 'assistant', content: this.lastAnswer });
      }
      this.open = { messageId, blocks: this.lastAnswer, from: this.lastAnswer.length };
      this.lastText = '';
    }
    this.open.blocks.push(sendable);
    if (block.type === 'tool_use') this.calls.add(looseBlock(sendable));
    if (block.type === 'text') this.lastText += block.text;
  }

  /** Takes the open answer off again: none of its blocks counts. */
  discardAnswer(reason: string): void {
    if (!this.open) return;
    this.log({ kind: 'discarded', messageId: this.written.nameOf(this.open.messageId), reason });
    this.open.blocks.length = this.open.from;
    if (this.open.from === 0) this.history.pop();
    // What takes over under the same id is the same answer: what is written after the discard counts.
    this.open = undefined;
    this.lastText = '';
  }

  /** Writes a result down as soon as it is fixed, so that a crash cannot lose it. It enters the history with the others of its turn. */
  writeResult(content: readonly ContentBlockParam[]): void {
    this.log({ kind: 'user', content: content.map((block) => this.calls.inToolset(block)) });
  }

  /** Every result of a turn in call order, in one user message, before anything else that goes into it. They have been written down. */
  addResults(results: readonly ToolResultBlockParam[], images: readonly ContentBlockParam[]): void {
    const content = [...results.map((result) => this.calls.inToolset(result)), ...images];
    if (content.length > 0) this.push(content);
  }

  /** What stands beside the conversation: context of hooks, notifications, prompts typed while a turn ran. */
  addAttachment(attachment: Attachment): void {
    const blocks = [...renderAttachment(attachment)].flatMap((block: unknown) => (isContentBlock(block) ? [block] : []));
    if (blocks.length === 0) return;
    this.log({ kind: 'attachment', attachment });
    this.push(blocks);
  }

  /** A fixed text of the runtime in the person's place. */
  addMark(text: string): void {
    const content: readonly ContentBlockParam[] = [{ type: 'text', text }];
    this.log({ kind: 'user', content });
    this.push(content);
  }

  /** Puts a summary in place of older history. `reload` gives the history as it is once the summary has been written down. */
  compact(compaction: Compaction, reload: () => readonly MessageParam[]): void {
    this.log({ kind: 'compacted', compaction });
    this.history.splice(0, this.history.length, ...reload());
    this.endWritten();
  }

  /** The calls of an answer at the end of the history: those that have no result yet. */
  get openCalls(): readonly { readonly id: string; readonly name: string }[] {
    const last = this.history.at(-1);
    if (last?.role !== 'assistant') return [];
    return blocksOf(last.content)
      .filter(isClientToolUse)
      .map((block) => ({ id: textField(block, 'id'), name: textField(block, 'name') }));
  }

  /** True when the history ends with an answer that the API would take for a prefill: something must be said before the next request. */
  get needsAWord(): boolean {
    const last = this.history.at(-1);
    return last?.role === 'assistant' && !onlyResultsMayFollow(blocksOf(last.content));
  }

  /** What is added next begins another answer. */
  private endWritten(): void {
    this.open = undefined;
    this.written.end();
  }

  private push(given: readonly ContentBlockParam[]): void {
    this.endWritten();
    const blocks = given.map(wellFormed);
    if (this.history.at(-1)?.role === 'assistant') this.endAnswer();
    const last = this.history.at(-1);
    const isResults = blocks[0]?.type === 'tool_result';
    if (!isResults && this.onlyResultsMayFollow()) {
      this.held.push(...blocks);
      return;
    }
    if (last?.role !== 'user') {
      const content =
        isResults && this.onlyResultsMayFollow() ? [...blocks] : isResults ? [...blocks, ...this.held] : [...this.held, ...blocks];
      if (content.length > blocks.length) this.held = [];
      this.history.push({ role: 'user', content });
      return;
    }
    const before: readonly ContentBlockParam[] = typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content;
    this.history[this.history.length - 1] = { role: 'user', content: [...before, ...blocks] };
  }

  /**
   * Puts a history that the API would refuse into one that it takes, and says what was done. Only for one that broke the protocol already:
   * what has been sent is never rewritten otherwise.
   */
  mend(): readonly Note[] {
    const { messages, setAside } = repairMessages(this.history, { trailing: 'keep' });
    this.history.splice(0, this.history.length, ...messages);
    this.endWritten();
    this.lastAnswer = [];
    return setAside;
  }

  /**
   * Server calls that the last query left without their results get none any more: what opens a new one must not wait for them, and what
   * waited already is said.
   */
  abandonServerCalls(): void {
    this.endAnswer();
    const at = this.history.findLastIndex(({ role }) => role === 'assistant');
    const content = this.history[at]?.content;
    if (content === undefined || typeof content === 'string' || this.openCalls.length > 0) return;
    if (!onlyResultsMayFollow(blocksOf(content))) return;
    const kept = withoutUnansweredServerCalls(content);
    this.endWritten();
    this.lastAnswer = [];
    const isSaid = kept.some((block) => !isThinking(looseBlock(block)));
    this.history.splice(at, 1, ...(isSaid ? [{ role: 'assistant' as const, content: kept }] : []));
    const waiting = this.held.splice(0);
    if (waiting.length > 0) this.push(waiting);
  }

  /** What a model thought and then said nothing about cannot be sent back; no request has carried it yet. */
  private endAnswer(): void {
    const { lastAnswer } = this;
    if (this.history.at(-1)?.content !== lastAnswer) return;
    lastAnswer.length = lastAnswer.findLastIndex((block) => !isThinking(looseBlock(block))) + 1;
    if (lastAnswer.length === 0) this.history.pop();
  }

  private onlyResultsMayFollow(): boolean {
    const answer = this.history.findLast((message) => message.role === 'assistant');
    return answer !== undefined && onlyResultsMayFollow(blocksOf(answer.content));
  }
}

function withoutUnansweredServerCalls(content: readonly ContentBlockParam[]): ContentBlockParam[] {
  const answered = answeredServerCalls(blocksOf(content));
  return content.filter((block) => {
    const loose = looseBlock(block);
    return !isServerToolUse(loose) || answered.has(textField(loose, 'id'));
  });
}

/** A block of an answer in the form in which the API takes it back; undefined for one that it does not take back at all. */
function asSentBack(block: AssistantBlock): AssistantBlock | undefined {
  const loose = looseBlock(block);
  const clean = isClientToolUse(loose) ? tidy(loose) : cleanAnswerBlock(loose, () => {});
  return clean && assistantBlock(clean);
}

function wellFormed(block: ContentBlockParam): ContentBlockParam {
  const copy = wellFormedCopy(block);
  return isContentBlock(copy) ? copy : block;
}
