import type { Clock } from '../../application/ports/clock-and-ids.ts';

export const systemClock: Clock = { now: () => Date.now() };

/** Milliseconds by a clock that is never set, for durations and for times that only this process compares. */
export const monotonicTime = (): number => performance.timeOrigin + performance.now();

/** At least 0 and below 1. It is not for secrets, but spreads what many would do at the same moment. */
export const random = (): number => Math.random();
