import type { Origin, SessionEnding } from '../../domain/event.ts';
import type { SessionKey } from '../../domain/session.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { endings, type RecordDeps, record } from './record.ts';

/** Why sessions end, and what caused it. */
export type Ending = { readonly reason: SessionEnding; readonly origin: Origin };

/** Ends one session. @returns whether there was such a session. */
export const endSession = async (
  deps: RecordDeps,
  stores: Pick<Stores, 'sessions' | 'events'>,
  key: SessionKey,
  { reason, origin }: Ending,
): Promise<boolean> => {
  const ended = await stores.sessions.end(key);
  if (ended) await record(deps, stores, origin, endings(key.userId, [key.id], reason));
  return ended;
};

/**
 * Ends the sessions of a user, who is locked from then on: a log-in that is under way has either stored its session before, which ends,
 * or waits for the lock, and then sees what the unit of work has changed.
 * @param exceptId the session that stays open; `null` to end all. @returns how many.
 */
export const endSessionsOf = async (
  deps: RecordDeps,
  stores: Pick<Stores, 'users' | 'sessions' | 'events'>,
  { userId, exceptId }: { readonly userId: string; readonly exceptId: string | null },
  { reason, origin }: Ending,
): Promise<number> => {
  await stores.users.lock(userId);
  const ended = await stores.sessions.endByUser(userId, exceptId);
  await record(deps, stores, origin, endings(userId, ended, reason));
  return ended.length;
};
