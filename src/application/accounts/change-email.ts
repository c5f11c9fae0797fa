import { AppError, invalidField } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { type Link, UNDO_LIFETIME } from '../../domain/link.ts';
import { assertDomainAllowed } from '../../domain/registration.ts';
import { isLive, type SessionKey } from '../../domain/session.ts';
import { canonicalEmail, type User } from '../../domain/user.ts';
import { findLink, invalidLink, removeUndos, reservationOf, reserveAddress, useLink } from '../links.ts';
import { comparePassword, loginAttempts } from '../login/compare-password.ts';
import { notifiesFormerAddress } from '../notices.ts';
import { type Core, enqueue, NEVER_CANCELLED, record, type Service } from '../service.ts';
import { replaceSession, runReplacing } from '../sessions/open-session.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { hookClaimsFor, type TokenPair } from '../sessions/tokens.ts';
import { countEvents } from '../storage/events.ts';
import type { Stores } from '../storage/records.ts';
import { type Confirmation, confirmedOwner } from './confirm-owner.ts';
import { endUnproven, endWays } from './ways.ts';

/** Requests of a user beyond this number within an hour get the same response, and no mail. */
const REQUESTS_PER_HOUR = 5;
const HOUR = 3_600_000;

/**
 * Requests a mail to a new address, with a link that changes the address. The user confirms the request by the password or a code by mail. Whether the new
 * address has an account is not looked up.
 */
export const requestEmailChange =
  (deps: Service) =>
  async (input: Confirmation & { readonly email: string }, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { origin = NO_ORIGIN, sessionId } = input;
    assertDomainAllowed(deps.registration, input.email);
    const { user, lock } = await confirmedOwner(deps, input);
    cancellation.throwIfAborted();
    const userId = user.id;
    const to = canonicalEmail(input.email);
    if (to === user.email) return;
    await deps.transactions.run(async (stores) => {
      // `lock` refuses if the password was changed meanwhile: that change has withdrawn such links, so this request must add none.
      await lock(stores);
      const requests = await countEvents(stores.records, userId, 'email-change-requested', deps.clock.now() - HOUR);
      if (requests >= REQUESTS_PER_HOUR) return;
      await record(deps, stores, origin, [{ userId, kind: 'email-change-requested', sessionId }]);
      await enqueue(deps, stores, origin, [{ kind: 'email-change', userId, to }]);
    });
  };

/**
 * Shows whose address a link changes, and does not use the link up.
 * @returns `undoUntil`: until when, at least, a former address is reserved after the change; `null`: none is
 */
export const previewEmailChange = (deps: Service) => async (token: string) => {
  const { userId, email } = await findLink(deps, deps, token, 'email-change');
  const user = await deps.users.findById(userId);
  if (user === null || user.disabledAt !== null) throw invalidLink(NO_USER);
  const reservation = await reservationOf(deps, deps, userId);
  const { username, createdAt } = user;
  if (reservation !== null)
    return { username, createdAt, undoUntil: reservation.email === email ? null : reservation.expiresAt };
  return { username, createdAt, undoUntil: notifiesFormerAddress(deps) ? deps.clock.now() + UNDO_LIFETIME : null };
};

type EmailConfirmation = ClientContext & {
  readonly token: string;
  /** The session of the access token, if the request has a valid one. */
  readonly session?: SessionKey | undefined;
  /** Required if the request has no live session of the account. */
  readonly password?: string | undefined;
};

/**
 * Changes the address of a user to the one to which the link was sent, and so verifies it. The link alone is not enough: an attacker may have requested
 * a change to the address of somebody else, who would then use the attacker's account.
 * @returns the tokens of the new session; `null` when the password has confirmed the change.
 */
export const confirmEmailChange =
  (deps: Service) =>
  async (confirmation: EmailConfirmation, cancellation = NEVER_CANCELLED): Promise<TokenPair | null> => {
    const { token, locales = [], origin = NO_ORIGIN } = confirmation;
    const link = await findLink(deps, deps, token, 'email-change');
    const { userId, email } = link;
    // The allowed domains may have changed since the link was sent.
    assertDomainAllowed(deps.registration, email);
    const sessionId = await assertOwner(deps, link, confirmation);
    const change = { email, emailVerifiedAt: deps.clock.now() };
    const hookClaims = sessionId === null ? null : await hookClaimsFor(deps, { id: sessionId, userId }, change);
    cancellation.throwIfAborted();
    return runReplacing(deps, userId, cancellation, async (stores) => {
      const before = await stores.users.lock(userId);
      await useLink(deps, stores, link);
      const now = deps.clock.now();
      const user = await stores.users.update(userId, { email, emailVerifiedAt: now, now }, { disabledAt: null });
      if (before === null || user === null) throw invalidLink(NO_USER);
      await completeEmailChange(deps, stores, { before, user, origin });
      if (before.emailVerifiedAt === null && sessionId === null)
        await endUnproven(deps, stores, user, { isPasswordShown: true, origin, locales });
      return sessionId === null ? null : replaceSession(deps, stores, { user, sessionId, origin, hookClaims });
    });
  };

const NO_USER = 'the user does not exist, or is disabled';

/** @returns the id of the session that confirms the change; `null` when the password does. Wrong passwords count as at log-ins (ADR 0008). */
const assertOwner = async (deps: Service, { userId }: Link, { session, password, networks }: EmailConfirmation) => {
  const own = session?.userId === userId ? await deps.sessions.find(session) : null;
  if (own !== null && isLive(own, deps.clock.now())) return own.id;
  const message = 'is required without a session of the account';
  if (password === undefined) throw invalidField({ field: 'password', message, code: 'required' });
  const user = await deps.users.findById(userId);
  if (user === null) throw invalidLink(NO_USER);
  const candidates = loginAttempts(user.username, user, { networks });
  const matches = await comparePassword(deps, candidates, password, user);
  if (!matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
  return null;
};

/** Ends ways in after a change of an address, in its transaction, and records the change. If `isUndoable`, the former address may be reserved and notified. */
export const completeEmailChange = async (
  deps: Core,
  stores: Stores,
  { before, user, origin, isUndoable = true }: CompletedChange,
): Promise<void> => {
  const { id: userId, email } = user;
  await endWays(deps, stores, 'email-changed', before, { origin });
  await record(deps, stores, origin, [{ userId, kind: 'email-changed' }]);
  if (!isUndoable) return;
  await reserveFormerAddress(deps, stores, before);
  if (!notifiesFormerAddress(deps)) return;
  const wasVerified = before.emailVerifiedAt !== null;
  await enqueue(deps, stores, origin, [{ kind: 'email-changed', userId, to: before.email, email, wasVerified }]);
};

type CompletedChange = {
  readonly before: User;
  readonly user: User;
  readonly origin: Origin;
  readonly isUndoable?: boolean;
};

/**
 * Reserves the former address for its user, if mails about changes of the address are on. While one address is reserved, another one that the user gives
 * up is not: it may be an attacker's. An address that the user takes again, and gives up again, is reserved for another week.
 */
const reserveFormerAddress = async (deps: Core, stores: Stores, before: User) => {
  const reservation = await reservationOf(deps, stores, before.id);
  const isLater = reservation !== null && reservation.email !== before.email;
  if (!isLater && notifiesFormerAddress(deps)) await reserveAddress(deps, stores, before);
  else if (isLater || before.emailVerifiedAt === null)
    await removeUndos(deps, stores, before.id, (undo) => undo.email === before.email);
};
