const tails = new Map<string, Promise<unknown>>();

/**
 * Runs `work` while no other holder of the same key runs, in order of arrival. For the files of this process: two edits of one
 * file never interleave, whichever session or subagent asks.
 */
export async function withLock<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const before = tails.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  const settled = mine.catch(() => undefined);
  tails.set(key, settled);
  try {
    return await mine;
  } finally {
    if (tails.get(key) === settled) tails.delete(key);
  }
}
