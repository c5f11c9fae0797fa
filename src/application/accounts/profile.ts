import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { assertPasswordAllowed } from '../../domain/password.ts';
import { UNDETERMINED_LOCALE } from '../../domain/text.ts';
import { type PublicUser, publicUser } from '../../domain/user.ts';
import { assertSamePassword, userWithPassword } from '../login/compare-password.ts';
import { recordChange } from '../notices.ts';
import { type Core, NEVER_CANCELLED, record, type Service, type Sources } from '../service.ts';
import {
  type Caller,
  type CallerWithToken,
  type CurrentUser,
  currentUser,
  lockedLiveUser,
} from '../sessions/current-user.ts';
import { endSessionsOf } from '../sessions/end-sessions.ts';
import { replaceSession, runReplacing } from '../sessions/open-session.ts';
import { hookClaimsFor, type TokenPair } from '../sessions/tokens.ts';
import type { Stores } from '../storage/records.ts';
import { type Confirmation, confirmedOwner } from './confirm-owner.ts';
import { endWays } from './ways.ts';

type ChangePasswordInput = CallerWithToken & {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly origin?: Origin;
};

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
      assertSamePassword(user, await lockedLiveUser(deps, stores, input));
      await recordChange(deps, stores, { kind: 'password-changed', user, sessionId, origin });
      await endWays(deps, stores, 'password-changed', user, { origin, passwordHash, exceptId: sessionId });
      cancellation.throwIfAborted();
      const changed = (await stores.users.findById(user.id)) ?? user;
      return replaceSession(deps, stores, { user: changed, sessionId, origin, authentications, hookClaims });
    });
  };

/** Changes the username, and frees the former one at once (ADR 0010). */
export const changeUsername =
  (deps: Core) =>
  (caller: Caller, username: string, origin = NO_ORIGIN): Promise<PublicUser> =>
    deps.transactions.run(async (stores) => {
      const before = await lockedLiveUser(deps, stores, caller);
      if (before.username === username) return publicUser(before);
      const changed = await stores.users.update(before.id, { username, now: deps.clock.now() });
      if (changed === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
      await recordChange(deps, stores, { kind: 'username-changed', user: before, origin });
      return publicUser(changed);
    });

/** Changes the language of a user's mails. The notice of the change is in the former language: a thief could choose one that the owner does not read. */
export const changeLocale =
  (deps: Core) =>
  (caller: Caller, locale: string, origin = NO_ORIGIN): Promise<CurrentUser> =>
    deps.transactions.run(async (stores) => {
      const before = await lockedLiveUser(deps, stores, caller);
      if (before.locale === locale) return currentUser(stores, before);
      const changed = await stores.users.update(before.id, { locale, now: deps.clock.now() });
      if (changed === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
      const user = { ...before, locale: before.locale ?? UNDETERMINED_LOCALE };
      await recordChange(deps, stores, { kind: 'locale-changed', user, sessionId: caller.sessionId, origin });
      return currentUser(stores, changed);
    });

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

/** Removes a user with all rows of the user (`ofUser`). @returns whether there was such a user: `true` for one of several concurrent callers. */
export const removeAccount = async (deps: Sources, stores: Stores, userId: string, origin: Origin) => {
  // Locks the user.
  const found = await stores.users.update(userId, { now: deps.clock.now() });
  if (found === null) return false;
  await endSessionsOf(deps, stores, userId, { reason: 'account-deleted', origin });
  await record(deps, stores, origin, [{ userId, kind: 'deleted' }]);
  await stores.users.remove(userId);
  return true;
};
