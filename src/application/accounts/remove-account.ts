import type { Origin } from '../../domain/event.ts';
import type { Stores } from '../ports/transactions.ts';
import { type RecordDeps, record } from '../record.ts';
import { endSessionsOf } from '../sessions/end-sessions.ts';

/**
 * Removes a user with everything that is stored about them, in a transaction. The events are removed as well: only the audit log keeps
 * that the account was deleted.
 * @returns whether there was such a user. One of several concurrent callers removes the user.
 */
export const removeAccount = async (
  deps: RecordDeps,
  stores: Pick<Stores, 'users' | 'sessions' | 'devices' | 'events'>,
  userId: string,
  origin: Origin,
): Promise<boolean> => {
  // Locks the user.
  const found = await stores.users.update(userId, { now: deps.clock.now() });
  if (found === null) return false;
  await record(deps, stores, origin, [{ userId, kind: 'deleted' }]);
  await endSessionsOf(deps, stores, userId, { reason: 'account-deleted', origin });
  await stores.users.remove(userId);
  return true;
};
