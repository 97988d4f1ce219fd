import type { SessionUpdate } from '../session/updates.js';
import type { BackgroundTaskInfo } from '../tool/types.js';

export interface ShownCall {
  readonly callId: string;
  readonly tool: string;
  title: string;
  state: string;
  note: string | undefined;
  readonly startedAt: number;
  /** The subagent whose call it is; undefined for the session's own. */
  readonly agentId: string | undefined;
}
export interface TreeRow {
  readonly depth: number;
  readonly item: { readonly kind: 'call'; readonly call: ShownCall } | { readonly kind: 'task'; readonly task: BackgroundTaskInfo };
}

interface Agent {
  /** The call that started it. */
  readonly callId: string;
  /** The agent whose call that was; undefined for the session's own. */
  readonly parent: string | undefined;
  readonly name: string;
  readonly depth: number;
}

/** What runs at the moment: calls in the order in which they came, a subagent's below the call that started it, then background tasks. */
export class CallTree {
  private readonly calls = new Map<string, ShownCall>();
  private readonly tasks = new Map<string, BackgroundTaskInfo>();
  /** Kept when the call that started one has ended: an agent may go on in the background. */
  private readonly agents = new Map<string, Agent>();

  get isEmpty(): boolean {
    return this.calls.size === 0 && this.tasks.size === 0;
  }

  /** Takes an update of the session, or of an agent in it. */
  see(update: SessionUpdate, now: number, agentId?: string): void {
    switch (update.type) {
      case 'agent.update':
        this.meet(update.agentId, update.callId);
        this.see(update.update, now, update.agentId);
        return;
      case 'call.input':
        this.call(update, now, agentId).title = update.title;
        return;
      case 'call.state':
        if (!update.state.startsWith('completed') && update.state !== 'yielded') this.call(update, now, agentId).state = update.state;
        return;
      case 'call.progress': {
        const call = this.find(update.callId, agentId);
        if (call && update.progress.message !== undefined) call.note = update.progress.message;
        return;
      }
      case 'task.started':
        this.tasks.set(update.task.id, update.task);
        return;
      case 'task.ended':
        this.tasks.delete(update.task.id);
        return;
      case 'session.ended':
        // An agent's end takes what it left unfinished with it.
        for (const [key, call] of this.calls) if (call.agentId === agentId) this.calls.delete(key);
        return;
      default:
    }
  }

  find(callId: string, agentId?: string): ShownCall | undefined {
    return this.calls.get(keyOf(callId, agentId));
  }
  /** Takes a call that has ended out of what runs. */
  end(callId: string, agentId?: string): ShownCall | undefined {
    const call = this.find(callId, agentId);
    this.calls.delete(keyOf(callId, agentId));
    return call;
  }
  agentName(agentId: string): string {
    return this.agents.get(agentId)?.name ?? 'agent';
  }
  depthOf(agentId: string | undefined): number {
    return agentId === undefined ? 0 : (this.agents.get(agentId)?.depth ?? 1);
  }

  rows(): readonly TreeRow[] {
    const rows: TreeRow[] = [];
    const shown = new Set<ShownCall>();
    const show = (call: ShownCall, depth: number) => {
      if (shown.has(call)) return;
      shown.add(call);
      rows.push({ depth, item: { kind: 'call', call } });
      below(call.callId, depth + 1, call.agentId);
    };
    const below = (callId: string, depth: number, parent?: string) => {
      for (const [agentId, starter] of this.agents) {
        if (starter.callId !== callId || starter.parent !== parent) continue;
        for (const call of this.calls.values()) if (call.agentId === agentId) show(call, depth);
      }
    };
    for (const call of this.calls.values()) if (call.agentId === undefined) show(call, 0);
    for (const task of this.tasks.values()) {
      rows.push({ depth: 0, item: { kind: 'task', task } });
      below(task.callId, 1);
    }
    for (const call of this.calls.values()) show(call, this.depthOf(call.agentId));
    return rows;
  }

  private call({ callId, tool }: { readonly callId: string; readonly tool: string }, now: number, agentId: string | undefined): ShownCall {
    const known = this.find(callId, agentId);
    if (known) return known;
    const call: ShownCall = { callId, tool, title: tool, state: 'queued', note: undefined, startedAt: now, agentId };
    this.calls.set(keyOf(callId, agentId), call);
    return call;
  }

  private meet(agentId: string, callId: string): void {
    if (this.agents.has(agentId)) return;
    const alike = [...this.calls.values()].filter((call) => call.callId === callId);
    const starter = alike.find(({ tool }) => tool === 'Agent') ?? alike[0];
    const name = starter?.title ?? [...this.tasks.values()].find((task) => task.callId === callId)?.title ?? 'agent';
    const parent = starter?.agentId;
    this.agents.set(agentId, { callId, parent, name, depth: this.depthOf(parent) + 1 });
  }
}

/** Call ids are unique within one conversation only. */
const keyOf = (callId: string, agentId: string | undefined): string => `${agentId ?? ''}/${callId}`;
