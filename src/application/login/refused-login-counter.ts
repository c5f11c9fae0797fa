import { type AccountEvent, countingPeriodOf, newEvent, type Origin } from '../../domain/event.ts';
import type { Core, Sources } from '../service.ts';
import { addEvents } from '../storage/events.ts';

/** The most pairs of a user and an hour that are counted at once, of about a kilobyte each. */
export const COUNTED_AT_ONCE = 5_000;
/** Events in one transaction: few, so that other transactions do not wait for long. */
const BATCH_SIZE = 10;

/** Counts refused log-ins in memory until they are stored (ADR 0011). */
export const refusedLoginCounter = ({ transactions, clock, ids, secrets }: Pick<Core, 'transactions'> & Sources) => {
  let counts = new Map<string, AccountEvent>();
  let lostCount = 0;

  /** @param refused a refused log-in, later than those of the same user that were counted before. */
  const add = (refused: AccountEvent) => {
    const key = `${refused.userId} ${countingPeriodOf(refused.at)}`;
    const before = counts.get(key);
    if (before === undefined && counts.size >= COUNTED_AT_ONCE) lostCount += refused.count;
    else counts.set(key, { ...refused, count: refused.count + (before?.count ?? 0) });
  };
  const putBack = (unstored: readonly AccountEvent[]) => {
    const since = [...counts.values()];
    counts = new Map();
    for (const refused of [...unstored, ...since]) add(refused);
  };

  return {
    /** Counts in memory, so that the response time does not show whether an account exists. */
    count: (userId: string, origin: Origin): void =>
      add(newEvent({ userId, kind: 'login-refused' }, { id: ids.next(), at: clock.now(), origin })),
    /** Stores the counts. Those that cannot be stored are counted in memory again, as far as there is room. */
    async store(): Promise<void> {
      // Always in the same order, so that two instances do not deadlock.
      const pending = [...counts.values()].sort((a, b) => (a.userId < b.userId ? -1 : 1));
      counts = new Map();
      for (let at = 0; at < pending.length; at += BATCH_SIZE) {
        try {
          await transactions.run((stores) => addEvents({ secrets }, stores, pending.slice(at, at + BATCH_SIZE)));
        } catch (error) {
          putBack(pending.slice(at));
          throw error;
        }
      }
    },
    waiting: (): number => counts.size,
    /** How many log-ins were not counted since the last call because the counter was full. */
    takeLost(): number {
      const since = lostCount;
      lostCount = 0;
      return since;
    },
  };
};
