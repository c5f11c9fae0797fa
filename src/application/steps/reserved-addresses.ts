import { duplicateUser } from '../../domain/errors/app-error.ts';
import { type Link, UNDO_AFTER_RESET, UNDO_LIFETIME } from '../../domain/link.ts';
import type { User } from '../../domain/user.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import type { LinkDeps } from './links.ts';

/** Whether an address is reserved for its former user, who can still take it back (ADR 0050). */
export const isReserved = async (
  { clock }: Pick<LinkDeps, 'clock'>,
  { links }: Pick<Stores, 'links'>,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<boolean> => {
  const undos = await links.listByEmail('email-change-undo', email, clock.now());
  return undos.some(({ userId }) => userId !== id);
};

/**
 * Called after the user has taken the address, in the same unit of work: a former user who gives it up at the same time has reserved it
 * by then.
 * @throws AppError AUTH_USER_DUPLICATE
 */
export const assertNotReserved = async (
  deps: Pick<LinkDeps, 'clock'>,
  stores: Pick<Stores, 'links'>,
  user: Pick<User, 'id' | 'email'>,
): Promise<void> => {
  if (await isReserved(deps, stores, user)) throw duplicateUser('email', 'the address is reserved');
};

/** The link with which a user can take a former address back; `null` when there is none. */
export const reservationOf = async (
  { clock }: Pick<LinkDeps, 'clock'>,
  { links }: Pick<Stores, 'links'>,
  userId: string,
): Promise<Link | null> => {
  const live = await links.listByUser(userId, clock.now());
  return live.find(({ purpose }) => purpose === 'email-change-undo') ?? null;
};

/** Shortens a reservation to a day from now. @returns the reserved address; `null` when there is none. */
export const shortenReservation = async (
  deps: Pick<LinkDeps, 'clock'>,
  stores: Pick<Stores, 'links'>,
  userId: string,
): Promise<string | null> => {
  const reservation = await reservationOf(deps, stores, userId);
  if (reservation === null) return null;
  const expiresAt = Math.min(reservation.expiresAt, deps.clock.now() + UNDO_AFTER_RESET);
  await stores.links.put({ ...reservation, expiresAt });
  return reservation.email;
};

/** Reserves an address, with a link whose token nobody has. The mail to the address replaces it by a link that can be used. */
export const reserveAddress = async (
  { linkTokens, clock }: LinkDeps,
  { links }: Pick<Stores, 'links'>,
  { id: userId, email }: Pick<User, 'id' | 'email'>,
): Promise<void> => {
  const now = clock.now();
  const link: Omit<Link, 'tokenHash'> = {
    userId,
    purpose: 'email-change-undo',
    email,
    createdAt: now,
    expiresAt: now + UNDO_LIFETIME,
  };
  await links.put({ ...link, tokenHash: linkTokens.hashOf(linkTokens.next()) });
};
