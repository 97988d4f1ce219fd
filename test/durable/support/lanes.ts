/** Does `work` for 1 … `count`, so many at a time. Answers in the order in which they end. */
export async function inLanes<T>(count: number, atOnce: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  let next = 1;
  const lane = async () => {
    while (next <= count) done.push(await work(next++));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
  return done;
}
