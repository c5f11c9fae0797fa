import type { Clock } from '../../application/ports/clock.ts';

/** The system clock. */
export const systemClock: Clock = { now: () => Date.now() };
