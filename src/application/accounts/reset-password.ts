import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { Link } from '../../domain/link.ts';
import { assertPasswordAllowed } from '../../domain/password.ts';
import { canonicalEmail, type User } from '../../domain/user.ts';
import { findLink, invalidLink, reservationOf, useLink } from '../links.ts';
import { notifiesFormerAddress } from '../notices.ts';
import { enqueue, NEVER_CANCELLED, record, type Service } from '../service.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { verifiedTokens } from '../sessions/tokens.ts';
import type { Stores } from '../storage/stores.ts';
import { endWays } from './end-ways.ts';
import { proveAddress } from './prove-address.ts';

/**
 * Requests a link with which the owner of an address can choose a new password. Whether the address has an account is looked up only when
 * the message is sent, so that the response time is the same for every address.
 */
export const requestPasswordReset =
  (deps: Service) =>
  (email: string, origin: Origin = NO_ORIGIN): Promise<void> =>
    enqueue(deps, deps, origin, [{ kind: 'password-reset-request', userId: null, to: canonicalEmail(email) }]);

const RESETS = ['password-reset', 'handed-over'] as const;

/** Shows whose password a link sets, without using the link up. */
export const previewPasswordReset =
  (deps: Service) =>
  async (token: string): Promise<Pick<User, 'username'>> => {
    const link = await findLink(deps, deps, token, ...RESETS);
    const { username } = ownerOf(link, await deps.users.findById(link.userId));
    return { username };
  };

type ResetPasswordInput = ClientContext & { readonly token: string; readonly newPassword: string };

/**
 * Sets a new password with a link, and ends all sessions of the user. A link that was sent to the address of the account proves it. Only a live link
 * causes a hash.
 */
export const resetPassword =
  (deps: Service) =>
  async (input: ResetPasswordInput, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { token, newPassword, refreshTokens = [], locales = [], origin = NO_ORIGIN } = input;
    const link = await findLink(deps, deps, token, ...RESETS);
    const user = ownerOf(link, await deps.users.findById(link.userId));
    await assertPasswordAllowed(deps, { ...user, password: newPassword }, 'newPassword');
    cancellation.throwIfAborted();
    const passwordHash = await deps.hasher.hash(newPassword);
    const verified = await verifiedTokens(deps, refreshTokens);
    cancellation.throwIfAborted();
    await deps.transactions.run(async (stores) => {
      const locked = ownerOf(link, await stores.users.lock(link.userId));
      await useLink(deps, stores, link);
      const proof = { verified, isPasswordShown: true, locales, origin };
      if (link.purpose === 'password-reset') await proveAddress(deps, stores, locked, proof);
      await record(deps, stores, origin, [{ userId: user.id, kind: 'password-reset' }]);
      await endWays(deps, stores, 'password-reset', locked, { origin, passwordHash });
      await notify(deps, stores, link, origin);
      cancellation.throwIfAborted();
    });
  };

/** The user of a link, if the account still has the address that it was made for. @throws AppError AUTH_LINK_INVALID */
const ownerOf = (link: Link, user: User | null): User => {
  if (user === null || user.email !== link.email) throw invalidLink('the address of the account was changed');
  if (user.disabledAt !== null) throw invalidLink('the account is disabled');
  return user;
};

/**
 * The user is told, and what the account still has. A former address can still take the account back, and both are told until when. A reset by the new
 * one shortens nothing: it may be the address of somebody who knew the password.
 */
const notify = async (deps: Service, stores: Stores, { userId, email }: Link, origin: Origin) => {
  const former = await reservationOf(deps, stores, userId);
  const kind = 'email-change-final';
  if (former !== null && former.email !== email && notifiesFormerAddress(deps))
    await enqueue(deps, stores, origin, [
      { kind, userId, to: former.email },
      { kind, userId, to: email },
    ]);
  if (deps.notices?.has('password'))
    await enqueue(deps, stores, origin, [{ kind: 'password-was-reset', userId, to: email }]);
};
