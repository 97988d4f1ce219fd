import { isJsonObject, type JsonObject } from '../../json.js';
import { messageOf } from '../../tool/errors.js';
import { ScriptError } from './errors.js';
import type { Step, Turn } from './steps.js';

/** What the player of a turn has to do next. Step numbers count from 1 and are for messages. */
export type PlayItem =
  | { readonly kind: 'event'; readonly name: string; readonly event: unknown; readonly step: number }
  | { readonly kind: 'raw'; readonly text: string; readonly step: number }
  | { readonly kind: 'wait'; readonly until: { readonly ms: number } | { readonly pass: () => Promise<void> }; readonly step: number }
  | { readonly kind: 'httpError'; readonly error: Extract<Step, { kind: 'apiError' }>; readonly step: number }
  | { readonly kind: 'close'; readonly how: 'reset' | 'end'; readonly step: number };

export interface PlayContext {
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** The model named by the request. */
  readonly model: string;
}

/** Spells a turn out as the events of a response, with message_start, message_delta and message_stop where the script leaves them out. */
export function* playTurn(turn: Turn, context: PlayContext): Generator<PlayItem> {
  const verbatim = turn.some(({ kind }) => kind === 'recording');
  const writer = new Writer(context, turn);
  for (const [at, step] of turn.entries()) {
    const number = at + 1;
    for (const item of writer.play(step, number, verbatim)) yield item;
    if (writer.over) return;
  }
  if (!verbatim) yield* writer.finish(turn.length);
}

class Writer {
  over = false;
  private index = -1;
  private blocks = 0;
  private started = false;
  private called = false;
  private readonly stop: Extract<Step, { kind: 'stop' }> | undefined;
  private readonly usage: JsonObject;

  constructor(
    private readonly context: PlayContext,
    turn: Turn,
  ) {
    this.stop = turn.find((step) => step.kind === 'stop');
    const counts = turn.flatMap((step) => (step.kind === 'usage' ? [step.usage] : []));
    this.usage = Object.assign({ input_tokens: 10, output_tokens: 10 }, ...counts);
  }

  *play(step: Step, number: number, verbatim: boolean): Generator<PlayItem> {
    const send = (event: JsonObject): PlayItem => ({ kind: 'event', name: String(event.type), event, step: number });
    switch (step.kind) {
      case 'delay':
        yield { kind: 'wait', until: { ms: step.ms }, step: number };
        return;
      case 'gate':
        yield { kind: 'wait', until: { pass: step.pass }, step: number };
        return;
      case 'apiError':
        this.over = true;
        yield { kind: 'httpError', error: step, step: number };
        return;
      case 'cutOff':
        this.over = true;
        yield { kind: 'close', how: step.how, step: number };
        return;
      case 'raw':
        yield { kind: 'raw', text: step.text, step: number };
        return;
      case 'recording':
        yield* playRecording(step.text, number);
        return;
      case 'stop':
      case 'usage':
        return;
      case 'message':
        this.index = -1;
        yield send(this.messageStart(step));
        return;
      case 'ping':
        yield send({ type: 'ping' });
        return;
      case 'event':
        if (!verbatim) yield* this.begin(send);
        yield { kind: 'event', name: eventName(step.event), event: step.event, step: number };
        return;
      case 'errorEvent':
        this.over = true;
        yield* this.begin(send);
        yield send({ type: 'error', error: { type: step.type, message: step.message } });
        yield { kind: 'close', how: 'end', step: number };
        return;
      default:
        yield* this.begin(send);
        yield* this.block(step, send);
    }
  }

  private *begin(send: (event: JsonObject) => PlayItem): Generator<PlayItem> {
    if (!this.started) yield send(this.messageStart({ kind: 'message', id: undefined, model: undefined }));
  }

  private messageStart(step: Extract<Step, { kind: 'message' }>): JsonObject {
    this.started = true;
    const id = step.id ?? `msg_scripted_${this.context.turn}`;
    const usage = { ...this.usage, output_tokens: 1 };
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model: step.model ?? this.context.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    return { type: 'message_start', message };
  }

