/** Waits for a time in milliseconds. */
export type Pause = (time: number) => Promise<unknown>;

/**
 * Does work whose duration must not show what was done: the result comes after `step` milliseconds, which is longer than the work takes
 * nearly always, or else after several times as long.
 */
export const inSteps = async <Result>(pause: Pause, step: number, work: () => Promise<Result>): Promise<Result> => {
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  // Begins first, so that it does not end later by what the work does before it waits.
  const first = pause(step);
  const working = work();
  working.then(end, end);
  await first;
  while (!isDone) await pause(step);
  return working;
};
