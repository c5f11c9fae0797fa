import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { assertPasswordAllowed } from '../../domain/password.ts';
import { lockedUserWithPassword, userWithPassword } from '../login/compare-password.ts';
import { recordChange } from '../notices.ts';
import { NEVER_CANCELLED, type Service } from '../service.ts';
import type { CallerWithToken } from '../sessions/current-user.ts';
import { replaceSession, runReplacing } from '../sessions/open-session.ts';
import { hookClaimsFor, type TokenPair } from '../sessions/tokens.ts';
import { endWays } from './end-ways.ts';

type ChangePasswordInput = CallerWithToken & {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly origin?: Origin;
};

/** Changes the password of a user who knows the current one, ends the user's sessions, and opens one for the caller. */
export const changePassword =
  (deps: Service) =>
  async (input: ChangePasswordInput, cancellation = NEVER_CANCELLED): Promise<TokenPair> => {
    const { sessionId, currentPassword, newPassword, origin = NO_ORIGIN } = input;
    const user = await userWithPassword(deps, { ...input, password: currentPassword });
    await assertPasswordAllowed(deps, { ...user, password: newPassword }, 'newPassword');
    cancellation.throwIfAborted();
    const passwordHash = await deps.hasher.hash(newPassword);
    cancellation.throwIfAborted();
    const authentications = [{ method: 'password', at: deps.clock.now() }] as const;
    const hookClaims = await hookClaimsFor(deps, { id: sessionId, userId: user.id }, { authentications });
    cancellation.throwIfAborted();
    return runReplacing(deps, user.id, cancellation, async (stores) => {
      await lockedUserWithPassword(deps, stores, { userId: user.id, sessionId }, user);
      await recordChange(deps, stores, { kind: 'password-changed', user, sessionId, origin });
      await endWays(deps, stores, 'password-changed', user, { origin, passwordHash, exceptId: sessionId });
      cancellation.throwIfAborted();
      const changed = (await stores.users.findById(user.id)) ?? user;
      return replaceSession(deps, stores, { user: changed, sessionId, origin, authentications, hookClaims });
    });
  };
