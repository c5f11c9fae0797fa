const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** The value below which so many of a hundred lie. */
export const percentile = (values: readonly number[], percent: number): number =>
  sorted(values)[Math.min(values.length - 1, Math.floor((values.length * percent) / 100))] ?? Number.NaN;

export const median = (values: readonly number[]): number => percentile(values, 50);
