import type { Logger } from 'pino';
import { countRefusals, type RefusalCounts } from '../../application/steps/count-refusals.ts';

type Refusals = Pick<RefusalCounts, 'count'> & {
  /** Stores what was counted, if the database responds. */
  readonly close: () => Promise<void>;
};

/**
 * Milliseconds from the first refusal until it is stored, at most. The time is random: nothing is stored for an account that does not exist,
 * which a request at the same moment would show.
 */
const STORE_AFTER = 5_000;

/** Counts refused log-ins, and stores the counts every few seconds as long as there are any. */
export const storedRefusals = (deps: Parameters<typeof countRefusals>[0], logger: Logger): Refusals => {
  const counts = countRefusals(deps);
  let timer: NodeJS.Timeout | undefined;
  let storing = Promise.resolve();
  let closed = false;

  const store = async () => {
    await counts.store().catch((error: unknown) => logger.warn({ err: error }, 'refused log-ins could not be stored'));
    const lost = counts.takeLost();
    if (lost > 0) logger.warn({ count: lost }, 'refused log-ins were not counted: too many users have some');
  };
  const storeLater = () => {
    if (closed) return;
    timer ??= setTimeout(
      () => {
        timer = undefined;
        storing = storing.then(store);
        void storing.then(() => counts.waiting() > 0 && storeLater());
      },
      STORE_AFTER * (0.2 + 0.8 * Math.random()),
    ).unref();
  };

  return {
    count: (userId, origin) => {
      counts.count(userId, origin);
      storeLater();
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await storing;
      await store();
    },
  };
};
