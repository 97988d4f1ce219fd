import type { AddressedAnswer, PermissionQuestion } from '../../machines/permission.js';
import type { JsonObject } from '../json.js';
import type { PermissionAnswer } from '../permissions/types.js';
import type { PersonAnswers, PersonQuestion } from '../tool/types.js';

/** A permission question as a person sees it. An answer must name the call and the digest of exactly this input. */
export interface PermissionPrompt extends PermissionQuestion {
  /** The exact input that would be run. */
  readonly input: JsonObject;
  /** Title of the tool's `renderToolUseMessage`: what it is called or what the call is for. Show the input beside it. */
  readonly title: string;
  /** Set for a subagent's question that surfaces in its parent. */
  readonly agent?: string;
}
/** A tool's questions to a person (AskUserQuestion). */
export interface PersonPrompt {
  /** The `tool_use` id of the asking call. */
  readonly callId: string;
  /** What is asked, in the order to show it. */
  readonly questions: readonly PersonQuestion[];
  /** Set for a subagent's question that surfaces in its parent. */
  readonly agent?: string;
}

/** What became of an answer. A refused one changes nothing: the question, if it is still open, stays open. */
export type AnswerReceipt =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly reason: 'notOpen' | 'otherInput' | 'alreadyAnswered'; readonly message: string };

interface Open<Prompt, Answer> {
  readonly prompt: Prompt;
  readonly settle: (answer: Answer) => void;
}

/**
 * The session's prompt queue. Questions are keyed by call id and bound to the digest of the input shown; the first answer wins,
 * and an answer to a call that is no longer asked about, or to an input that has changed, is refused.
 */
export class QuestionQueue {
  private readonly permissions = new Map<string, Open<PermissionPrompt, AddressedAnswer>>();
  private readonly questions = new Map<string, Open<PersonPrompt, PersonAnswers>>();
  private readonly answered = new Set<string>();

  constructor(private readonly listener: QuestionListener) {}

  openPermissions(): readonly PermissionPrompt[] {
    return [...this.permissions.values()].map((open) => open.prompt);
  }
  openQuestions(): readonly PersonPrompt[] {
    return [...this.questions.values()].map((open) => open.prompt);
  }

  /** Waits for an answer as long as it takes; rejects when the signal fires (the call was aborted). */
  askPermission(prompt: PermissionPrompt, signal: AbortSignal): Promise<AddressedAnswer> {
    this.answered.delete(prompt.callId);
    return this.wait(this.permissions, prompt, signal, () => this.listener.permissionOpened(prompt));
  }
  askPerson(prompt: PersonPrompt, signal: AbortSignal): Promise<PersonAnswers> {
    return this.wait(this.questions, prompt, signal, () => this.listener.questionOpened(prompt));
  }

  answerPermission(callId: string, inputDigest: string, answer: PermissionAnswer): AnswerReceipt {
    const open = this.permissions.get(callId);
    if (!open) {
      return this.answered.has(callId)
        ? { accepted: false, reason: 'alreadyAnswered', message: `The question about call ${callId} has been answered already.` }
        : { accepted: false, reason: 'notOpen', message: `No question about call ${callId} is open (any more).` };
    }
    if (open.prompt.inputDigest !== inputDigest) {
      return {
        accepted: false,
        reason: 'otherInput',
        message: `The input of call ${callId} is not the one that was answered; look at it again.`,
      };
    }
    this.permissions.delete(callId);
    this.answered.add(callId);
    // The call goes on with the answer even where a listener cannot take note of it.
    open.settle({ callId, inputDigest, answer });
    this.listener.permissionClosed(callId, answer);
    return { accepted: true };
  }

  answerQuestion(callId: string, answers: PersonAnswers): AnswerReceipt {
    const open = this.questions.get(callId);
    if (!open) return { accepted: false, reason: 'notOpen', message: `No question of call ${callId} is open (any more).` };
    this.questions.delete(callId);
    open.settle(answers);
    this.listener.questionClosed(callId);
    return { accepted: true };
  }

  private wait<Prompt extends { readonly callId: string }, Answer>(
    queue: Map<string, Open<Prompt, Answer>>,
    prompt: Prompt,
    signal: AbortSignal,
    announce: () => void,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        if (queue.get(prompt.callId)?.prompt !== prompt) return;
        queue.delete(prompt.callId);
        this.listener.withdrawn(prompt.callId);
        reject(new Error('The question was withdrawn because the call was aborted.'));
      };
      if (signal.aborted) {
        reject(new Error('The question was withdrawn because the call was aborted.'));
        return;
      }
      signal.addEventListener('abort', withdraw, { once: true });
      queue.set(prompt.callId, {
        prompt,
        settle: (answer) => {
          signal.removeEventListener('abort', withdraw);
          resolve(answer);
        },
      });
      announce();
    });
  }
}

export interface QuestionListener {
  permissionOpened(prompt: PermissionPrompt): void;
  permissionClosed(callId: string, answer: PermissionAnswer): void;
  questionOpened(prompt: PersonPrompt): void;
  questionClosed(callId: string): void;
  withdrawn(callId: string): void;
}
