import type { FlowEvent, FlowRecording } from '../../../../src/inspect/protocol/flowEvents.js';
import type {
  ApprovalAnswer,
  Breakpoint,
  ExportReady,
  ExportRequest,
  HeldState,
  RpcError,
  RpcResult,
  TextPart,
  Welcome,
} from '../../../../src/inspect/protocol/rpc.js';
import { Layouts } from '../chart/layouts.js';
import { Bodies } from '../link/bodies.js';
import { Sequencer } from '../link/sequencer.js';
import { Socket } from '../link/socket.js';
import { Flow } from './flow.js';
import { firstRemote, type Notice, notHeld, type Remote } from './remote.js';
import { Cell, Pulse } from './store.js';
import { firstView, loadPreferences, type View } from './view.js';

const NOTICES_SHOWN = 3;

/** Everything behind the page: the flow, the connection, and what a person looks at. */
export class Inspector {
  readonly flow = new Flow();
  readonly pulse = new Pulse();
  /** Beats for the bodies alone: a large one comes in many parts, of which the rest of the page need not hear. */
  readonly bodyPulse = new Pulse();
  readonly layouts = new Layouts(this.pulse.beat);
  readonly view = new Cell<View>({ ...firstView, ...loadPreferences() });
  readonly remote = new Cell<Remote>(firstRemote);
  readonly bodies: Bodies;
  #socket: Socket | null = null;
  #recorded: ReadonlyMap<string, string> | null = null;
  #sequencer: Sequencer;
  #noticeId = 0;
  #graphsAsked = false;
  readonly #answeredHere = new Set<string>();

