import { countingPeriodOf, type Origin } from '../../domain/event.ts';
import type { Clock } from '../ports/clock.ts';
import type { Refusals } from '../ports/event-repository.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

type CountRefusalsDeps = { readonly unitOfWork: UnitOfWork; readonly clock: Clock; readonly ids: IdGenerator };

export type RefusalCounts = {
  /** Counts a refused log-in of a user. Changes memory alone, so that it takes no time that shows whether an account exists. */
  count(userId: string, origin: Origin): void;
  /**
   * Stores what was counted. What could not be stored is stored by the next call.
   * @throws AppError DB_QUERY_FAILED
   */
  store(): Promise<void>;
  /** How many events wait to be stored. */
  waiting(): number;
  /** How many refusals could not be counted since the last call, because too many users had some. */
  takeLost(): number;
};

/** Users and hours whose refusals are counted at the same time. Each takes about a kilobyte. */
export const COUNTED_AT_ONCE = 5_000;
/** Events in one unit of work: few, so that nothing else waits for it for long. */
const BATCH_SIZE = 100;

/** Counts refused log-ins in memory until they are stored (ADR 0051). */
export const countRefusals = ({ unitOfWork, clock, ids }: CountRefusalsDeps): RefusalCounts => {
  let counts = new Map<string, Refusals>();
  let lost = 0;

  /** @param refused later than what was counted before. */
  const add = (refused: Refusals) => {
    const key = `${refused.userId} ${countingPeriodOf(refused.at)}`;
    const before = counts.get(key);
    if (before === undefined && counts.size >= COUNTED_AT_ONCE) lost += refused.count;
    else counts.set(key, { ...refused, count: refused.count + (before?.count ?? 0) });
  };
  const putBack = (unstored: readonly Refusals[]) => {
    const since = [...counts.values()];
    counts = new Map();
    for (const refused of [...unstored, ...since]) add(refused);
  };

  return {
    count: (userId, { userAgent, address, requestId }) =>
      add({ id: ids.next(), userId, at: clock.now(), count: 1, requestId, userAgent, address }),
    async store() {
      // In one order, so that two instances do not wait for each other.
      const taken = [...counts.values()].sort((a, b) => (a.userId < b.userId ? -1 : 1));
      counts = new Map();
      for (let at = 0; at < taken.length; at += BATCH_SIZE) {
        try {
          await unitOfWork.run(({ events }) => events.addRefusals(taken.slice(at, at + BATCH_SIZE)));
        } catch (error) {
          putBack(taken.slice(at));
          throw error;
        }
      }
    },
    waiting: () => counts.size,
    takeLost() {
      const taken = lost;
      lost = 0;
      return taken;
    },
  };
};
