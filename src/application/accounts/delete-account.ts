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

/**
 * Removes a user with everything that is stored about them. Only the audit log keeps that the account was deleted.
 * @returns whether there was such a user: one of several concurrent callers removes the user.
 */
export const removeAccount = async (deps: Sources, stores: Stores, userId: string, origin: Origin) => {
  // Locks the user.
  const found = await stores.users.update(userId, { now: deps.clock.now() });
  if (found === null) return false;
  await endSessionsOf(deps, stores, userId, { reason: 'account-deleted', origin });
  // The last event of the user, also to receivers of webhooks.
  await record(deps, stores, origin, [{ userId, kind: 'deleted' }]);
  await stores.users.remove(userId);
  return true;
};
