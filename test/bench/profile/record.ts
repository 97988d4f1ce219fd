import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

/** Runs the work under the V8 CPU profiler and writes the profile, as `node --cpu-prof` would, but of this work alone. */
export async function profileWhile<T>(work: () => Promise<T>, file: string): Promise<T> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 100 });
  await session.post('Profiler.start');
  try {
    return await work();
  } finally {
    const { profile } = await session.post('Profiler.stop');
    writeFileSync(file, JSON.stringify(profile));
    session.disconnect();
  }
}
