import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';
import type { PermissionAnswer } from '../permissions/types.js';
import type { AnswerReceipt, PermissionPrompt, PersonPrompt } from '../session/questions.js';
import type { SessionUpdate } from '../session/updates.js';
import type { PersonAnswers } from '../tool/types.js';
import type { ApprovalDesk, Settlement } from './approvalDesk.js';
import type { FlowSink } from './flowSink.js';
import type { Inspectable, InspectableSession } from './inspectable.js';
import type { AskedQuestion, RpcError } from './protocol/rpc.js';

/** A session as something to inspect: its updates feed the flow, its open questions lie on the desk. */
export function sessionFeed(session: InspectableSession): Inspectable {
  return {
    actor: session.actor,
    name: `session ${session.id}`,
    ...(session.gate ? { gate: session.gate } : {}),
    attachInspection: ({ sink, desk }) => {
      const feed = new SessionFeed(session, sink, desk);
      for (const prompt of session.openPermissions) feed.ask(prompt);
      for (const prompt of session.openQuestions) feed.inquire(prompt);
      const subscription = session.updates$.subscribe((update) => feed.take(update));
      return () => subscription.unsubscribe();
    },
  };
}

class SessionFeed {
  readonly #settle = new Map<string, (by: string, behavior: Settlement['behavior']) => void>();
  readonly #inputs = new Map<string, JsonObject>();
  #model = '';
  #request: string | undefined;

  constructor(
    readonly session: InspectableSession,
    readonly sink: FlowSink,
    readonly desk: ApprovalDesk,
  ) {}

  take(update: SessionUpdate): void {
    switch (update.type) {
      case 'session.started':
        this.#model = update.model;
        break;
      case 'turn.started':
        this.#request = `model:${update.queryId}:${update.turn}`;
        this.sink.modelRequest({ requestId: this.#request, model: this.#model, body: { queryId: update.queryId, turn: update.turn } });
        break;
      case 'model.ended':
        this.#modelEnded(update);
        break;
      case 'call.input':
        this.#inputs.set(update.callId, update.input);
        break;
      case 'call.decision': {
        const input = this.#inputs.get(update.callId);
        const { callId: toolUseId, tool: toolName, decision } = update;
        this.sink.decision({ toolUseId, toolName, mode: this.session.mode, decision, ...(input === undefined ? {} : { input }) });
        break;
      }
      case 'call.progress':
        this.sink.progress(update.callId, update.progress);
        break;
      case 'call.result':
        this.#inputs.delete(update.callId);
        this.sink.result({ toolUseId: update.callId, toolName: update.tool, outcome: update.outcome, body: update.result.content ?? '' });
        break;
      case 'call.late':
        this.sink.note(
          'warning',
          `${update.tool} (${update.callId}) ${update.outcome} ${update.afterMs} ms after its call was settled without it.`,
        );
        break;
      case 'hook.run':
        this.sink.hookRun(update.run, update.callId);
        break;
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
        this.#settled(update.callId, 'the person', 'allow');
        break;
      case 'model.retry':
        this.sink.note('warning', `The model is asked again in ${update.delayMs} ms (attempt ${update.attempt}): ${update.error.message}`);
        break;
      case 'message.discarded':
        this.sink.note('warning', `An answer was discarded: ${update.reason}`);
        break;
      case 'notice':
        this.sink.note(update.level === 'info' ? 'info' : 'warning', update.message);
        break;
      default:
    }
  }

  ask(prompt: PermissionPrompt): void {
    const { callId, toolName, inputDigest, input, cause, suggestions, title } = prompt;
    if (this.#settle.has(callId)) return;
    const questions = toolName === 'AskUserQuestion' ? questionsIn(input) : undefined;
    const question = { id: `ask:${callId}`, toolUseId: callId, toolName, title, input, inputDigest, askedBy: cause, suggestions };
    this.#settle.set(
      callId,
      this.desk.open({ ...question, ...(questions ? { questions } : {}) }, (answer) =>
        refusal(this.session.answer(callId, inputDigest, answer)),
      ),
    );
  }

  /** What a tool that may run asks the person. A terminal that allowed the call puts the same questions; the first answer counts. */
  inquire({ callId, questions }: PersonPrompt): void {
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

  #modelEnded({ stopReason, usage, incomplete }: Extract<SessionUpdate, { type: 'model.ended' }>): void {
    if (this.#request === undefined) return;
    this.sink.modelEnd({
      requestId: this.#request,
      model: this.#model,
      ...(stopReason === null ? {} : { stopReason }),
      ...(usage === null ? {} : { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens }),
      ...(incomplete ? { error: 'the stream broke; complete blocks were kept' } : {}),
    });
    this.#request = undefined;
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
