import './polyfill.js';
import * as restate from '@restatedev/restate-sdk';
import { z } from 'zod';
import { type PassageOptions, passage } from './passage.js';
import { INBOX_OBJECT, messageSchema, type NumberedUpdate, type Posted, SESSION_OBJECT, type UpdatePage } from './protocol.js';
import { batchKey, charsOf } from './record.js';
import { PART_CHARS } from './sizes.js';

/** The invocation that a session's messages go to, and how many it has been given beside the one that woke it. */
interface Active {
  readonly invocation: string;
  readonly messages: number;
}

const finishSchema = z.object({ invocation: z.string(), messages: z.number() });
const pageRequestSchema = z.object({ from: z.number().int().positive() });
/** Batches in one answer, where they are not too large for one. */
const PAGE_BATCHES = 50;

export interface ObjectOptions {
  readonly optionsFor: (sessionId: string) => PassageOptions | Promise<PassageOptions>;
  /** How long an invocation may wait before it leaves its worker, in milliseconds. */
  readonly inactivityMs: number;
}

/**
 * The two virtual objects of a session. The session itself is one invocation from the message that wakes it until it is idle; while it
 * runs, its object is taken, so messages go through an inbox of the same key, which hands them to the running invocation in order.
 */
export function createObjects({ optionsFor, inactivityMs }: ObjectOptions) {
  const session = restate.object({
    name: SESSION_OBJECT,
    handlers: {
      run: async (context: restate.ObjectContext, first: unknown): Promise<void> => passage(context, first, await optionsFor(context.key)),
      updates: restate.handlers.object.shared(async (context: restate.ObjectSharedContext, request: unknown): Promise<UpdatePage> => {
        const { from } = parsed(pageRequestSchema, request);
        const firsts = (await context.stateKeys())
          .flatMap((key) => (key.startsWith('u:') ? [Number(key.slice(2))] : []))
          .sort((a, b) => a - b);
        const at = firsts.findLastIndex((first) => first <= from);
        const updates: NumberedUpdate[] = [];
        let chars = 0;
        for (const first of firsts.slice(Math.max(0, at)).slice(0, PAGE_BATCHES)) {
          const batch = (await context.get<NumberedUpdate[]>(batchKey(first))) ?? [];
          const more = batch.filter(({ seq }) => seq >= from);
          chars += more.reduce((sum, update) => sum + charsOf(update), 0);
          if (updates.length > 0 && chars > PART_CHARS) break;
          updates.push(...more);
        }
        return { updates, next: (updates.at(-1)?.seq ?? from - 1) + 1, first: firsts[0] ?? 1 };
      }),
    },
    options: {
      enableLazyState: true,
      inactivityTimeout: inactivityMs,
      // A tool may take its time; its own limits end it, not the engine.
      abortTimeout: { days: 1 },
      journalRetention: { hours: 1 },
      retryPolicy: { initialInterval: 100, maxInterval: 5_000, exponentiationFactor: 2 },
    },
  });

  const inbox = restate.object({
    name: INBOX_OBJECT,
    handlers: {
      post: async (context: restate.ObjectContext, message: unknown): Promise<Posted> => {
        const value = parsed(messageSchema, message);
        const active = await context.get<Active>('active');
        if (active) {
          context
            .invocation(restate.InvocationIdParser.fromString(active.invocation))
            .signal<unknown>(`m${active.messages}`)
            .resolve(value);
          context.set<Active>('active', { ...active, messages: active.messages + 1 });
          return { invocation: active.invocation };
        }
        const invocation = await context.objectSendClient<typeof session>({ name: SESSION_OBJECT }, context.key).run(value).invocationId;
        context.set<Active>('active', { invocation, messages: 0 });
        return { invocation };
      },
      /** A session that is idle asks whether it may end. */
      finish: async (context: restate.ObjectContext, request: unknown): Promise<{ readonly more: boolean }> => {
        const { invocation, messages } = parsed(finishSchema, request);
        const active = await context.get<Active>('active');
        if (active?.invocation === invocation && active.messages > messages) return { more: true };
        if (active?.invocation === invocation) context.clear('active');
        return { more: false };
      },
    },
    options: { journalRetention: { seconds: 0 }, retryPolicy: { initialInterval: 50, maxInterval: 2_000, exponentiationFactor: 2 } },
  });
  return [session, inbox] as const;
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new restate.TerminalError(`${issue?.path.join('.') || 'the request'}: ${issue?.message ?? 'not understood'}`, { errorCode: 400 });
}
