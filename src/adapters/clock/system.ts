import type { Clock } from '../../application/ports/clock-and-ids.ts';

export const systemClock: Clock = { now: () => Date.now() };
