import type { Attributes } from '../../domain/attributes.ts';
import { duplicateUser } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import { NO_PASSWORD } from '../../domain/password.ts';
import { canonicalEmail, newUser, type User } from '../../domain/user.ts';
import { removeUndos } from '../links.ts';
import { type Core, enqueue, record } from '../service.ts';
import { lockedUser } from './account-data.ts';
import { settleEmailChange } from './change-email.ts';
import { endWays } from './end-ways.ts';
import { freeUsername } from './import-user.ts';
import { endUnproven } from './prove-address.ts';

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
export const resendVerification =
  (deps: Core) =>
  (userId: string, origin: Origin): Promise<boolean> =>
    deps.transactions.run(async (stores) => {
      const user = await lockedUser(stores, userId);
      if (user.emailVerifiedAt !== null) return false;
      await record(deps, stores, origin, [{ userId, kind: 'email-verification-requested' }]);
      await enqueue(deps, stores, origin, [{ kind: 'email-verification', userId, to: user.email }]);
      return true;
    });
