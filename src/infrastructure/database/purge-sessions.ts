import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Ports } from '../compose/ports.ts';

/** Small, so that a delete never holds up a refresh. */
const BATCH = 1000;
/** Milliseconds between two rounds. */
const PURGE_INTERVAL_MS = 60_000;

/** Forgets sessions that are over, batch after batch, until `signal` is aborted. A failure is logged and tried again later. */
export const purgeSessions = async (
  { sessions, clock }: Pick<Ports, 'sessions' | 'clock'>,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> => {
  const purgeBatch = () =>
    sessions.purge(clock.now(), BATCH).catch((error: unknown) => {
      logger.warn({ err: error }, 'sessions that are over could not be purged');
      return 0;
    });
  while (!signal.aborted) {
    const purged = await purgeBatch();
    if (purged < BATCH) await pause(PURGE_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
};
