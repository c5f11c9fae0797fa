import { duplicateUser } from '../../domain/errors/app-error.ts';
import { type Link, UNDO_AFTER_RESET, UNDO_LIFETIME } from '../../domain/link.ts';
import type { User } from '../../domain/user.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import type { LinkDeps } from './links.ts';

/** Whether the former user of an address can still take it back, so that nobody else may have it (ADR 0050). */
export const isHeld = async (
  { clock }: Pick<LinkDeps, 'clock'>,
  { links }: Pick<Stores, 'links'>,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<boolean> => {
  const undos = await links.listByEmail('email-change-undo', email, clock.now());
  return undos.some(({ userId }) => userId !== id);
};

/**
 * Called after the user has got the address, in the same unit of work: the one who gives it up at the same time holds it from
 * the moment on at which it is free.
 * @throws AppError AUTH_USER_DUPLICATE
 */
export const assertNotHeld = async (
  deps: Pick<LinkDeps, 'clock'>,
  stores: Pick<Stores, 'links'>,
  user: Pick<User, 'id' | 'email'>,
): Promise<void> => {
  if (await isHeld(deps, stores, user)) throw duplicateUser('email', 'the address is held');
};

/** The link about the address that a user has given up and can still take back; `null` when there is none. */
export const heldBy = async (
  { clock }: Pick<LinkDeps, 'clock'>,
  { links }: Pick<Stores, 'links'>,
  userId: string,
): Promise<Link | null> => {
  const live = await links.listByUser(userId, clock.now());
  return live.find(({ purpose }) => purpose === 'email-change-undo') ?? null;
};

/** Lets an address be held for a day at most from now on. @returns the address; `null` when none is held. */
export const endHoldSoon = async (
  deps: Pick<LinkDeps, 'clock'>,
  stores: Pick<Stores, 'links'>,
  userId: string,
): Promise<string | null> => {
  const held = await heldBy(deps, stores, userId);
  if (held === null) return null;
  const expiresAt = Math.min(held.expiresAt, deps.clock.now() + UNDO_AFTER_RESET);
  await stores.links.put({ ...held, expiresAt });
  return held.email;
};

/** Holds an address from now on, with a link that nobody has. The message to the address brings the one that replaces it. */
export const hold = async (
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
