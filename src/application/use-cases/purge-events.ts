import type { Clock } from '../ports/clock.ts';
import type { EventRepository } from '../ports/event-repository.ts';

export type PurgeEventsDeps = {
  readonly events: EventRepository;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly eventsRetention: number;
};

/** Deletes events that were kept for long enough, at most `limit`. @returns how many. */
export const purgeEvents =
  ({ events, clock, eventsRetention }: PurgeEventsDeps) =>
  (limit: number): Promise<number> =>
    events.purge(clock.now() - eventsRetention, limit);
