import type { Attributes } from '../../domain/attributes.ts';
import { duplicateUser } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import { RESET_LIFETIME } from '../../domain/link.ts';
import { NO_PASSWORD } from '../../domain/password.ts';
import { canonicalEmail, newUser, type User } from '../../domain/user.ts';
import { removeIdentity } from '../linked-identities.ts';
import { removeUndos } from '../links.ts';
import { attemptKeys } from '../login/compare-password.ts';
import { notifyOfChange, recordChange } from '../notices.ts';
import type { LoginAttempts } from '../ports/login-attempts.ts';
import { type Core, enqueue, record } from '../service.ts';
import { endSessionOrDevice, endSessionsOf } from '../sessions/end-sessions.ts';
import { putLink } from '../storage/credentials.ts';
import { takeOperatorEvents } from '../storage/events.ts';
import { existingUser, lockedUser } from './account-data.ts';
import { completeEmailChange } from './change-email.ts';
import { freeUsername } from './import-user.ts';
import { removeAccount } from './profile.ts';
import { endUnproven, endWays } from './ways.ts';

export const disableAccount =
  (deps: Core) =>
  (userId: string, origin: Origin, note: string | null = null) =>
    deps.transactions.run(async (stores) => {
      const user = await lockedUser(stores, userId);
      const [now, changed] = [deps.clock.now(), user.disabledAt === null];
      if (changed) await stores.users.update(userId, { disabledAt: now, now });
      if (changed) await record(deps, stores, origin, [{ userId, kind: 'disabled', note }]);
      const { endedSessions } = await endWays(deps, stores, 'disabled', user, { origin, note });
      return { changed, endedSessions };
    });

export const enableAccount = (deps: Core) => (userId: string, origin: Origin) =>
  deps.transactions.run(async (stores) => {
    const { disabledAt } = await existingUser(stores, userId);
    if (disabledAt === null) return false;
    const enabled = await stores.users.update(userId, { disabledAt: null, now: deps.clock.now() }, { disabledAt });
    if (enabled !== null) await record(deps, stores, origin, [{ userId, kind: 'enabled' }]);
    return enabled !== null;
  });

/** Replaces the attributes of a user. @returns whether their JSON differs from that of the former ones. */
export const setAttributes = (deps: Core) => (userId: string, attributes: Attributes, origin: Origin) =>
  deps.transactions.run(async (stores) => {
    const user = await lockedUser(stores, userId);
    if (JSON.stringify(user.attributes) === JSON.stringify(attributes)) return false;
    await stores.users.update(userId, { attributes, now: deps.clock.now() });
    await record(deps, stores, origin, [{ userId, kind: 'attributes-changed' }]);
    return true;
  });

export const endSessionsAsOperator =
  (deps: Core) =>
  (userId: string, origin: Origin, note: string | null = null): Promise<number> =>
    deps.transactions.run((stores) => endSessionsOf(deps, stores, userId, { reason: 'operator', origin, note }));

export const endSessionAsOperator =
  (deps: Core) =>
  async (userId: string, id: string, origin: Origin, note: string | null = null): Promise<void> => {
    await deps.transactions.run(async (stores) => {
      await stores.users.lock(userId);
      await endSessionOrDevice(deps, stores, { id, userId }, { reason: 'operator', origin, note });
    });
  };

/** Removes an identity at a provider, even if it is the last way in: an operator can give the user another one by `mailResetLink` or `makeResetLink`. */
export const unlinkIdentityAsOperator = (deps: Core) => (userId: string, id: string, origin: Origin) =>
  deps.transactions.run(async (stores) => {
    const user = await lockedUser(stores, userId);
    await removeIdentity(deps, stores, { id, userId });
    await recordChange(deps, stores, { kind: 'identity-unlinked', user, origin, added: [] });
  });

type AttemptsDeps = { readonly attempts: Pick<LoginAttempts, 'forget'> };

/** Resets the counts of failed attempts (`attemptKeys`). */
export const unlockAccount = (deps: Core & AttemptsDeps) => (userId: string, origin: Origin) =>
  deps.transactions.run(async (stores) => {
    const user = await lockedUser(stores, userId);
    await record(deps, stores, origin, [{ userId, kind: 'unlocked' }]);
    for (const key of attemptKeys(user)) await deps.attempts.forget?.(key);
  });

/** Ends ways in by the act `factors-removed`, for a user who has lost a device. */
export const removeFactorsAsOperator = (deps: Core) => (userId: string, origin: Origin) =>
  deps.transactions.run(async (stores) => {
    const user = await lockedUser(stores, userId);
    const { endedSessions: _, ...removed } = await endWays(deps, stores, 'factors-removed', user, { origin });
    const notice = { user, origin, added: [] };
    if (removed.apps > 0) await notifyOfChange(deps, stores, { ...notice, kind: 'second-factor-removed' });
    if (removed.passkeys > 0) await notifyOfChange(deps, stores, { ...notice, kind: 'passkey-removed' });
    return removed;
  });

/** Makes a link for a new password that an operator hands over. It proves no address. */
export const makeResetLink =
  (deps: Core) =>
  async ({ id: userId, email }: Pick<User, 'id' | 'email'>, origin: Origin) => {
    const createdAt = deps.clock.now();
    const expiresAt = createdAt + RESET_LIFETIME;
    const token = deps.secrets.random();
    const link = { userId, email, tokenHash: deps.secrets.hashOf(token), since: 0, keeps: null, createdAt, expiresAt };
    await deps.transactions.run(async (stores) => {
      await lockedUser(stores, userId);
      await putLink(stores.records, { ...link, purpose: 'handed-over' });
      await record(deps, stores, origin, [{ userId, kind: 'password-link-handed-over' }]);
    });
    return { token, expiresAt };
  };

