import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type PurgeSessionsDeps, purgeSessions as purgeOnce } from '../../application/use-cases/purge-sessions.ts';

/** Sessions per statement: few, so that a delete does not block a refresh. */
const BATCH_SIZE = 1000;
/** Milliseconds between two rounds. */
const PURGE_INTERVAL_MS = 60_000;

/** Deletes expired sessions in batches until `signal` is aborted. Logs a failure, and tries again at the next interval. */
export const purgeSessions = async (deps: PurgeSessionsDeps, logger: Logger, signal: AbortSignal): Promise<void> => {
  const purge = purgeOnce(deps);
  const purgeBatch = () =>
    purge(BATCH_SIZE).catch((error: unknown) => {
      logger.warn({ err: error }, 'expired sessions could not be purged');
      return 0;
    });
  while (!signal.aborted) {
    const purged = await purgeBatch();
    if (purged < BATCH_SIZE) await pause(PURGE_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
};
