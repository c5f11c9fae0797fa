import { NO_ORIGIN } from '../../domain/event.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { type ChangeDeps, endings, record } from '../steps/record.ts';

/** Each purge deletes at most `limit` rows, and returns how many it has deleted. */
type Purge = (limit: number) => Promise<number>;

export type PurgeDeps = ChangeDeps &
  Pick<Stores, 'links' | 'outbox' | 'used' | 'events'> & {
    /** Milliseconds. */
    readonly eventsRetention: number;
  };

export const purgeSessions =
  (deps: ChangeDeps): Purge =>
  (limit) =>
    deps.unitOfWork.run(async (stores) => {
      const purged = await stores.sessions.purge(deps.clock.now(), limit);
      const expired = purged.flatMap(({ id, userId }) => endings(userId, [id], 'expired'));
      await record(deps, stores, NO_ORIGIN, expired);
      return purged.length;
    });

export const purgeLinks =
  ({ links, clock }: Pick<PurgeDeps, 'links' | 'clock'>): Purge =>
  (limit) =>
    links.purge(clock.now(), limit);

/** Deletes what may be used once and has expired. */
export const purgeUsedValues =
  ({ used, clock }: Pick<PurgeDeps, 'used' | 'clock'>): Purge =>
  (limit) =>
    used.purge(clock.now(), limit);

/** Deletes counts of mail that no longer limit anything. */
export const purgeMailboxes =
  ({ outbox, clock }: Pick<PurgeDeps, 'outbox' | 'clock'>): Purge =>
  (limit) =>
    outbox.purge(clock.now(), limit);

/** Deletes events that were kept for long enough. */
export const purgeEvents =
  ({ events, clock, eventsRetention }: Pick<PurgeDeps, 'events' | 'clock' | 'eventsRetention'>): Purge =>
  (limit) =>
    events.purge(clock.now() - eventsRetention, limit);
