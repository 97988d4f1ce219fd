import type { PermissionAnswer } from '../permissions/types.js';
import type { PermissionPrompt } from '../session/questions.js';
import type { QueryEnded } from '../session/sending.js';
import type { Session } from '../session/session.js';
import type { SessionUpdate } from '../session/updates.js';
import type { TerminalAsker } from './ask.js';
import { createProgressView } from './progress.js';

export interface DriveOptions {
  readonly json: boolean;
  /** Undefined where nobody sits at a terminal. */
  readonly asker: TerminalAsker | undefined;
  readonly yesTo: (prompt: PermissionPrompt) => PermissionAnswer | undefined;
}

/** How the process ends: 0 answered, 1 failed, 3 ended by a limit, a hook or a refusal, 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

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

/** Shows a session on the terminal (or as JSON lines), puts its questions, and turns Ctrl-C into an interrupt, then into leaving. */
export function attachTerminal(session: Session, { json, asker, yesTo }: DriveOptions): { detach(): void; leaving: Promise<void> } {
  const view = json ? undefined : createProgressView(process.stderr);
  const questions = new Map<string, AbortController>();
  let interrupts = 0;
  let leave: () => void = () => {};
  const leaving = new Promise<void>((resolve) => {
    leave = resolve;
  });

  const ask = (callId: string, put: (signal: AbortSignal) => Promise<void>) => {
    const controller = new AbortController();
    questions.set(callId, controller);
    view?.pause();
    put(controller.signal).catch(() => {
      // Withdrawn: the call was aborted, or somebody else answered first.
    });
  };
  const close = (callId: string) => {
    questions.get(callId)?.abort();
    questions.delete(callId);
  };
  const subscription = session.updates$.subscribe((update: SessionUpdate) => {
    if (json) process.stdout.write(`${JSON.stringify(update)}\n`);
    view?.show(update);
    if (update.type === 'permission.requested') {
      const { prompt } = update;
      const ready = yesTo(prompt);
      if (ready) session.answer(prompt.callId, prompt.inputDigest, ready);
      else if (asker)
        ask(
          prompt.callId,
          async (signal) => void session.answer(prompt.callId, prompt.inputDigest, await asker.permission(prompt, signal)),
        );
      else session.answer(prompt.callId, prompt.inputDigest, nobody(prompt));
    }
    if (update.type === 'question.asked') {
      const { prompt } = update;
      if (asker) ask(prompt.callId, async (signal) => void session.answerQuestion(prompt.callId, await asker.questions(prompt, signal)));
    }
    if (update.type === 'permission.resolved' || update.type === 'permission.withdrawn' || update.type === 'question.answered')
      close(update.callId);
    if (update.type === 'query.started') interrupts = 0;
  });
  const onInterrupt = () => {
    interrupts++;
    if (interrupts === 1) {
      process.stderr.write('\nInterrupting … (Ctrl-C again leaves)\n');
      void session.interrupt();
    } else leave();
  };
  process.on('SIGINT', onInterrupt);
  return {
    leaving,
    detach: () => {
      process.off('SIGINT', onInterrupt);
      subscription.unsubscribe();
      view?.close();
    },
  };
}

const nobody = (prompt: PermissionPrompt): PermissionAnswer => ({
  behavior: 'deny',
  message: `Nobody is at a terminal to allow this. ${prompt.cause.reason}`,
  source: { type: 'nobody' },
});
