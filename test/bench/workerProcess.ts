import type { Job } from './jobs.js';
import { profileWhile } from './profile/record.js';
import { loadWorker } from './worker.js';

/** One contestant in a process of its own: takes a job, tells the measure. */
const [, , moduleURL = '', baseURL = '', variant = ''] = process.argv;
const perform = await loadWorker({ moduleURL, baseURL, variant });

process.on('message', (message: { readonly job: Job; readonly profileTo?: string }) => {
  const { job, profileTo } = message;
  (profileTo === undefined ? perform(job) : profileWhile(() => perform(job), profileTo)).then(
    (measure) => process.send?.({ measure }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
