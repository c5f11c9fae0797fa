import type { Attributes } from '../../domain/attributes.ts';
import { duplicateUser } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import type { ChangeNotice } from '../../domain/happenings.ts';
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
import { takeOperated } from '../storage/events.ts';
import { existingUser, lockedUser } from './account-data.ts';
import { settleEmailChange } from './change-email.ts';
import { removeAccount } from './delete-account.ts';
import { freeUsername } from './import-user.ts';
import { type EndedWays, endUnproven, endWays } from './ways.ts';

export const disableAccount =
  (deps: Core) =>
  (userId: string, origin: Origin, note: string | null = null) =>
    deps.transactions.run(async (stores) => {
      const user = await lockedUser(stores, userId);
      const [now, changed] = [deps.clock.now(), user.disabledAt === null];
      if (changed) await stores.users.update(userId, { disabledAt: now, now });
      if (changed) await record(deps, stores, origin, [{ userId, kind: 'disabled', note }]);
      const { sessions } = await endWays(deps, stores, 'disabled', user, { origin, note });
      return { changed, endedSessions: sessions };
    });

export const enableAccount = (deps: Core) => (userId: string, origin: Origin) =>
  deps.transactions.run(async (stores) => {
    const { disabledAt } = await existingUser(stores, userId);
    if (disabledAt === null) return false;
    const enabled = await stores.users.update(userId, { disabledAt: null, now: deps.clock.now() }, { disabledAt });
    if (enabled !== null) await record(deps, stores, origin, [{ userId, kind: 'enabled' }]);
    return enabled !== null;
  });

/**
 * States attributes about a user, in place of the former ones. Access tokens have them from the next log-in or refresh on.
 * @returns whether they are others.
 */
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

/** Removes an identity at a provider, also the last way in: `makeResetLink` makes another. */
export const unlinkIdentityAsOperator = (deps: Core) => (userId: string, id: string, origin: Origin) =>
  deps.transactions.run(async (stores) => {
    const user = await lockedUser(stores, userId);
    await removeIdentity(deps, stores, { id, userId });
    await recordChange(deps, stores, { kind: 'identity-unlinked', user, origin, added: [] });
  });

/** Forgets the wrong passwords and codes of a user, so that log-ins need not wait. */
export const unlockAccount =
  (deps: Core & { readonly attempts: Pick<LoginAttempts, 'forget'> }) => async (userId: string, origin: Origin) => {
    const user = await deps.transactions.run(async (stores) => {
      const locked = await lockedUser(stores, userId);
      await record(deps, stores, origin, [{ userId, kind: 'unlocked' }]);
      return locked;
    });
    for (const key of attemptKeys(user)) await deps.attempts.forget?.(key);
  };

/** Removes the authenticator apps, recovery codes and passkeys of a user who has lost a device: all of them may be on it. */
export const removeFactorsAsOperator =
  (deps: Core) =>
  (userId: string, origin: Origin): Promise<Omit<EndedWays, 'sessions'>> =>
    deps.transactions.run(async (stores) => {
      const user = await lockedUser(stores, userId);
      const { sessions: _, ...removed } = await endWays(deps, stores, 'factors-removed', user, { origin });
      const kinds: ChangeNotice[] = [
        ...(removed.apps > 0 ? (['second-factor-removed'] as const) : []),
        ...(removed.passkeys > 0 ? (['passkey-removed'] as const) : []),
      ];
      for (const kind of kinds) await notifyOfChange(deps, stores, { kind, user, origin, added: [] });
      return removed;
    });

/**
 * Makes a link that sets a new password, which an operator gives to the user. It proves no address, since nobody knows to whom it was given. Only the
 * hash of its token is stored.
 */
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

/** Takes what operators did in other processes: the audit log has the events of every transaction. @returns how many events. */
export const logOperated =
  ({ transactions }: Pick<Core, 'transactions'>) =>
  (limit: number): Promise<number> =>
    transactions.run(async (stores) => (await takeOperated(stores, limit)).length);

export const deleteAccountAsOperator = (deps: Core) => (userId: string, origin: Origin) =>
  deps.transactions.run((stores) => removeAccount(deps, stores, userId, origin));

type NewAccount = {
  readonly email: string;
  /** `null`: one that is derived from the email. */
  readonly username: string | null;
  readonly attributes: Attributes;
  readonly locale: string | null;
  /** Whether the operator knows that the address is the user's. */
  readonly isProven: boolean;
  /** Whether the address gets a mail with a link that sets a password. */
  readonly sendsLink: boolean;
};

/**
 * Stores an account without a password. Who may register does not matter, nor for whom the address is reserved, and no hook is asked: an operator
 * decides.
 */
export const createAccount =
  (deps: Core) =>
  ({ email: given, username, attributes, locale, isProven, sendsLink }: NewAccount, origin: Origin): Promise<User> =>
    deps.transactions.run(async (stores) => {
      const [email, now] = [canonicalEmail(given), deps.clock.now()];
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

type GivenAddress = Pick<NewAccount, 'isProven'> & {
  /** `null`: the one that the account has. */
  readonly email: string | null;
  /** Whether somebody else had taken the account over, which goes back to its owner. Default: false. */
  readonly isReturned?: boolean;
};

/**
 * Gives an account another address, or takes the present one for proven. One that the operator does not know to be the user's waits until its link is
 * used, as when the user asks for it: it may be mistyped. A former one that was proven is told of another one, and can take the account back for a week.
 * If the account is returned, nothing of who had it is left, and the owner gets a link that sets a password.
 * @returns whether something has changed already.
 */
export const setEmail =
  (deps: Core) =>
  (userId: string, { email: given, isProven, isReturned = false }: GivenAddress, origin: Origin): Promise<boolean> =>
    deps.transactions.run(async (stores) => {
      const before = await lockedUser(stores, userId);
      const [email, now] = [given === null ? before.email : canonicalEmail(given), deps.clock.now()];
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
      const keepsFormer = !isFirst && !isReturned;
      if (isOther) await settleEmailChange(deps, stores, { before, user, origin, keepsFormer });
      else if (isFirst) await record(deps, stores, origin, [{ userId, kind: 'email-verified' }]);
      if (!keepsFormer) await removeUndos(deps, stores, userId, (undo) => undo.email === before.email);
      const locales = user.locale === null ? [] : [user.locale];
      if (isFirst) await endUnproven(deps, stores, user, { isPasswordShown: true, origin, locales });
      if (!isReturned) return isOther || isFirst;
      await endWays(deps, stores, 'returned', user, { origin });
      await record(deps, stores, origin, [{ userId, kind: 'password-reset-requested' }]);
      await enqueue(deps, stores, origin, [{ kind: 'password-reset', userId, to: email }]);
      return true;
    });

/** Sends the link again that proves the address. @returns whether it is not proven. */
export const resendVerification = (deps: Core) => (userId: string, origin: Origin) =>
  deps.transactions.run(async (stores) => {
    const user = await lockedUser(stores, userId);
    if (user.emailVerifiedAt !== null) return false;
    await record(deps, stores, origin, [{ userId, kind: 'email-verification-requested' }]);
    await enqueue(deps, stores, origin, [{ kind: 'email-verification', userId, to: user.email }]);
    return true;
  });
