import type { Clock } from '../ports/clock.ts';
import type { Outbox } from '../ports/outbox.ts';

export type PurgeMailboxesDeps = { readonly outbox: Outbox; readonly clock: Clock };

/** Deletes counts of mail that limit nothing any more, at most `limit`. @returns how many. */
export const purgeMailboxes =
  ({ outbox, clock }: PurgeMailboxesDeps) =>
  (limit: number): Promise<number> =>
    outbox.purge(clock.now(), limit);
