import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN } from '../../domain/event.ts';
import { type PublicUser, publicUser } from '../../domain/user.ts';
import { type ChangeDeps, record } from '../record.ts';
import { type Caller, lockedLiveUser } from '../sessions/live-user.ts';

/**
 * Changes the username. The former one is free at once (ADR 0010).
 * @returns the user as stored now.
 * @throws AppError AUTH_USER_DUPLICATE, AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const changeUsername =
  (deps: ChangeDeps) =>
  (caller: Caller, username: string, origin = NO_ORIGIN): Promise<PublicUser> =>
    deps.transactions.run(async (stores) => {
      const before = await lockedLiveUser(deps, stores, caller);
      if (before.username === username) return publicUser(before);
      const changed = await stores.users.update(before.id, { username, now: deps.clock.now() });
      if (changed === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
      await record(deps, stores, origin, [{ userId: before.id, kind: 'username-changed' }]);
      return publicUser(changed);
    });
