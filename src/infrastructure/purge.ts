import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Round } from '../adapters/metrics/prometheus.ts';
import { logOperated } from '../application/accounts/operate-accounts.ts';
import { type PurgeDeps, purges, removeEnded } from '../application/sessions/purge.ts';

/** Rows of one transaction: few, so that others do not wait for what it has locked. */
const BATCH_SIZE = 100;
/** Milliseconds between two transactions that remove what ended with all sessions, which is not urgent. */
const PAUSE_MS = 250;
/** Milliseconds between two rounds. */
const PURGE_INTERVAL_MS = 60_000;

/**
 * Removes all sessions that an operator has ended; deletes expired sessions, remembered devices, events, ended sessions, links, invitations, used
 * values, counts of mail and events of webhooks, and logs what operators did, until
 * `signal` is aborted. None of them waits for another. A round that has deleted anything is one line of the log.
 * @param onDone called when a round has left nothing that was due.
 */
export const purge = async (
  deps: PurgeDeps,
  logger: Logger,
  signal: AbortSignal,
  onDone: (round: Round) => void = () => undefined,
  interval = PURGE_INTERVAL_MS,
): Promise<void> => {
  const repeat = async (round: Round, batch: (limit: number) => Promise<number>, failure: string): Promise<void> => {
    let count = 0;
    while (!signal.aborted) {
      try {
        const done = await batch(BATCH_SIZE);
        count += done;
        if (done >= BATCH_SIZE) continue;
        onDone(round);
      } catch (error) {
        logger.warn({ err: error }, failure);
      }
      // What operators did has lines of its own.
      if (count > 0 && round !== 'operations' && round !== 'mass-endings')
        logger.info({ rows: round, count }, 'purged');
      count = 0;
      await wait(interval);
    }
  };
  const wait = (duration: number) => pause(duration, undefined, { signal, ref: false }).catch(() => undefined);
  const removeNext = removeEnded(deps);
  // As long as there is something to remove, a batch counts as a full one.
  const massEndings = async (limit: number) => {
    if ((await removeNext(limit)) === null) return 0;
    await wait(PAUSE_MS);
    return limit;
  };
  const { sessions, devices, events, endedSessions, links, usedValues, mailboxes, webhooks } = purges(deps);
  await Promise.all([
    repeat('sessions', sessions, 'expired sessions could not be purged'),
    repeat('remembered-devices', devices, 'expired remembered devices could not be purged'),
    repeat('events', events, 'old events could not be purged'),
    repeat('ended-sessions', endedSessions, 'sessions that ended could not be purged from the list of them'),
    repeat('links', links, 'expired links could not be purged'),
    repeat('used-values', usedValues, 'expired values that were used could not be purged'),
    repeat('mailboxes', mailboxes, 'old counts of mail could not be purged'),
    repeat('mass-endings', massEndings, 'sessions that an operator has ended could not be removed'),
    repeat('webhooks', webhooks, 'old events of webhooks could not be purged'),
    repeat('operations', logOperated(deps), 'what operators did could not be logged'),
  ]);
};
