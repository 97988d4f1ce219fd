import { isJsonObject } from '../../json.js';
import { type LooseBlock, textField } from '../../messages/blocks.js';
import { nameActor } from '../actorNames.js';
import { FULL_LIMITS } from '../capture.js';
import type { FlowLog } from '../flowLog.js';
import type { ActorStopped, FilePlace, FlowEventDraft, RecordedOutcome } from '../protocol/flowEvents.js';
import type { Conversation, Conversations } from './conversations.js';
import { contentOf, type Line, placeOf, stringAt } from './lines.js';
import { outcomeOf } from './outcome.js';
import { contentText, isCall, isResult, type Pairing, type RecordedCall } from './pairing.js';
import { besideResults, partQueries, type RecordedQuery, type RecordedTurn, saidOn } from './queries.js';
import type { LineTimes } from './times.js';
import { callNamedBy, eventNameOf, queryStatus, subagentLabel, titleOf } from './words.js';

interface Item {
  readonly t: number;
  readonly draft: () => FlowEventDraft;
}
/** An actor that has been told, and when it began: nothing of it may come before. */
interface Told {
  readonly actor: string;
  readonly start: number;
}

const LABEL_CHARS = 120;

/**
 * Tells a transcript's conversations to a log as a flow: one actor a conversation, query, turn and call. Times are those of the lines;
 * what lies within an actor never begins before it does, so that no bar is negative whatever the file says.
 */
export class TranscriptTeller {
  readonly #items: Item[] = [];
  readonly #calls = new Map<string, Told>();
  readonly #beside: { readonly line: Line; readonly within: Told; readonly query: Told | undefined }[] = [];
  readonly #subagents = new Map<RecordedCall, Conversation[]>();
  readonly #orphans: ReadonlySet<LooseBlock>;

  constructor(
    readonly log: FlowLog,
    readonly times: LineTimes,
    readonly pairing: Pairing,
    /** Outcomes by call id that the writer of the transcript put down itself. */
    readonly outcomes: ReadonlyMap<string, RecordedOutcome>,
  ) {
    this.#orphans = new Set(pairing.orphans.map(({ block }) => block));
  }

  /** All events in order of time; `setClock` is told each one's before it is put. */
  tell({ main, subagents }: Conversations, setClock: (t: number) => void): void {
    for (const one of subagents) {
      if (one.call) this.#subagents.set(one.call, [...(this.#subagents.get(one.call) ?? []), one]);
    }
    const root = { actor: 'session', start: 0 };
    const unlinked = subagents.filter(({ call }) => call === undefined);
    this.#session(main, root, null, (told) =>
      unlinked.map((one, index) => this.#subagent(one, { actor: `session/agent-${index + 1}`, start: told.start }, told)),
    );
    for (const { line, within, query } of this.#beside) this.#besideLine(line, within, query);
    // Sorting is stable: what is told at one moment keeps the order in which it lies one within the other.
    for (const { t, draft } of this.#items.sort((a, b) => a.t - b.t)) {
      setClock(t);
      this.log.put(draft());
    }
  }

  #put(t: number, draft: () => FlowEventDraft): void {
    this.#items.push({ t, draft });
  }

