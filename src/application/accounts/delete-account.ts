import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { NEVER_CANCELLED, record, type Service, type Sources } from '../service.ts';
import { endSessionsOf } from '../sessions/end-sessions.ts';
import type { Stores } from '../storage/records.ts';
import { type Confirmation, confirmedOwner } from './confirm-owner.ts';

export const deleteAccount =
  (deps: Service) =>
  async (input: Confirmation, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { origin = NO_ORIGIN } = input;
    const { lock } = await confirmedOwner(deps, input);
    cancellation.throwIfAborted();
    await deps.transactions.run(async (stores) => {
      const { id } = await lock(stores);
      await removeAccount(deps, stores, id, origin);
    });
  };

/** Removes a user with everything that is stored about them. @returns whether there was such a user: `true` for one of several concurrent callers. */
export const removeAccount = async (deps: Sources, stores: Stores, userId: string, origin: Origin) => {
  // Locks the user.
  const found = await stores.users.update(userId, { now: deps.clock.now() });
  if (found === null) return false;
  await endSessionsOf(deps, stores, userId, { reason: 'account-deleted', origin });
  await record(deps, stores, origin, [{ userId, kind: 'deleted' }]);
  await stores.users.remove(userId);
  return true;
};
