import { z } from 'zod';
import type { TaskEnd } from '../../machines/backgroundTask.js';
import { messageOf } from '../tool/errors.js';

/** Tools are other people's code: what they call an end is read as far as it is one. */
const taskEnd = z.object({
  status: z.enum(['completed', 'failed', 'killed']),
  exitCode: z
    .number()
    .nullish()
    .transform((code) => code ?? null),
  summary: z.string().default(''),
});

const reasonOf = (error: z.ZodError): string =>
  error.issues.map(({ path, message }) => `${path.join('.') || 'value'}: ${message}`).join('; ');

/** How a task ended, by what its tool says. */
export function readTaskEnd(value: unknown): TaskEnd {
  const end = taskEnd.safeParse(value);
  if (end.success) return end.data;
  return unknownEnd(`its tool gave no end of a task (${reasonOf(end.error)})`);
}

/** The same for an end to come; a promise that breaks is an end, too. Never rejects. */
export async function endOf(done: Promise<unknown>): Promise<TaskEnd> {
  try {
    return readTaskEnd(await done);
  } catch (error) {
    return unknownEnd(messageOf(error));
  }
}

const unknownEnd = (why: string): TaskEnd => ({ status: 'failed', exitCode: null, summary: `How it ended is unknown: ${why}.` });
