import type { Clock } from '../../application/ports/clock-and-ids.ts';

export const systemClock: Clock = { now: () => Date.now() };

/** Epoch milliseconds by a clock that never steps: for durations, and for times that this process alone compares. */
export const monotonicTime = (): number => performance.timeOrigin + performance.now();

/** At least 0 and below 1. For what anybody may guess: it spreads what many would do at the same moment. */
export const random = (): number => Math.random();
