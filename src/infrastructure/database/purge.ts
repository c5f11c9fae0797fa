import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { logOperated } from '../../application/use-cases/operate-accounts.ts';
import {
  type PurgeDeps,
  purgeEvents,
  purgeLinks,
  purgeMailboxes,
  purgeSessions,
} from '../../application/use-cases/purge.ts';

/** Rows per statement: few, so that a delete does not block a refresh. */
const BATCH_SIZE = 1000;
/** Milliseconds between two rounds. */
const PURGE_INTERVAL_MS = 60_000;

/**
 * Deletes expired sessions, events, links and counts of mail, and logs what operators did, until `signal` is aborted. None of them waits
 * for another.
 */
export const purge = async (deps: PurgeDeps, logger: Logger, signal: AbortSignal): Promise<void> => {
  await Promise.all([
    purgeInBatches(purgeSessions(deps), { failure: 'expired sessions could not be purged', logger, signal }),
    purgeInBatches(purgeEvents(deps), { failure: 'old events could not be purged', logger, signal }),
    purgeInBatches(purgeLinks(deps), { failure: 'expired links could not be purged', logger, signal }),
    purgeInBatches(logOperated(deps), { failure: 'what operators did could not be logged', logger, signal }),
    purgeInBatches(purgeMailboxes(deps), { failure: 'old counts of mail could not be purged', logger, signal }),
  ]);
};

type Purging = {
  /** Logged when a batch fails; it is tried again at the next interval. */
  readonly failure: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
};

const purgeInBatches = async (
  purgeBatch: (limit: number) => Promise<number>,
  { failure, logger, signal }: Purging,
): Promise<void> => {
  while (!signal.aborted) {
    const purged = await purgeBatch(BATCH_SIZE).catch((error: unknown) => {
      logger.warn({ err: error }, failure);
      return 0;
    });
    if (purged < BATCH_SIZE) await pause(PURGE_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
};
