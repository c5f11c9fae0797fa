/** How often `work` is done in a second by so many at once, over so many milliseconds. */
export const throughput = async (
  work: () => Promise<unknown>,
  concurrency: number,
  duration: number,
): Promise<number> => {
  let done = 0;
  const startedAt = performance.now();
  const until = startedAt + duration;
  const worker = async () => {
    while (performance.now() < until) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return (done * 1000) / (performance.now() - startedAt);
};
