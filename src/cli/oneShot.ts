import type { QueryEnded } from '../session/sending.js';
import type { Session } from '../session/session.js';
import { exitCodeOf } from './drive.js';
import type { ExitCode } from './failure.js';

/** Agents in the background are part of the work: their results are waited for, this long (Claude Code docs, headless mode). */
const AGENT_PATIENCE_MS = 10 * 60_000;

/** The last words of a prompt's work, and how the process ends. */
export interface Answer {
  readonly text: string;
  readonly code: ExitCode;
}

/**
 * Sends a prompt and waits for the answer; while subagents work in the background, for what the model makes of their results. Other
 * background tasks end with the session.
 */
export async function answerOnce(session: Session, prompt: string, leaving: Promise<ExitCode>): Promise<Answer> {
  let last: QueryEnded | undefined;
  const subscription = session.updates$.subscribe((update) => {
    if (update.type === 'query.ended') last = update;
  });
  const left = leaving.then((code) => ({ text: '', code }));
  try {
    const work = async (): Promise<Answer> => {
      const ended = await session.send(prompt).done;
      if (ended.end === 'completed') await agentsAndTheirResults(session);
      const final = last ?? ended;
      return { text: final.text, code: exitCodeOf(final) };
    };
    return await Promise.race([work(), left]);
  } finally {
    subscription.unsubscribe();
  }
}

/** Resolves when no agent runs any more and what they said has been answered. */
function agentsAndTheirResults(session: Session): Promise<void> {
  return new Promise((resolve) => {
    const isDone = () =>
      session.actor.getSnapshot().matches({ conversation: 'idle' }) &&
      !session.tasks.some(({ kind, status }) => kind === 'agent' && status === 'running');
    const finish = () => {
      clearTimeout(patience);
      updates.unsubscribe();
      states.unsubscribe();
      resolve();
    };
    // An end is told by a query of its own, which begins once the session has taken note of it.
    const check = () => queueMicrotask(() => isDone() && finish());
    const patience = setTimeout(finish, AGENT_PATIENCE_MS);
    const updates = session.updates$.subscribe((update) => {
      if (update.type === 'task.ended' || update.type === 'query.ended' || update.type === 'session.ended') check();
    });
    const states = session.actor.subscribe(check);
    check();
  });
}
