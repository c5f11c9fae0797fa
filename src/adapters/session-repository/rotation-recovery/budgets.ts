/** How long a rotation may take, and how long its result is awaited, in milliseconds. ADR 0022. */
export type RotationBudgets = {
  /** After the call; by then the rotation has happened, or never will. */
  readonly rotation: number;
  /** After the call; by then the caller has a result or an error. */
  readonly answer: number;
};

/** Enough for a store that is slow. Milliseconds. */
export const ROTATION_BUDGET = 5_000;
/** For the result to arrive. Milliseconds. */
const MARGIN = 500;

/** Both are well below the time limit of a request, which is given in milliseconds. */
export const rotationBudgets = (requestTimeout: number): RotationBudgets => {
  const rotation = Math.min(ROTATION_BUDGET, requestTimeout / 2);
  return { rotation, answer: rotation + MARGIN };
};
