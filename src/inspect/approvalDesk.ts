import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { PermissionAnswer, PermissionUpdate, TraceEntry } from '../permissions/types.js';
import type { FlowLog } from './flowLog.js';
import type { ApprovalAnswer, AskedQuestion, PendingApproval, QuestionChoice, RpcError } from './protocol/rpc.js';

/** A question as the session has it: the input unmasked, since the answer speaks of exactly that. */
export interface OpenQuestion {
  /** Names the question: `ask:<tool_use_id>`. */
  readonly id: string;
  /** The call that is asked about. */
  readonly toolUseId: string;
  /** Its tool. */
  readonly toolName: string;
  /** The subagent that asks; absent for the main session. */
  readonly agent?: string;
  /** What the call is called, or what it is for. */
  readonly title: string;
  /** The exact input that would be run. */
  readonly input: JsonValue;
  /** Digest of that input, which an answer must carry. */
  readonly inputDigest: string;
  /** The check that demanded the question. */
  readonly askedBy?: TraceEntry;
  /** What to offer as "always allow". */
  readonly suggestions?: readonly PermissionUpdate[];
  /** What the call asks the person. Its answer is the input with `answers` by question text. */
  readonly questions?: readonly AskedQuestion[];
  /** Milliseconds until the question lapses; absent when it never does. */
  readonly timeoutMs?: number;
}
/** How a question was settled. */
export interface Settlement {
  /** The question's id. */
  readonly id: string;
  /** Where it was answered: `inspector`, `terminal`, a hook's name. */
  readonly by: string;
  /** What was answered; `withdrawn` when the call was aborted. */
  readonly behavior: 'allow' | 'deny' | 'withdrawn';
}

/** Takes an answer to where it belongs. Returns why not, when it was refused there. */
export type AnswerTaker = (answer: PermissionAnswer) => RpcError | undefined;

interface Entry {
  readonly question: OpenQuestion;
  readonly shown: PendingApproval;
  readonly onAnswer: AnswerTaker;
}
/** Settled ids remembered, to tell a late click who was first. */
const REMEMBERED = 200;

/**
 * Questions that wait for a person, as the inspector shows them. The session opens each question here beside its own surface
 * (terminal, SDK callback); the first answer wins, wherever it is given, and the other surfaces are told.
 */
export class ApprovalDesk {
  readonly #open = new Map<string, Entry>();
  readonly #settled = new Map<string, Settlement>();
  readonly #changes = new Set<() => void>();
  readonly #settlements = new Set<(settlement: Settlement) => void>();

  constructor(
    /** The flow that questions and answers are told to. */
    readonly log: FlowLog,
  ) {}

