/** Rounds that are always run. */
const ROUNDS = 3;
/** Rounds after which the instances are taken not to come closer: one is always ahead of the other. */
const MAX_ROUNDS = 40;
/** How often one has to overtake the other, so that they have certainly worked on the same things at the same time. */
const ENOUGH = 20;

const overtakings = (winners: readonly boolean[]): number =>
  winners.filter((winner, at) => at > 0 && winner !== winners[at - 1]).length;

/**
 * Repeats a race of two instances until they have overtaken each other often, however busy the machine is.
 * @param round both do the same things in the same order; returns for each of them whether the other instance came first.
 */
export const untilClose = async (round: () => Promise<readonly boolean[]>): Promise<void> => {
  let close = 0;
  for (let count = 0; count < MAX_ROUNDS; count += 1) {
    if (count >= ROUNDS && close >= ENOUGH) return;
    close += overtakings(await round());
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
