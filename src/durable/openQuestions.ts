import type { AnswerReceipt, PermissionPrompt, PersonPrompt } from '../session/questions.js';
import type { SessionUpdate } from '../session/updates.js';

/** What a session on another machine asks right now, as far as its updates have been heard. */
export class OpenQuestions {
  private readonly asked = new Map<string, PermissionPrompt>();
  private readonly put = new Map<string, PersonPrompt>();
  private readonly answered = new Set<string>();

  permissions(): readonly PermissionPrompt[] {
    return [...this.asked.values()];
  }
  questions(): readonly PersonPrompt[] {
    return [...this.put.values()];
  }

  hear(update: SessionUpdate): void {
    switch (update.type) {
      case 'permission.requested':
        this.asked.set(update.prompt.callId, update.prompt);
        this.answered.delete(update.prompt.callId);
        return;
      case 'question.asked':
        this.put.set(update.prompt.callId, update.prompt);
        return;
      case 'permission.resolved':
      case 'permission.withdrawn':
      case 'question.answered':
        this.asked.delete(update.callId);
        this.put.delete(update.callId);
    }
  }

  /** Whether an answer may be sent. The session itself has the last word. */
  answer(callId: string, inputDigest: string): AnswerReceipt {
    const prompt = this.asked.get(callId);
    if (this.answered.has(callId))
      return { accepted: false, reason: 'alreadyAnswered', message: `The question about call ${callId} has been answered already.` };
    if (!prompt) return notOpen(callId);
    if (prompt.inputDigest !== inputDigest)
      return {
        accepted: false,
        reason: 'otherInput',
        message: `The input of call ${callId} is not the one that was answered; look at it again.`,
      };
    this.answered.add(callId);
    return { accepted: true };
  }

  answerQuestion(callId: string): AnswerReceipt {
    return this.put.delete(callId) ? { accepted: true } : notOpen(callId);
  }
}

const notOpen = (callId: string): AnswerReceipt => ({
  accepted: false,
  reason: 'notOpen',
  message: `No question about call ${callId} is open (any more).`,
});
