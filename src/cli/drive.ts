import type { PermissionAnswer } from '../permissions/types.js';
import type { PermissionPrompt } from '../session/questions.js';
import type { QueryEnded } from '../session/sending.js';
import type { Session } from '../session/session.js';
import type { SessionUpdate } from '../session/updates.js';
import type { TerminalAsker } from './ask.js';
import type { ExitCode } from './failure.js';
import type { ProgressView } from './progress.js';
import type { Screen } from './screen.js';

export interface DriveOptions {
  /** Shows updates to a person; undefined under `--json`. */
  readonly view: ProgressView | undefined;
  readonly screen: Screen;
  /** Undefined where nobody sits at a terminal. */
  readonly asker: TerminalAsker | undefined;
  /** Whether the inspector page can answer what nobody at a terminal does. Otherwise permission is denied and a question left unanswered. */
  readonly canPageAnswer: boolean;
  readonly yesTo: (prompt: PermissionPrompt) => PermissionAnswer | undefined;
  /** Called when a query begins. */
  readonly onQuery: () => void;
}

export function exitCodeOf({ end }: Pick<QueryEnded, 'end'>): ExitCode {
  switch (end) {
    case 'completed':
      return 0;
    case 'modelError':
    case 'runtimeError':
      return 1;
    case 'aborted':
      return 130;
    default:
      return 3;
  }
}

/** What is driven: a session in this process, or the face of one elsewhere. */
export type Driven = Pick<Session, 'updates$' | 'openPermissions' | 'answer' | 'answerQuestion'>;

/**
 * Shows a session on the terminal, or as JSON lines on standard output, and puts its questions. Returns how to let go of it. To be called
 * as soon as there is a session: what it warns of at its beginning is not told twice.
 */
export function driveSession(session: Driven, { view, screen, asker, canPageAnswer, yesTo, onQuery }: DriveOptions): () => void {
  const open = new Map<string, AbortController>();

  const ask = (callId: string, put: (signal: AbortSignal) => Promise<void>) => {
    const controller = new AbortController();
    open.set(callId, controller);
    put(controller.signal).catch(() => {
      // Withdrawn: the call was aborted, or somebody else answered first.
    });
  };
  const close = (callId: string) => {
    open.get(callId)?.abort();
    open.delete(callId);
  };
  const decide = (prompt: PermissionPrompt) => {
    const answer = (given: PermissionAnswer) => {
      // An answer of one's own needs no withdrawal.
      open.delete(prompt.callId);
      const receipt = session.answer(prompt.callId, prompt.inputDigest, given);
      if (!receipt.accepted) screen.print(receipt.message);
    };
    const ready = yesTo(prompt);
    if (ready) answer(ready);
    else if (asker) ask(prompt.callId, async (signal) => answer(await asker.permission(prompt, signal)));
    else if (!canPageAnswer) answer(nobody(prompt));
  };
  const inquire = (prompt: Extract<SessionUpdate, { type: 'question.asked' }>['prompt']) => {
    if (!asker) {
      // No answers: the tool says to the model that nobody gave any.
      if (!canPageAnswer) session.answerQuestion(prompt.callId, {});
      return;
    }
    ask(prompt.callId, async (signal) => {
      const answers = await asker.questions(prompt, signal);
      open.delete(prompt.callId);
      session.answerQuestion(prompt.callId, answers);
    });
  };

  const take = (update: SessionUpdate) => {
    if (view) view.show(update);
    else process.stdout.write(`${JSON.stringify(update)}\n`);
    switch (update.type) {
      case 'query.started':
        return onQuery();
      case 'permission.requested':
        return decide(update.prompt);
      case 'question.asked':
        return inquire(update.prompt);
      case 'permission.resolved':
        if (open.has(update.callId)) screen.print(screen.paint('gray', `Answered elsewhere (${update.by}): ${update.behavior}.`));
        return close(update.callId);
      case 'permission.withdrawn':
      case 'question.answered':
        return close(update.callId);
      default:
    }
  };
  const subscription = session.updates$.subscribe(take);
  // Questions that were open before anyone listened: those of a resumed session.
  for (const prompt of session.openPermissions) decide(prompt);
  return () => {
    subscription.unsubscribe();
    for (const callId of [...open.keys()]) close(callId);
    view?.close();
  };
}

const nobody = (prompt: PermissionPrompt): PermissionAnswer => ({
  behavior: 'deny',
  message: `Nobody is at a terminal to allow this. ${prompt.cause.reason}`,
  source: { type: 'nobody' },
});
