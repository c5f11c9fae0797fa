/** How long a rotation may take, and how long its result is awaited, in milliseconds. ADR 0022. */
export type RotationBudgets = {
  /** After the call; by then the rotation has happened, or never will. */
  readonly rotation: number;
  /** After the call; by then the caller has a result or an error. */
  readonly answer: number;
};

type Store = 'database' | 'redis';

/** Enough for a store that is slow. Milliseconds. */
export const ROTATION_BUDGET: Readonly<Record<Store, number>> = { database: 5_000, redis: 2_000 };
/** For the result to arrive. Milliseconds. */
const MARGIN = 500;

/** Both are well below the time limit of a request. @param longest that of the store. Milliseconds. */
export const rotationBudgets = (longest: number, requestTimeout: number): RotationBudgets => {
  const rotation = Math.min(longest, requestTimeout / 2);
  return { rotation, answer: rotation + MARGIN };
};