  private *block(
    step: Extract<Step, { kind: 'text' | 'thinking' | 'toolUse' | 'block' }>,
    send: (event: JsonObject) => PlayItem,
  ): Generator<PlayItem> {
    this.index += 1;
    this.blocks += 1;
    const { index } = this;
    const delta = (content: JsonObject) => send({ type: 'content_block_delta', index, delta: content });
    const start = (content: JsonObject) => send({ type: 'content_block_start', index, content_block: content });
    switch (step.kind) {
      case 'text':
        yield start({ type: 'text', text: '' });
        for (const piece of step.pieces) yield delta({ type: 'text_delta', text: piece });
        break;
      case 'thinking':
        yield start({ type: 'thinking', thinking: '', signature: '' });
        yield delta({ type: 'thinking_delta', thinking: step.text });
        if (!step.open) yield delta({ type: 'signature_delta', signature: step.signature });
        break;
      case 'toolUse': {
        this.called = true;
        const id = step.id ?? `toolu_${this.context.turn}_${this.blocks}`;
        yield start({ type: 'tool_use', id, name: step.name, input: step.startInput });
        for (const piece of step.pieces) yield delta({ type: 'input_json_delta', partial_json: piece });
        break;
      }
      case 'block':
        yield start(step.block);
    }
    if (step.kind === 'block' || !step.open) yield send({ type: 'content_block_stop', index });
  }

  *finish(number: number): Generator<PlayItem> {
    const send = (event: JsonObject): PlayItem => ({ kind: 'event', name: String(event.type), event, step: number });
    yield* this.begin(send);
    const reason = this.stop?.reason ?? (this.called ? 'tool_use' : 'end_turn');
    const details = this.stop?.details === undefined ? {} : { stop_details: this.stop.details };
    yield send({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null, ...details }, usage: this.usage });
    yield send({ type: 'message_stop' });
  }
}

/** Server-sent events go out verbatim; a file of one JSON event a line is wrapped, each line under the name of its type. */
function* playRecording(text: string, step: number): Generator<PlayItem> {
  if (!text.trimStart().startsWith('{')) {
    yield { kind: 'raw', text: text.endsWith('\n\n') ? text : `${text}\n\n`, step };
    return;
  }
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    let event: unknown;
    try {
      event = JSON.parse(line);
    } catch (error) {
      throw new ScriptError(`step ${step} (recording), line ${at + 1}: ${messageOf(error)}`);
    }
    yield { kind: 'event', name: eventName(event), event, step };
  }
}

function eventName(event: unknown): string {
  return isJsonObject(event) && typeof event.type === 'string' ? event.type : 'message';
}

const BESIDE_RECORDING: ReadonlySet<Step['kind']> = new Set(['delay', 'gate', 'raw', 'cutOff']);

/** Steps that contradict each other are a mistake in the script, and are said before anything is played. */
export function checkTurn(turn: Turn, number: number): void {
  const sends = (step: Step): boolean => !['delay', 'gate', 'stop', 'usage'].includes(step.kind);
  for (const [at, step] of turn.entries()) {
    const place = `turn ${number}, step ${at + 1} (${step.kind})`;
    const later = turn.slice(at + 1).find(sends);
    if ((step.kind === 'cutOff' || step.kind === 'errorEvent' || step.kind === 'apiError') && later !== undefined) {
      throw new ScriptError(`${place}: nothing can follow it, but a ${later.kind} step does`);
    }
    if (step.kind === 'recording' && turn.some((other) => other !== step && !BESIDE_RECORDING.has(other.kind))) {
      throw new ScriptError(`${place}: a recording is a whole answer; only delays, gates, raw characters and a cut can stand beside it`);
    }
    if (step.kind === 'delay' && !(step.ms >= 0 && Number.isFinite(step.ms)))
      throw new ScriptError(`${place}: ${step.ms} is no time in milliseconds`);
    if (step.kind === 'apiError' && turn.slice(0, at).some(sends)) {
      throw new ScriptError(`${place}: an HTTP error takes the place of the whole answer; use errorEvent() after something was sent`);
    }
  }
}
