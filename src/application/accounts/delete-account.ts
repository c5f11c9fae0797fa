import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import {
  lockedUserWithPassword,
  type RequestWithPassword,
  type UserWithPasswordDeps,
  userWithPassword,
} from '../login/compare-password.ts';
import type { Stores } from '../ports/transactions.ts';
import { endSessionsOf } from '../sessions/end-sessions.ts';
import { type ChangeDeps, NEVER_CANCELLED, type RecordDeps, record } from '../use-case.ts';

type DeleteAccountDeps = UserWithPasswordDeps & ChangeDeps;

type Deletion = RequestWithPassword & { readonly origin?: Origin };

/**
 * Removes a user who knows the password, or has none and has just logged in, with everything that is stored about them.
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_STEP_UP_REQUIRED, AUTH_TOKEN_INVALID, CLIENT_PARAMS_VALIDATION_FAILED,
 *   CLIENT_REQUEST_RATE_LIMIT_EXCEEDED, DB_RECORD_NOT_FOUND
 */
export const deleteAccount =
  (deps: DeleteAccountDeps) =>
  async (input: Deletion, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { origin = NO_ORIGIN } = input;
    const user = await userWithPassword(deps, input);
    cancellation.throwIfAborted();
    await deps.transactions.run(async (stores) => {
      await lockedUserWithPassword(deps, stores, input, user);
      await removeAccount(deps, stores, user.id, origin);
    });
  };

/**
 * Removes a user with everything that is stored about them. Only the audit log keeps that the account was deleted.
 * @returns whether there was such a user: one of several concurrent callers removes the user.
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
  await endSessionsOf(deps, stores, userId, { reason: 'account-deleted', origin });
  // The last event of the user, also to receivers of webhooks.
  await record(deps, stores, origin, [{ userId, kind: 'deleted' }]);
  await stores.users.remove(userId);
  return true;
};
