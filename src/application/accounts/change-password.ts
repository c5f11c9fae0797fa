import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { assertPasswordAllowed } from '../../domain/password.ts';
import type { User } from '../../domain/user.ts';
import { lockedUserWithPassword, userWithPassword } from '../login/compare-password.ts';
import { notifyOfChange } from '../notices.ts';
import type { Service } from '../service.ts';
import type { CallerWithToken } from '../sessions/current-user.ts';
import { replaceSession, runReplacing } from '../sessions/open-session.ts';
import { statedFor, type TokenPair } from '../sessions/tokens.ts';
import { type Cancellation, NEVER_CANCELLED, record } from '../use-case.ts';
import { endWays } from './end-ways.ts';

type ChangePasswordInput = CallerWithToken & {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly origin?: Origin;
};

/**
 * Changes the password of a user who knows the current one, ends the user's sessions, and opens one for the caller.
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_TOKEN_INVALID, CLIENT_PARAMS_VALIDATION_FAILED, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED,
 *   DB_RECORD_NOT_FOUND
 */
export const changePassword =
  (deps: Service) =>
  async (input: ChangePasswordInput, cancellation = NEVER_CANCELLED): Promise<TokenPair> => {
    const { sessionId, currentPassword, newPassword, origin = NO_ORIGIN } = input;
    const user = await userWithPassword(deps, { ...input, password: currentPassword });
    await assertPasswordAllowed(deps, { ...user, password: newPassword }, 'newPassword');
    cancellation.throwIfAborted();
    const passwordHash = await deps.hasher.hash(newPassword);
    cancellation.throwIfAborted();
    return storePassword(deps, { user, passwordHash, sessionId, origin }, cancellation);
  };

type NewPassword = {
  readonly user: User;
  readonly passwordHash: string;
  readonly sessionId: string;
  readonly origin: Origin;
};

const storePassword = async (
  deps: Service,
  { user, passwordHash, sessionId, origin }: NewPassword,
  cancellation: Cancellation,
): Promise<TokenPair> => {
  const { id: userId } = user;
  const authentications = [{ method: 'password', at: deps.clock.now() }] as const;
  const stated = await statedFor(deps, { id: sessionId, userId }, { authentications });
  cancellation.throwIfAborted();
  return runReplacing(deps, userId, cancellation, async (stores) => {
    await lockedUserWithPassword(deps, stores, { userId, sessionId }, user);
    await record(deps, stores, origin, [{ userId, kind: 'password-changed', sessionId }]);
    await notifyOfChange(deps, stores, { kind: 'password-changed', user, origin });
    await endWays(deps, stores, 'password-changed', user, { origin, passwordHash, exceptId: sessionId });
    cancellation.throwIfAborted();
    const changed = (await stores.users.findById(userId)) ?? user;
    return replaceSession(deps, stores, { user: changed, sessionId, origin, authentications, stated });
  });
};