  /** Questions that are open, as a page shows them. */
  get pending(): readonly PendingApproval[] {
    return [...this.#open.values()].map(({ shown }) => shown);
  }

  /** Shows a question. `onAnswer` is called when the inspector answers, no more once it has accepted. Returns how to settle it from elsewhere. */
  open(question: OpenQuestion, onAnswer: AnswerTaker): (by: string, behavior: Settlement['behavior']) => void {
    this.log.guard(() => {
      this.#open.set(question.id, { question, shown: this.#show(question), onAnswer });
      this.log.put({ type: 'approval', toolUseId: question.toolUseId, toolName: question.toolName, phase: 'asked' });
      this.#changed();
    });
    return (by, behavior) => this.log.guard(() => this.#settle(question.id, by, behavior));
  }

  /** Takes an answer given on a page. Undefined when it was accepted, else why not. */
  answer(answer: ApprovalAnswer, by = 'inspector'): RpcError | undefined {
    const entry = this.#open.get(answer.id);
    if (!entry) {
      const earlier = this.#settled.get(answer.id);
      if (!earlier) return { code: 'notFound', message: 'No such question waits.' };
      return { code: 'alreadyAnswered', message: `Already answered: ${earlier.behavior} by ${earlier.by}.` };
    }
    if (answer.inputDigest !== entry.question.inputDigest) {
      return { code: 'stale', message: 'The input has changed since it was shown. Look at the question again.' };
    }
    if (answer.updatedInput !== undefined && !entry.shown.editable) {
      return {
        code: 'refused',
        message: 'This input holds masked secrets, so it cannot be edited here: the mask would be sent. Edit it in the terminal.',
      };
    }
    const updatedInput = answer.behavior === 'allow' && entry.question.questions ? answered(entry.question, answer) : answer.updatedInput;
    if (typeof updatedInput === 'string') return { code: 'invalidArguments', message: updatedInput };
    const refused = entry.onAnswer(permissionAnswer(answer, updatedInput, entry.question.suggestions ?? [], by));
    if (!refused) this.#settle(answer.id, by, answer.behavior);
    return refused;
  }

  /** Hears when the list of open questions has changed. Returns how to stop listening. */
  onChange(listener: () => void): () => void {
    this.#changes.add(listener);
    return () => this.#changes.delete(listener);
  }
  /** Hears each answer and withdrawal. Returns how to stop listening. */
  onSettled(listener: (settlement: Settlement) => void): () => void {
    this.#settlements.add(listener);
    return () => this.#settlements.delete(listener);
  }

  #show(question: OpenQuestion): PendingApproval {
    const input: JsonValue = this.log.plain(question.input);
    const { id, toolUseId, toolName, agent, inputDigest, askedBy, questions } = question;
    return {
      id,
      toolUseId,
      toolName,
      ...(agent === undefined ? {} : { agent: this.log.text(agent) }),
      title: this.log.text(question.title),
      input,
      inputDigest,
      ...(askedBy ? { askedBy: this.log.plain(askedBy) } : {}),
      suggestions: this.log.plain(question.suggestions ?? []),
      askedAt: this.log.elapsed,
      ...(question.timeoutMs === undefined ? {} : { deadline: this.log.elapsed + question.timeoutMs }),
      ...(questions ? { questions: this.log.plain(questions) } : {}),
      editable: JSON.stringify(input) === JSON.stringify(question.input),
    };
  }

  #settle(id: string, by: string, behavior: Settlement['behavior']): void {
    const entry = this.#open.get(id);
    if (!entry) return;
    this.#open.delete(id);
    const settlement = { id, by, behavior };
    this.#settled.set(id, settlement);
    for (const [oldest] of this.#settled) {
      if (this.#settled.size <= REMEMBERED) break;
      this.#settled.delete(oldest);
    }
    const { toolUseId, toolName } = entry.question;
    if (behavior === 'withdrawn') this.log.put({ type: 'approval', toolUseId, toolName, phase: 'withdrawn', by });
    else this.log.put({ type: 'approval', toolUseId, toolName, phase: 'answered', by, behavior });
    for (const listener of this.#settlements) this.log.guard(() => listener(settlement));
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#changes) this.log.guard(listener);
  }
}

/** The input with the answers in it, by the questions and choices as they are, not as a page shows them; in words where one is missing. */
function answered({ input, questions = [] }: OpenQuestion, { answers = [] }: ApprovalAnswer): JsonObject | string {
  const texts: Record<string, string> = {};
  for (const [index, { question, options }] of questions.entries()) {
    const text = textOf(answers[index] ?? { options: [], other: '' }, options);
    if (text === '') return 'Every question needs an answer: a choice, or words of your own.';
    texts[question] = text;
  }
  return { ...(isJsonObject(input) ? input : {}), answers: texts };
}

const textOf = (choice: QuestionChoice, options: AskedQuestion['options']): string =>
  [...choice.options.flatMap((at) => options[at]?.label ?? []), choice.other.trim()].filter((text) => text !== '').join(', ');

function permissionAnswer(
  answer: ApprovalAnswer,
  updatedInput: JsonObject | undefined,
  suggestions: readonly PermissionUpdate[],
  by: string,
): PermissionAnswer {
  const source = { type: 'person', surface: by } as const;
  if (answer.behavior === 'deny') {
    const message = answer.message?.trim() || 'The user refused this call in the inspector.';
    return { behavior: 'deny', message, source, ...(answer.interrupt === undefined ? {} : { interrupt: answer.interrupt }) };
  }
  const remembered = (answer.remember ?? []).flatMap((index) => suggestions[index] ?? []);
  return {
    behavior: 'allow',
    source,
    ...(updatedInput === undefined ? {} : { updatedInput }),
    ...(remembered.length === 0 ? {} : { updatedPermissions: remembered }),
  };
}
