import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';
import type { PermissionAnswer } from '../permissions/types.js';
import type { AnswerReceipt, PermissionPrompt, PersonPrompt } from '../session/questions.js';
import type { SessionUpdate } from '../session/updates.js';
import type { PersonAnswers } from '../tool/types.js';
import type { ApprovalDesk, Settlement } from './approvalDesk.js';
import type { InspectableSession } from './inspectable.js';
import type { AskedQuestion, RpcError } from './protocol/rpc.js';

/** Lays the open questions of a session, and of its subagents, on the desk, and takes the answers back. */
export class QuestionFeed {
  readonly #settle = new Map<string, (by: string, behavior: Settlement['behavior']) => void>();

  constructor(
    readonly session: Pick<InspectableSession, 'answer' | 'answerQuestion'>,
    readonly desk: ApprovalDesk,
  ) {}

  take(update: SessionUpdate): void {
    switch (update.type) {
      case 'permission.requested':
        this.ask(update.prompt);
        break;
      case 'permission.resolved':
        this.#settled(update.callId, update.by, update.behavior);
        break;
      case 'permission.withdrawn':
        this.#settled(update.callId, 'abort', 'withdrawn');
        break;
      case 'question.asked':
        this.inquire(update.prompt);
        break;
      case 'question.answered':
        this.#settled(update.callId, 'an answer elsewhere', 'allow');
        break;
      default:
    }
  }

  ask(prompt: PermissionPrompt): void {
    const { callId, toolName, inputDigest, input, cause, suggestions, title, agent } = prompt;
    if (this.#settle.has(callId)) return;
    const questions = toolName === 'AskUserQuestion' ? questionsIn(input) : undefined;
    const question = { id: `ask:${callId}`, toolUseId: callId, toolName, title, input, inputDigest, askedBy: cause, suggestions };
    this.#settle.set(
      callId,
      this.desk.open({ ...question, ...(questions ? { questions } : {}), ...(agent === undefined ? {} : { agent }) }, (answer) =>
        refusal(this.session.answer(callId, inputDigest, answer)),
      ),
    );
  }

  /** What a tool that may run asks the person. A terminal that allowed the call puts the same questions; the first answer counts. */
  inquire({ callId, questions, agent }: PersonPrompt): void {
    if (this.#settle.has(callId)) return;
    const title = questions.map(({ question }) => question).join(' ');
    const input = { questions: questions.map((one) => ({ ...one, options: one.options.map((option) => ({ ...option })) })) };
    const question = {
      id: `question:${callId}`,
      toolUseId: callId,
      toolName: 'AskUserQuestion',
      title,
      input,
      inputDigest: callId,
      questions,
      ...(agent === undefined ? {} : { agent }),
    };
    this.#settle.set(
      callId,
      this.desk.open(question, (answer) => refusal(this.session.answerQuestion(callId, answersIn(answer)))),
    );
  }

  #settled(callId: string, by: string, behavior: Settlement['behavior']): void {
    this.#settle.get(callId)?.(by, behavior);
    this.#settle.delete(callId);
  }
}

const questionsSchema = z.object({
  questions: z.array(
    z.object({
      question: z.string(),
      header: z.string(),
      options: z.array(z.object({ label: z.string(), description: z.string() })),
      multiSelect: z.boolean().default(false),
    }),
  ),
});
/** The questions of an AskUserQuestion call, to be answered together with its permission. */
const questionsIn = (input: JsonObject): readonly AskedQuestion[] | undefined => questionsSchema.safeParse(input).data?.questions;

/** No answers where the person refused: the tool then says that she left the questions unanswered. */
function answersIn(answer: PermissionAnswer): PersonAnswers {
  const answers = answer.behavior === 'allow' ? answer.updatedInput?.answers : undefined;
  if (!isJsonObject(answers)) return {};
  return Object.fromEntries(Object.entries(answers).flatMap(([question, text]) => (typeof text === 'string' ? [[question, text]] : [])));
}

function refusal(receipt: AnswerReceipt): RpcError | undefined {
  if (receipt.accepted) return undefined;
  const codes = { notOpen: 'notFound', otherInput: 'stale', alreadyAnswered: 'alreadyAnswered' } as const;
  return { code: codes[receipt.reason], message: receipt.message };
}
