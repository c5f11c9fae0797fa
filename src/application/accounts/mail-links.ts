import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { type Link, survivesUndo, type UndoPurpose } from '../../domain/link.ts';
import { assertPasswordAllowed } from '../../domain/password.ts';
import { canonicalEmail, isImported, type User } from '../../domain/user.ts';
import { findLink, invalidLink, removeUndos, reservationOf, useLink } from '../links.ts';
import { notifiesFormerAddress } from '../notices.ts';
import { type Core, enqueue, NEVER_CANCELLED, record, type Service } from '../service.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { verifiedTokens } from '../sessions/tokens.ts';
import { deleteLinks } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import { removeAccount } from './profile.ts';
import { endUnproven, endWays, proveAddress } from './ways.ts';

/** Requests a link that sets a new password. The account is looked up only when the mail is sent, so that the response time does not show whether it exists. */
export const requestPasswordReset =
  (deps: Service) =>
  (email: string, origin: Origin = NO_ORIGIN): Promise<void> =>
    enqueue(deps, deps, origin, [{ kind: 'password-reset-request', userId: null, to: canonicalEmail(email) }]);

const RESET_PURPOSES = ['password-reset', 'handed-over'] as const;

export const previewPasswordReset = (deps: Service) => async (token: string) => {
  const link = await findLink(deps, deps, token, ...RESET_PURPOSES);
  const { username } = ownerOf(link, await deps.users.findById(link.userId));
  return { username };
};

type ResetPasswordInput = ClientContext & { readonly token: string; readonly newPassword: string };

/** Sets a new password by a link, and ends all sessions of the user. A link that was mailed also proves the address. */
export const resetPassword =
  (deps: Service) =>
  async (input: ResetPasswordInput, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { token, newPassword, refreshTokens = [], locales = [], origin = NO_ORIGIN } = input;
    const link = await findLink(deps, deps, token, ...RESET_PURPOSES);
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
      await notifyOfReset(deps, stores, link, origin);
      cancellation.throwIfAborted();
    });
  };

/** The user of a link. @throws AppError AUTH_LINK_INVALID if the account is deleted or disabled, or has another address by now */
const ownerOf = (link: Link, user: User | null): User => {
  if (user === null || user.email !== link.email) throw invalidLink('the address of the account was changed');
  if (user.disabledAt !== null) throw invalidLink('the account is disabled');
  return user;
};

/** Sends the notices of a reset that are switched on. While a former address is reserved, both addresses get a notice that says until when. */
const notifyOfReset = async (deps: Service, stores: Stores, { userId, email, purpose }: Link, origin: Origin) => {
  const former = await reservationOf(deps, stores, userId);
  const kind = 'email-change-final';
  if (former !== null && former.email !== email && notifiesFormerAddress(deps))
    await enqueue(deps, stores, origin, [
      { kind, userId, to: former.email },
      { kind, userId, to: email },
    ]);
  // The text of `password-was-reset` speaks of a link in a mail. A link that an operator has handed over was in no mail.
  const notice = purpose === 'handed-over' ? 'password-changed' : 'password-was-reset';
  if (deps.mailNotices?.has('password')) await enqueue(deps, stores, origin, [{ kind: notice, userId, to: email }]);
};

/** Requests another link that verifies an address. The account is looked up only when the mail is sent. */
export const requestEmailVerification =
  (deps: Service) =>
  (email: string, origin = NO_ORIGIN): Promise<void> =>
    enqueue(deps, deps, origin, [{ kind: 'email-verification-request', userId: null, to: canonicalEmail(email) }]);

type EmailConfirmation = ClientContext & { readonly token: string };

/** Proves an address, if the user still has it. The password stays, since the mail has named the account. */
export const confirmEmail =
  (deps: Service) =>
  async ({ token, refreshTokens = [], locales = [], origin = NO_ORIGIN }: EmailConfirmation): Promise<void> => {
    await deps.transactions.run(async (stores) => {
      const verified = await verifiedTokens(deps, refreshTokens);
      const link = await findLink(deps, stores, token, 'email-verification');
      const user = await stores.users.lock(link.userId);
      if (user?.email !== link.email) throw invalidLink('the address is not that of the user any more');
      await useLink(deps, stores, link);
      await proveAddress(deps, stores, user, { isPasswordShown: true, verified, locales, origin });
      await deleteLinks(stores.records, user.id, ['not-me']);
    });
  };

/**
 * "I did not register": removes an account whose address is that of the link, and unproven. Imported accounts stay. Disabled ones stay as well: otherwise
 * their users could delete the events that led to the disabling.
 */
export const removeUnverifiedAccount =
  (deps: Core) =>
  (token: string, origin = NO_ORIGIN): Promise<void> =>
    deps.transactions.run(async (stores) => {
      const link = await findLink(deps, stores, token, 'not-me');
      const { userId, email } = link;
      const user = await stores.users.lock(userId);
      const isUnproven = user?.email === email && user.emailVerifiedAt === null;
      if (!isUnproven || user.disabledAt !== null || isImported(user))
        throw invalidLink('the address was verified, or the account is disabled or was imported');
      await useLink(deps, stores, link);
      await removeAccount(deps, stores, userId, origin);
    });

/**
 * Undoes a change of the address or of the ways in, or a log-in on a new device: restores the address of the link, and ends ways in. Among them are the
 * password and all sessions, since somebody else may have them. A mail with a link for a new password is requested.
 */
export const takeAccountBack =
  (deps: Core, purpose: UndoPurpose) =>
  ({ token, locales = [], origin = NO_ORIGIN }: ClientContext & { readonly token: string }): Promise<void> =>
    deps.transactions.run(async (stores) => {
      const link = await findLink(deps, stores, token, purpose);
      const { userId, email } = link;
      const before = await stores.users.lock(userId);
      if (before === null) throw invalidLink('the user does not exist');
      const isFirst = await isFirstProof(deps, stores, before, link);
      await useLink(deps, stores, link);
      const now = deps.clock.now();
      const user = (await stores.users.update(userId, { email, emailVerifiedAt: now, now })) ?? before;
      const act = before.email === email ? 'factors-undone' : 'email-change-undone';
      await record(deps, stores, origin, [{ userId, kind: act }]);
      const isImported = ({ id }: { readonly id: string }) => user.importedFactors?.includes(id) ?? false;
      await endWays(deps, stores, act, user, { origin, keeps: (way) => survivesUndo(link, way) || isImported(way) });
      if (isFirst) await endUnproven(deps, stores, user, { origin, locales });
      await removeLaterUndos(deps, stores, before, link);
      await enqueue(deps, stores, origin, [
        { kind: act, userId, to: email },
        { kind: 'password-reset', userId, to: email },
      ]);
    });

/** Whether an undo is the first proof of its address. In the reservation of an unproven former address, `keeps` is `null`, and `since` 0. */
const isFirstProof = async (deps: Core, stores: Stores, before: User, { email }: Link): Promise<boolean> => {
  if (before.email === email) return before.emailVerifiedAt === null;
  const reservation = await reservationOf(deps, stores, before.id);
  return reservation?.email === email && reservation.keeps === null && reservation.since === 0;
};

/** Removes the links of the same address that undo this change or later ones, and those of other addresses if the used link has restored a former address. */
const removeLaterUndos = (deps: Core, stores: Stores, { id, email: before }: User, { email, since }: Link) =>
  removeUndos(deps, stores, id, (undo) => (undo.email === email ? undo.since >= since : before !== email));
