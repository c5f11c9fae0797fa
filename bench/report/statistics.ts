const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** The value below which so many of a hundred lie. */
export const percentile = (values: readonly number[], percent: number): number =>
  sorted(values)[Math.min(values.length - 1, Math.floor((values.length * percent) / 100))] ?? Number.NaN;

/** The middle one, or the mean of the two in the middle. */
export const median = (values: readonly number[]): number => {
  const ascending = sorted(values);
  const upper = ascending[ascending.length >> 1] ?? Number.NaN;
  const lower = ascending[(ascending.length - 1) >> 1] ?? Number.NaN;
  return (lower + upper) / 2;
};

/**
 * How far two samples are from coming out of one distribution, by the Mann–Whitney U test in standard deviations: positive when
 * the first one's values are the larger ones. For samples of more than twenty without ties.
 */
export const rankSumZ = (first: readonly number[], second: readonly number[]): number => {
  const below = sorted(second);
  let wins = 0;
  let smaller = 0;
  for (const value of sorted(first)) {
    while (smaller < below.length && (below[smaller] ?? 0) < value) smaller += 1;
    wins += smaller;
  }
  const [n, m] = [first.length, second.length];
  return (wins - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
};