  #subagent(one: Conversation, within: Told, parent: Told): number {
    return this.#session(one, { actor: within.actor, start: Math.max(within.start, this.#earliest(one.lines)) }, parent);
  }

  #session(one: Conversation, told: Told, parent: Told | null, more?: (told: Told) => readonly number[]): number {
    const { log } = this;
    this.#put(told.start, () => ({
      type: 'actor.started',
      actor: told.actor,
      parent: parent?.actor ?? null,
      kind: 'session',
      machine: null,
      name: parent ? 'agent' : 'session',
      label: log.text(parent ? subagentLabel(one) : (titleOf(one.lines) ?? ''), LABEL_CHARS),
      ...placed(one.lines[0]),
    }));
    const { queries, others } = partQueries(one.lines, this.pairing.calls);
    const ends = [told.start];
    let turns = 0;
    for (const [index, query] of queries.entries()) {
      ends.push(this.#query(query, `${told.actor}/query-${index + 1}`, told, turns));
      turns += query.turns.length;
    }
    for (const line of others) {
      this.#beside.push({ line, within: told, query: undefined });
      ends.push(this.times.of(line));
    }
    ends.push(...(more?.(told) ?? []));
    const end = latest(ends);
    // Whether a session goes on is not in its file; a subagent's has ended when its call has its result.
    this.#stop(told, end, one.call?.result ? 'done' : 'unknown');
    return end;
  }

  #query(query: RecordedQuery, actor: string, session: Told, turnsBefore: number): number {
    const { prompt, others, turns } = query;
    const lines = [...(prompt ? [prompt] : []), ...turns.flatMap((turn) => turn.lines)];
    const told = { actor, start: Math.max(session.start, this.#earliest(lines)) };
    const text = prompt ? contentText(contentOf(prompt)) : '';
    this.#put(told.start, () => ({
      type: 'actor.started',
      actor,
      parent: session.actor,
      kind: 'query',
      machine: null,
      name: 'query',
      label: this.log.text(text.replace(/\s+/g, ' ').trim(), LABEL_CHARS),
      ...(prompt ? { input: this.#full(contentOf(prompt)) } : {}),
      ...placed(prompt),
    }));
    if (prompt) this.#event(told, prompt, 'prompt', contentOf(prompt));
    const ends = [told.start, ...others.map((line) => this.times.of(line))];
    for (const [index, turn] of turns.entries()) ends.push(this.#turn(turn, `${actor}/turn-${turnsBefore + index + 1}`, told));
    for (const line of others) this.#beside.push({ line, within: session, query: told });
    const end = latest(ends);
    this.#stop(told, end, queryStatus(query));
    return end;
  }

  #turn(turn: RecordedTurn, actor: string, query: Told): number {
    const at = turn.lines.map((line) => this.times.of(line));
    const told = { actor, start: Math.max(query.start, this.#earliest(turn.lines)) };
    const draft = { type: 'actor.started', actor, parent: query.actor, kind: 'turn', machine: null, name: 'turn', label: '' } as const;
    this.#put(told.start, () => ({ ...draft, ...placed(turn.lines[0]) }));
    const ends = [told.start, ...at];
    for (const line of turn.lines) this.#answer(line, told);
    const error = turn.lines.find(({ entry }) => entry.isApiErrorMessage === true);
    this.#put(latest(ends), () => this.#modelEnd(turn, error));
    for (const [index, call] of turn.calls.entries()) ends.push(this.#call(call, `${actor}/call-${index}`, told));
    const end = latest(ends);
    this.#stop(told, end, error ? 'error' : turn.calls.every(({ result }) => result) ? 'done' : 'unknown');
    return end;
  }

  /** What an answer holds beside its calls. */
  #answer(line: Line, turn: Told): void {
    if (line.repeated) return;
    for (const block of line.blocks) {
      if (this.#orphans.has(block)) this.#event(turn, line, 'result_without_call', block);
      if (isCall(block) || isResult(block)) continue;
      const text = block.type === 'text' || block.type === 'thinking' ? textField(block, block.type) : undefined;
      this.#event(turn, line, `assistant.${block.type}`, text ?? block);
    }
  }

  #modelEnd({ lines }: RecordedTurn, error: Line | undefined): FlowEventDraft {
    const last = lines.at(-1);
    const message = isJsonObject(last?.entry.message) ? last.entry.message : {};
    const usage = isJsonObject(message.usage) ? message.usage : {};
    const stopReason = lines.map(({ entry }) => stringAt(entry, 'message', 'stop_reason')).findLast((reason) => reason !== undefined);
    return {
      type: 'model',
      phase: 'end',
      requestId: stringAt(last?.entry, 'requestId') ?? stringAt(message, 'id') ?? 'unknown',
      model: this.log.text(stringAt(message, 'model') ?? 'unknown', LABEL_CHARS),
      ...(stopReason === undefined ? {} : { stopReason: this.log.text(stopReason, LABEL_CHARS) }),
      ...(typeof usage.input_tokens === 'number' ? { inputTokens: usage.input_tokens } : {}),
      ...(typeof usage.output_tokens === 'number' ? { outputTokens: usage.output_tokens } : {}),
      ...(error ? { error: this.log.text(contentText(error.blocks) || 'the API answered with an error') } : {}),
      ...placed(last),
    };
  }

  #call(call: RecordedCall, actor: string, turn: Told): number {
    const { id, name, input, line, result } = call;
    const told = { actor, start: Math.max(turn.start, this.times.of(line)) };
    this.#calls.set(id, told);
    const { label } = nameActor({ id, src: null, machineId: 'toolCall', input: { id, name, input } });
    this.#put(told.start, () => ({
      type: 'actor.started',
      actor,
      parent: turn.actor,
      kind: 'toolCall',
      machine: null,
      name: this.log.text(name, LABEL_CHARS),
      label: this.log.text(label, LABEL_CHARS),
      toolUseId: id,
      ...(input === undefined ? {} : { input: this.#full(input) }),
      ...placed(line),
    }));
    for (const [index, one] of (this.#subagents.get(call) ?? []).entries()) {
      this.#subagent(one, { actor: `${actor}/agent${index === 0 ? '' : `-${index + 1}`}`, start: told.start }, told);
    }
    // Without a result nothing more is known of it, not even how long it went on.
    const end = result ? Math.max(told.start, this.times.of(result.line)) : told.start;
    if (result) {
      const { block } = result;
      const content = block.content ?? '';
      const found = outcomeOf(block);
      this.#put(end, () => ({
        type: 'result',
        toolUseId: id,
        toolName: this.log.text(name, LABEL_CHARS),
        outcome: this.outcomes.get(id) ?? found,
        isError: found !== 'succeeded' && found !== 'unknown',
        summary: this.log.text(firstLine(contentText(content)), 200),
        body: this.#full(content),
        ...placed(result.line),
      }));
    }
    this.#stop(told, end, result ? 'done' : 'unknown');
    return end;
  }

  /** A line that is neither prompt nor answer nor result: on the call it names, else on its query, else on its session. */
  #besideLine(line: Line, session: Told, query: Told | undefined): void {
    const call = this.#calls.get(callNamedBy(line) ?? '');
    const { type, entry } = line;
    if (type === 'user') {
      const said = saidOn(line);
      const on = query ?? session;
      if (said !== 'result') this.#event(on, line, said, contentOf(line));
      else this.#besideResult(on, line);
      return;
    }
    const { message: _said, parentUuid: _parent, uuid: _uuid, ...rest } = entry;
    this.#event(call ?? query ?? session, line, eventNameOf(line), rest);
  }

  #besideResult(on: Told, line: Line): void {
    for (const block of line.blocks) if (this.#orphans.has(block)) this.#event(on, line, 'result_without_call', block);
    for (const block of besideResults(line)) {
      this.#event(on, line, `user.${block.type}`, block.type === 'text' ? textField(block, 'text') : block);
    }
  }

  #event(on: Told, line: Line, event: string, value: unknown): void {
    this.#put(Math.max(on.start, this.times.of(line)), () => ({
      type: 'event',
      actor: on.actor,
      source: null,
      event: this.log.text(event, LABEL_CHARS),
      body: this.#full(value),
      ...placed(line),
    }));
  }

  #stop({ actor }: Told, t: number, status: ActorStopped['status']): void {
    this.#put(t, () => ({ type: 'actor.stopped', actor, status }));
  }

  #earliest(lines: readonly Line[]): number {
    return lines.reduce((first, line) => Math.min(first, this.times.of(line)), Number.POSITIVE_INFINITY);
  }

  #full(value: unknown) {
    return this.log.bodies.put(value, FULL_LIMITS);
  }
}

const placed = (line: Line | undefined): { readonly at?: FilePlace } => (line ? { at: placeOf(line.file, line.number) } : {});

const latest = (times: readonly number[]): number => times.reduce((last, t) => Math.max(last, t), 0);
const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? '';
