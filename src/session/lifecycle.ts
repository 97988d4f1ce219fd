import type { SessionHookRunner } from '../hooks/runner-types.js';
import type { McpServers } from '../mcp/servers.js';
import type { Transcript } from '../messages/transcript.js';
import type { SessionSource } from './assemble.js';
import type { Services, SessionLifecycle } from './services.js';

interface LifecycleParts {
  readonly services: () => Services;
  readonly hooks: SessionHookRunner;
  readonly transcript: Transcript;
  readonly source: SessionSource;
  readonly warnings: () => readonly string[];
  readonly servers: Pick<McpServers, 'status' | 'close'>;
  /** Waits for the servers as long as the session allows, and brings what they had to say; undefined when there are none. */
  readonly startServers: () => Promise<readonly string[]> | undefined;
  /** Lets go of what outlives the session. */
  readonly release: () => void;
}

/** What happens before a session's first prompt and after its last. A subagent's start and end are events of their own. */
export function createLifecycle({
  services,
  hooks,
  transcript,
  source,
  warnings,
  servers,
  startServers,
  release,
}: LifecycleParts): SessionLifecycle {
  let isClosing = false;
  return {
    start: async () => {
      const starting = startServers();
      const notices = starting ? await starting : [];
      if (isClosing) return;
      const session = services();
      const { agent, model } = session;
      session.update({
        type: 'session.started',
        sessionId: session.sessionId,
        model: model.id,
        cwd: session.cwd,
        mode: session.permissions.mode,
        tools: session.shownTools().map((tool) => tool.name),
        transcript: transcript.path ?? null,
        servers: servers.status(),
      });
      for (const message of [...warnings(), ...notices]) session.update({ type: 'notice', level: 'warning', message });
      const event = agent ? 'SubagentStart' : 'SessionStart';
      const subject = agent?.type ?? source;
      if (!hooks.isConfigured(event, subject)) return;
      const payload = agent ? { agent_id: agent.id, agent_type: agent.type } : { source, model: model.id };
      const request = { id: `hook:${event}${agent ? `:${agent.id}` : ''}`, event, subject, payload } as const;
      const { additionalContext } = await session.runHooks(request, new AbortController().signal);
      session.promptContext = [...session.promptContext, ...additionalContext];
    },
    close: async () => {
      isClosing = true;
      const session = services();
      const left = await session.tasks.close(session.limits.graceMs, session.clock);
      for (const { id, title } of left) {
        session.update({
          type: 'notice',
          level: 'warning',
          message: `Background task ${id} (${title}) has not ended within ${session.limits.graceMs} ms; it may still be running.`,
        });
      }
      if (!session.agent && hooks.isConfigured('SessionEnd')) {
        const request = { id: 'hook:SessionEnd', event: 'SessionEnd', subject: 'other', payload: { reason: 'other' } } as const;
        await session.runHooks(request, new AbortController().signal);
      }
      await hooks.close();
      await servers.close();
      await session.results.flush();
      await transcript.flush();
      release();
      transcript.close();
      session.update({ type: 'session.ended', sessionId: session.sessionId });
    },
  };
}
