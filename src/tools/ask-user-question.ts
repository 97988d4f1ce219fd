import { z } from 'zod';
import { buildTool } from '../tool/build.js';
import { ToolFailure, throwIfAborted } from '../tool/errors.js';
import type { PersonAnswers } from '../tool/types.js';

const optionSchema = z.strictObject({
  label: z.string().min(1).describe('The choice in one to five words'),
  description: z.string().describe('What choosing it means'),
  preview: z.string().optional().describe('Text to show while the choice is looked at'),
});
const inputSchema = z.strictObject({
  questions: z
    .array(
      z.strictObject({
        question: z.string().min(1).describe('The whole question'),
        header: z.string().max(12).describe('A label of at most 12 characters'),
        options: z.array(optionSchema).min(2).max(4).describe('Two to four choices; the person can always answer in their own words'),
        multiSelect: z.boolean().default(false).describe('Whether several choices may be taken'),
      }),
    )
    .min(1)
    .max(4),
});

/**
 * The model cannot answer its own questions; whoever answers the permission question may do it with the answer: a label, several
 * joined by `, ` or listed, or words of one's own, by question text (Claude Agent SDK docs, handling approvals and user input).
 * `annotations` holds, by question text as well, what the person noted beside an answer (the SDK's types of tool inputs).
 */
const answeredSchema = inputSchema.extend({
  answers: z.record(z.string(), z.union([z.string(), z.array(z.string()).transform((labels) => labels.join(', '))])).optional(),
  response: z.string().optional(),
  annotations: z.record(z.string(), z.object({ notes: z.string().optional(), preview: z.string().optional() })).optional(),
});

export interface QuestionsAnswered {
  readonly answers: PersonAnswers;
  /** What the person said to all of it, beside or instead of an answer to each question. */
  readonly response?: string;
  /** What they noted beside an answer, by question. */
  readonly notes?: Readonly<Record<string, string>>;
}

/** Puts questions to the person and waits for the answers. No mode, rule or hook answers in their place. */
export function askUserQuestionTool() {
  return buildTool<z.infer<typeof answeredSchema>, QuestionsAnswered>({
    name: 'AskUserQuestion',
    description: 'Ask the person questions with choices',
    prompt:
      'Asks the person one to four questions with two to four choices each. Use it when the task leaves open what they want and a wrong guess would cost work. They may answer in their own words.',
    inputSchema,
    answeredInputSchema: answeredSchema,
    searchHint: 'ask question person choose clarify',
    isReadOnly: () => true,
    isDestructive: () => false,
    shouldDefer: true,
    requiresUserInteraction: () => true,
    interruptBehavior: 'cancel',
    // People take their time.
    timeoutMs: 24 * 60 * 60 * 1000,
    validateInput({ questions }) {
      const texts = new Set(questions.map(({ question }) => question));
      if (texts.size < questions.length)
        return { ok: false, message: 'Each question must have a text of its own; answers are told apart by it.' };
      const repeated = questions.find(({ options }) => new Set(options.map(({ label }) => label)).size < options.length);
      return repeated === undefined
        ? { ok: true }
        : { ok: false, message: `The choices of "${repeated.question}" must differ from each other.` };
    },
    async call({ questions, answers: given, response, annotations = {} }, context) {
      throwIfAborted(context.signal);
      const answers = given ?? (response === undefined ? await context.askPerson(questions) : {});
      throwIfAborted(context.signal);
      const open = questions.find(({ question }) => !Object.hasOwn(answers, question));
      if (open !== undefined && response === undefined) throw new ToolFailure(`The person left "${open.question}" unanswered.`);
      const notes = Object.entries(annotations).flatMap(([question, { notes: note = '' }]) =>
        note === '' ? [] : [[question, note] as const],
      );
      return {
        data: {
          answers,
          ...(response === undefined ? {} : { response }),
          ...(notes.length === 0 ? {} : { notes: Object.fromEntries(notes) }),
        },
      };
    },
    mapToolResultToToolResultBlockParam: ({ answers, response, notes = {} }) => ({
      content: [
        ...Object.entries(answers).map(([question, answer]) => `${question}\n→ ${answer}`),
        ...Object.entries(notes).map(([question, note]) => `Note on ${question}\n${note}`),
        ...(response === undefined ? [] : [response]),
      ].join('\n\n'),
    }),
    renderToolUseMessage: ({ questions }) => ({ title: 'Question', body: questions.map(({ question }) => question).join('\n') }),
    renderToolResultMessage: ({ answers }) => ({ title: 'Answers', body: Object.values(answers).join('\n') }),
  });
}
