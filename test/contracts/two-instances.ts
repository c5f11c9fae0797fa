/** Rounds that are always run. */
const ROUNDS = 3;
/** Rounds after which the instances are taken not to interleave: one is always ahead of the other. */
const MOST_ROUNDS = 30;
/** How often each has to come first, so that they have certainly worked at the same time. */
const ENOUGH = 10;

/**
 * Repeats a race of two instances until each has won often, however busy the machine is.
 * @param round returns how often each has won.
 */
export const untilBothHaveWon = async (round: () => Promise<readonly [number, number]>): Promise<void> => {
  const won = [0, 0];
  for (let count = 0; count < MOST_ROUNDS; count += 1) {
    if (count >= ROUNDS && won.every((times) => times >= ENOUGH)) return;
    const [theirs, ours] = await round();
    won[0] = (won[0] ?? 0) + theirs;
    won[1] = (won[1] ?? 0) + ours;
  }
};

/**
 * The same work at both instances at the same time. Begins with the other one: it may be in another thread, and ours may be
 * synchronous and finish before it is asked.
 */
export const atBoth = async <Instance, Result>(
  other: Instance,
  own: Instance,
  work: (instance: Instance) => Promise<Result>,
): Promise<readonly [Result, Result]> => {
  const theirs = work(other);
  const ours = work(own);
  return [await theirs, await ours];
};