export const mailResetLink =
  (deps: Core) =>
  ({ id: userId, email: to }: Pick<User, 'id' | 'email'>, origin: Origin): Promise<void> =>
    deps.transactions.run(async (stores) => {
      await lockedUser(stores, userId);
      await record(deps, stores, origin, [{ userId, kind: 'password-reset-requested' }]);
      await enqueue(deps, stores, origin, [{ kind: 'password-reset', userId, to }]);
    });

/** Gives the listeners the events of operators that were not logged yet (`takeOperatorEvents`). @returns how many. */
export const logOperatorEvents =
  ({ transactions }: Pick<Core, 'transactions'>) =>
  (limit: number): Promise<number> =>
    transactions.run(async (stores) => (await takeOperatorEvents(stores, limit)).length);

export const deleteAccountAsOperator = (deps: Core) => (userId: string, origin: Origin) =>
  deps.transactions.run((stores) => removeAccount(deps, stores, userId, origin));

type NewAccount = Pick<User, 'email' | 'attributes' | 'locale'> & {
  /** `null`: the service derives one from the email. */
  readonly username: string | null;
  /** Whether the operator knows that the address is the user's. */
  readonly isProven: boolean;
  /** Whether the address gets a mail with a link that sets a password. */
  readonly sendsLink: boolean;
};

/** Stores an account without a password. The policy of registrations, a reservation of the address, and the hook `beforeRegister` do not matter. */
export const createAccount =
  (deps: Core) =>
  ({ email: typed, username, attributes, locale, isProven, sendsLink }: NewAccount, origin: Origin): Promise<User> =>
    deps.transactions.run(async (stores) => {
      const [email, now] = [canonicalEmail(typed), deps.clock.now()];
      const user = newUser({
        ...{ id: deps.ids.next(), email, passwordHash: NO_PASSWORD, attributes, locale, now },
        username: username ?? (await freeUsername(deps, stores, { username, email })),
        emailVerifiedAt: isProven ? now : null,
      });
      await stores.users.add(user);
      await record(deps, stores, origin, [{ userId: user.id, kind: 'registered' }]);
      if (sendsLink) await enqueue(deps, stores, origin, [{ kind: 'password-reset', userId: user.id, to: email }]);
      return user;
    });

type AddressChange = Pick<NewAccount, 'isProven'> & {
  /** `null`: the present address stays. */
  readonly email: string | null;
  /** Whether the account goes back to its owner, after somebody else had taken it over. Default: false. */
  readonly isReturned?: boolean;
};

/**
 * Changes the address of an account, or marks the present one as proven. Without `isProven` and `isReturned`, a link in a mail first has
 * to confirm the change. A returned account loses all ways in, and a mail with a link for a new password is requested.
 * @returns `false` if the account has not changed, or not yet.
 */
export const setEmail =
  (deps: Core) =>
  (userId: string, { email: typed, isProven, isReturned = false }: AddressChange, origin: Origin): Promise<boolean> =>
    deps.transactions.run(async (stores) => {
      const before = await lockedUser(stores, userId);
      const [email, now] = [typed === null ? before.email : canonicalEmail(typed), deps.clock.now()];
      const isOther = email !== before.email;
      if (!isProven && !isReturned) {
        if (!isOther) return false;
        if ((await stores.users.findByEmail(email)) !== null) throw duplicateUser('email', 'the address is taken');
        await record(deps, stores, origin, [{ userId, kind: 'email-change-requested' }]);
        await enqueue(deps, stores, origin, [{ kind: 'email-change', userId, to: email }]);
        return false;
      }
      const isFirst = before.emailVerifiedAt === null;
      if (isOther || isFirst) await stores.users.update(userId, { email, emailVerifiedAt: now, now });
      const user = { ...before, email };
      const isUndoable = !isFirst && !isReturned;
      if (isOther) await completeEmailChange(deps, stores, { before, user, origin, isUndoable });
      else if (isFirst) await record(deps, stores, origin, [{ userId, kind: 'email-verified' }]);
      if (!isUndoable) await removeUndos(deps, stores, userId, (undo) => undo.email === before.email);
      const locales = user.locale === null ? [] : [user.locale];
      if (isFirst) await endUnproven(deps, stores, user, { isPasswordShown: true, origin, locales });
      if (!isReturned) return isOther || isFirst;
      await endWays(deps, stores, 'returned', user, { origin });
      await record(deps, stores, origin, [{ userId, kind: 'password-reset-requested' }]);
      await enqueue(deps, stores, origin, [{ kind: 'password-reset', userId, to: email }]);
      return true;
    });

/** Requests another mail with a link that proves the address. @returns `false` if the address is proven already. */
export const resendVerification = (deps: Core) => (userId: string, origin: Origin) =>
  deps.transactions.run(async (stores) => {
    const user = await lockedUser(stores, userId);
    if (user.emailVerifiedAt !== null) return false;
    await record(deps, stores, origin, [{ userId, kind: 'email-verification-requested' }]);
    await enqueue(deps, stores, origin, [{ kind: 'email-verification', userId, to: user.email }]);
    return true;
  });
