import type { Observable } from 'rxjs';
import type { Actor } from 'xstate';
import type { SessionMachine } from '../../machines/session.js';
import type { PermissionMode } from '../permissions/types.js';
import type { SessionUpdate } from './updates.js';

/** The session of a subagent, for whoever watches. Its questions come up in the session it works for. */
export interface AgentSession {
  /** Id of the agent. */
  readonly id: string;
  /** Name of its definition. */
  readonly type: string;
  /** The call of the Agent tool that started it. */
  readonly callId: string;
  /** The root of everything that runs for it; an actor system of its own. */
  readonly actor: Actor<SessionMachine>;
  /** What it tells, with call ids of its own conversation. */
  readonly updates$: Observable<SessionUpdate>;
  /** The mode it works in: that of the session it works for. */
  readonly mode: PermissionMode;
  /** As `Session.onAgent`, for the agents that it starts itself. */
  onAgent(listener: (agent: AgentSession) => void): () => void;
}

/** The subagents of one session that are at work, and who wants to hear of the next. */
export class AgentSessions {
  private readonly running = new Set<AgentSession>();
  private readonly listeners = new Set<(agent: AgentSession) => void>();

  /** Before the agent's actor is started, so that a watcher misses nothing. Returns how to say that it has ended. */
  begin(agent: AgentSession): () => void {
    this.running.add(agent);
    for (const listener of this.listeners) {
      try {
        listener(agent);
      } catch {
        // Whoever watches must not keep an agent from its work.
      }
    }
    return () => {
      this.running.delete(agent);
    };
  }

  listen(listener: (agent: AgentSession) => void): () => void {
    for (const agent of this.running) listener(agent);
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }
}
