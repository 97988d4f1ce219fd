import { z } from 'zod';
import { buildTool } from '../tool/build.js';
import { throwIfAborted } from '../tool/errors.js';

const MAX_SECONDS = 3600;
const inputSchema = z.strictObject({
  seconds: z.number().positive().max(MAX_SECONDS).describe(`How long to wait at most, up to ${MAX_SECONDS} seconds`),
});

export interface Slept {
  readonly wokenBy: 'time' | 'notification';
  readonly sleptMs: number;
}

/** Waits without occupying a process; wakes early when something happens that the model should hear of. */
export function sleepTool() {
  return buildTool({
    name: 'Sleep',
    description: 'Wait for a time or until something happens',
    prompt: 'Waits. Ends early when a background task ends or anything else waits to be told. Prefer it to running sleep in Bash.',
    inputSchema,
    searchHint: 'wait pause delay sleep',
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    isDestructive: () => false,
    shouldDefer: true,
    interruptBehavior: 'cancel',
    timeoutMs: ({ seconds }) => seconds * 1000 + 10_000,
    async call({ seconds }, context) {
      throwIfAborted(context.signal);
      const started = performance.now();
      const awake = new AbortController();
      const until = AbortSignal.any([awake.signal, context.signal]);
      const time = new Promise<Slept['wokenBy']>((resolve) => {
        const timer = setTimeout(() => resolve('time'), seconds * 1000);
        until.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve('time');
        });
      });
      const notified = context.capabilities.tasks?.nextNotification(until).then((): Slept['wokenBy'] => 'notification');
      const wokenBy = await Promise.race(notified === undefined ? [time] : [time, notified]);
      awake.abort();
      throwIfAborted(context.signal);
      const output: Slept = { wokenBy, sleptMs: Math.round(performance.now() - started) };
      return { data: output };
    },
    mapToolResultToToolResultBlockParam: ({ wokenBy, sleptMs }) => ({
      content:
        wokenBy === 'time'
          ? `Waited ${(sleptMs / 1000).toFixed(1)} s.`
          : `Woken after ${(sleptMs / 1000).toFixed(1)} s: something happened.`,
    }),
    renderToolUseMessage: ({ seconds }) => ({ title: `Wait up to ${seconds} s` }),
    renderToolResultMessage: ({ wokenBy }) => ({ title: wokenBy === 'time' ? 'Waited' : 'Woken' }),
  });
}
