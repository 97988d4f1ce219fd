import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SessionHookRunner } from '../hooks/runner-types.js';
import { makeDirectorySync } from '../makeDirectory.js';
import type { McpServers } from '../mcp/servers.js';
import type { Transcript } from '../messages/transcript.js';
import { messageOf } from '../tool/errors.js';
import type { SessionSource } from './assemble.js';
import { closeObservers } from './observers.js';
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
  const leaving = new AbortController();
  /** The start, as far as it has hooks that a session which ends at once must not leave behind. */
  let starting: Promise<unknown> = Promise.resolve();
  let closing: Promise<void> | undefined;
  /** Each thing is let go of whether or not the one before it would. */
  const close = async (): Promise<void> => {
    leaving.abort('sessionClosed');
    const session = services();
    const step = async (what: string, act: () => Promise<void> | void): Promise<void> => {
      try {
        await act();
      } catch (error) {
        session.update({ type: 'notice', level: 'error', message: `Closing ${what} failed: ${messageOf(error)}` });
      }
    };
    await step('hooks that were starting it', () => starting.then(noop, noop));
    await step('background tasks', async () => {
      const left = await session.tasks.close(session.limits.graceMs, session.clock);
      for (const { id, title } of left) {
        session.update({
          type: 'notice',
          level: 'warning',
          message: `Background task ${id} (${title}) has not ended within ${session.limits.graceMs} ms; it may still be running.`,
        });
      }
    });
    await step('with SessionEnd hooks', async () => {
      if (session.agent || !hooks.isConfigured('SessionEnd')) return;
      const request = { id: 'hook:SessionEnd', event: 'SessionEnd', subject: 'other', payload: { reason: 'other' } } as const;
      await session.runHooks(request, new AbortController().signal);
    });
    await step('hooks', () => closeObservers(session));
    await step('hooks', () => hooks.close());
    await step('MCP servers', () => servers.close());
    await step('the result files', () => session.results.flush());
    await step('the transcript', () => transcript.flush());
    release();
    await step('the transcript', () => transcript.close());
    session.update({ type: 'session.ended', sessionId: session.sessionId });
  };
  return {
    start: async () => {
      const connecting = startServers();
      const notices = connecting ? await connecting : [];
      if (leaving.signal.aborted) return;
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
      if (event === 'SessionStart') emptyEnvFile(session);
      const request = { id: `hook:${event}${agent ? `:${agent.id}` : ''}`, event, subject, payload } as const;
      const running = session.runHooks(request, leaving.signal);
      starting = running;
      const { additionalContext, initialUserMessage, sessionTitle } = await running;
      session.promptContext = [...session.promptContext, ...additionalContext];
      const idle = [
        ...(initialUserMessage === undefined ? [] : ['initialUserMessage']),
        ...(sessionTitle === undefined ? [] : ['sessionTitle']),
      ];
      if (idle.length > 0)
        session.update({
          type: 'notice',
          level: 'warning',
          message: `${event} hook: ${idle.join(' and ')} has no effect here: a session begins with what it is sent, and has no title.`,
        });
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

const noop = (): void => {};

/** Makes room for what the hooks want shell commands to know. What those of an earlier process left is written anew by these. */
function emptyEnvFile({ envFile: file, update }: Services): void {
  try {
    makeDirectorySync(dirname(file), 0o700);
    rmSync(file, { force: true });
  } catch (error) {
    update({ type: 'notice', level: 'warning', message: `SessionStart hooks can leave no variables in ${file}: ${messageOf(error)}` });
  }
}
