/** How long a rotation may take, and is waited for, in milliseconds. ADR 0022. */
export type RotationBudgets = {
  /** From the call on; by then the store has rotated, or never will. */
  readonly rotation: number;
  /** From the call on; by then the caller has an answer. */
  readonly answer: number;
};

type Store = 'database' | 'redis';

/** What a store of each kind needs when it is slow. */
export const ROTATION_BUDGET: Readonly<Record<Store, number>> = { database: 5_000, redis: 2_000 };
/** For the answer to come back. */
const MARGIN = 500;

/** Both are well within the time that a request has. */
export const rotationBudgets = (store: Store, requestTimeout: number): RotationBudgets => {
  const rotation = Math.min(ROTATION_BUDGET[store], requestTimeout / 2);
  return { rotation, answer: rotation + MARGIN };
};