  constructor() {
    this.bodies = new Bodies((hash, offset) => this.#part(hash, offset), this.bodyPulse.beat);
    this.#sequencer = new Sequencer(this.flow, (from, to) => this.#list(from, to), this.pulse.beat);
  }

  openRecording(recording: FlowRecording): void {
    this.#socket?.close();
    this.#socket = null;
    this.#recorded = recording.bodies;
    this.flow.reset();
    this.flow.add(recording.header);
    for (const graph of recording.graphs) this.flow.graphs.set(graph.id, graph);
    for (const event of recording.events) this.flow.add(event);
    this.remote.patch({ status: 'recording', isRecorded: true, warnings: recording.warnings, approvals: [], held: notHeld, retryAt: null });
    this.view.set({ ...firstView, theme: this.view.get().theme, letterKeys: this.view.get().letterKeys });
    this.pulse.now();
  }

  connect(token: string | null): void {
    if (token === null) {
      this.remote.patch({ status: 'noLink' });
      return;
    }
    this.#socket = new Socket(token, {
      opened: () => void this.#greet(),
      closed: (retryMs) =>
        this.remote.patch({
          status: retryMs === null ? 'refused' : 'disconnected',
          retryAt: retryMs === null ? null : Date.now() + retryMs,
          approvals: [],
        }),
      batch: ({ events }) => this.#take(events),
      counters: (counters) => this.remote.patch({ counters }),
      gap: ({ from, to }) => this.#sequencer.lost(from, to, 'this page was too slow'),
      pendingApprovals: (approvals) => this.remote.patch({ approvals }),
      approvalSettled: ({ id, by, behavior }) => this.#settled(id, by, behavior),
      held: (held) => this.remote.patch({ held }),
      breakpoints: (breakpoints) => this.remote.patch({ breakpoints }),
    });
    this.#socket.open();
  }

  reconnect(): void {
    this.remote.patch({ status: 'connecting', retryAt: null });
    this.#socket?.open();
  }

  get isLive(): boolean {
    return this.remote.get().status === 'live';
  }
  get mayControl(): boolean {
    const { status, scope } = this.remote.get();
    return status === 'live' && scope === 'control';
  }

  async togglePause(): Promise<void> {
    const paused = this.remote.get().held.paused;
    this.#applyHeld(await this.#ask((socket) => socket.call(paused ? 'resume' : 'pause')));
  }
  async step(actor?: string): Promise<void> {
    this.#applyHeld(await this.#ask((socket) => socket.call('step', actor === undefined ? {} : { actor })));
  }
  async runToEnd(actor: string): Promise<void> {
    this.#applyHeld(await this.#ask((socket) => socket.call('runToEnd', { actor })));
  }
  /** Shown at once, and put back when the runtime does not take them. */
  async setBreakpoints(breakpoints: readonly Breakpoint[]): Promise<void> {
    const before = this.remote.get().breakpoints;
    this.remote.patch({ breakpoints });
    const result = await this.#ask((socket) => socket.call('setBreakpoints', { breakpoints }));
    this.remote.patch({ breakpoints: result?.ok ? result.value : before });
  }

  /** Null when the answer was taken. */
  async answer(answer: ApprovalAnswer): Promise<RpcError | null> {
    this.#answeredHere.add(answer.id);
    const result = await this.#ask((socket) => socket.call('answer', answer));
    if (!result) return { code: 'internal', message: 'Not connected to the runtime.' };
    if (result.ok) {
      this.remote.patch({ approvals: this.remote.get().approvals.filter((one) => one.id !== answer.id) });
      return null;
    }
    this.#answeredHere.delete(answer.id);
    return result.error;
  }

  /** Goes on with a copy of the session from a step. Returns whether it does. */
  async restart(seq: number, words: string): Promise<boolean> {
    const made = await this.#ask((socket) => socket.call('restart', { seq, words }));
    if (made?.ok) this.notice('A copy of the session goes on from there.', 'info', made.value.url);
    return made?.ok === true;
  }

  async export(request: ExportRequest): Promise<RpcResult<ExportReady>> {
    const socket = this.#socket;
    if (!socket)
      return { ok: false, error: { code: 'unsupported', message: 'A recording is already a file; exports are made by the runtime.' } };
    return socket.call('export', request);
  }
  async exportPart(id: string, offset: number): Promise<RpcResult<TextPart>> {
    const socket = this.#socket;
    if (!socket) return { ok: false, error: { code: 'unsupported', message: 'Not connected.' } };
    return socket.call('exportPart', { id, offset });
  }

  notice(text: string, tone: Notice['tone'] = 'info', link?: string): void {
    const notices = [...this.remote.get().notices, { id: ++this.#noticeId, tone, text, link }].slice(-NOTICES_SHOWN);
    this.remote.patch({ notices });
  }
  dismiss(id: number): void {
    this.remote.patch({ notices: this.remote.get().notices.filter((notice) => notice.id !== id) });
  }

  async #greet(): Promise<void> {
    const socket = this.#socket;
    if (!socket) return;
    const welcome = await socket.call('hello', { client: 'page' });
    if (!welcome.ok) {
      this.notice(welcome.error.message, 'error');
      return;
    }
    this.#welcome(welcome.value);
    await this.#loadGraphs();
    await socket.call('subscribe', { fromSeq: this.#sequencer.expected });
  }

  #welcome({ clientId: _, header, ...told }: Welcome): void {
    const { flow } = this;
    const { counters } = told;
    const other = flow.header !== null && (flow.header.startedAt !== header.startedAt || flow.header.name !== header.name);
    if (other || counters.lastSeq < flow.lastSeq) {
      flow.reset();
      this.view.patch({ actor: null, scope: null, call: null, event: null, travel: null, range: null, follow: true });
      this.notice('The runtime has started another flow; the earlier one is no longer shown.');
    }
    this.#sequencer.restart();
    this.bodies.forgetMissing();
    flow.add(header);
    if (flow.lastSeq > 0 || counters.firstSeq > 1) {
      const from = this.#sequencer.expected;
      if (counters.firstSeq > from) flow.addHole({ from, to: counters.firstSeq - 1, reason: 'older than the memory of the runtime' });
    }
    this.remote.patch({ ...told, status: 'live', retryAt: null });
    this.pulse.now();
  }

  #take(events: readonly FlowEvent[]): void {
    this.#sequencer.take(events);
    const unknown = events.some(
      (event) => event.type === 'actor.started' && event.machine !== null && !this.flow.graphs.has(event.machine),
    );
    if (unknown) void this.#loadGraphs();
  }

  async #loadGraphs(): Promise<void> {
    if (this.#graphsAsked) return;
    this.#graphsAsked = true;
    const graphs = await this.#socket?.call('graphs');
    this.#graphsAsked = false;
    if (!graphs?.ok) return;
    for (const graph of graphs.value) this.flow.graphs.set(graph.id, graph);
    this.pulse.beat();
  }

  #settled(id: string, by: string, behavior: 'allow' | 'deny' | 'withdrawn'): void {
    const known = this.remote.get().approvals.find((approval) => approval.id === id);
    this.remote.patch({ approvals: this.remote.get().approvals.filter((approval) => approval.id !== id) });
    if (this.#answeredHere.delete(id)) return;
    const what = known ? `${known.toolName} (${known.title})` : id;
    if (behavior === 'withdrawn') this.notice(`The question about ${what} was withdrawn.`);
    else this.notice(`${what} was ${behavior === 'allow' ? 'allowed' : 'denied'} by ${by}.`);
  }

  async #list(fromSeq: number, toSeq: number): Promise<readonly FlowEvent[] | null> {
    const result = await this.#socket?.call('listEvents', { fromSeq, toSeq });
    return result?.ok ? result.value.events : null;
  }

  async #part(hash: string, offset: number): Promise<TextPart | { readonly message: string }> {
    if (this.#recorded) {
      const text = this.#recorded.get(hash);
      if (text === undefined) return { message: 'This recording was made without the body; only its beginning is known.' };
      return { offset: 0, text, totalChars: text.length, done: true };
    }
    const result = await this.#socket?.call('body', { hash, offset });
    if (!result) return { message: 'Not connected to the runtime.' };
    return result.ok ? result.value : { message: result.error.message };
  }

  /** Runs a request and tells the person when it fails. */
  async #ask<T>(request: (socket: Socket) => Promise<RpcResult<T>>): Promise<RpcResult<T> | undefined> {
    if (!this.#socket) return undefined;
    const result = await request(this.#socket);
    if (!result.ok) this.notice(result.error.message, 'error');
    return result;
  }
  #applyHeld(result: RpcResult<HeldState> | undefined): void {
    if (result?.ok) this.remote.patch({ held: result.value });
  }
}
