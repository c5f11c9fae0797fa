import { AppError, duplicateUser } from '../../domain/errors/app-error.ts';
import { type Link, type LinkPurpose, UNDO_LIFETIME, UNDO_PURPOSES } from '../../domain/link.ts';
import type { MessageKind } from '../../domain/message.ts';
import type { User } from '../../domain/user.ts';
import type { Clock } from '../ports/clock-and-ids.ts';
import type { RandomSecrets } from '../ports/secrets.ts';
import type { Stores } from '../ports/transactions.ts';

export type LinkDeps = { readonly secrets: RandomSecrets; readonly clock: Clock };

export const invalidLink = (reason: string): AppError => new AppError('AUTH_LINK_INVALID', { reason });

const NOT_LIVE = 'there is no such link any more';

/** Finds the link of a token, without using it. @throws AppError AUTH_LINK_INVALID */
export const findLink = async (
  { secrets, clock }: LinkDeps,
  { links }: Pick<Stores, 'links'>,
  purpose: LinkPurpose,
  token: string,
): Promise<Link> => {
  const link = await links.find(purpose, secrets.hashOf(token), clock.now());
  if (link === null) throw invalidLink(NOT_LIVE);
  return link;
};

/**
 * Uses a link: one of several concurrent callers succeeds. The transaction has locked the user before, as all do, so that none deadlocks.
 * @throws AppError AUTH_LINK_INVALID
 */
export const useLink = async (
  { clock }: Pick<LinkDeps, 'clock'>,
  { links }: Pick<Stores, 'links'>,
  { purpose, tokenHash }: Pick<Link, 'purpose' | 'tokenHash'>,
): Promise<void> => {
  const taken = await links.take(purpose, tokenHash, clock.now());
  if (taken === null) throw invalidLink(NOT_LIVE);
};

/** The kind of message that sends the links of each purpose. Those about factors are notices, which are sent in any case. */
const SENT_IN: Readonly<Partial<Record<LinkPurpose, MessageKind>>> = {
  'password-reset': 'password-reset',
  'email-verification': 'email-verification',
  'not-me': 'email-verification',
  'email-change': 'email-change',
  'email-change-undo': 'email-changed',
};

/**
 * Removes links of a user, and the messages that would send new ones. The messages come first: a message that is being prepared is locked
 * until its links are stored.
 */
export const withdrawLinks = async (
  { links, outbox }: Pick<Stores, 'links' | 'outbox'>,
  userId: string,
  purposes: readonly LinkPurpose[],
): Promise<void> => {
  const kinds = purposes.map((purpose) => SENT_IN[purpose]);
  const waiting = (await outbox.listByUser(userId)).filter(({ kind }) => kinds.includes(kind));
  await outbox.remove(waiting.map(({ id }) => id));
  await links.removeOfUser(userId, purposes);
};

/** Whether an address is reserved for its former user, who can still take it back (ADR 0010). */
export const isReserved = async (
  { clock }: Pick<LinkDeps, 'clock'>,
  { links }: Pick<Stores, 'links'>,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<boolean> => {
  const undos = await links.listByEmail('email-change-undo', email, clock.now());
  return undos.some(({ userId }) => userId !== id);
};

/**
 * After the user has got the address, in the same transaction: a former user who gives it up at the same time has reserved it by then.
 * @throws AppError AUTH_USER_DUPLICATE
 */
export const assertNotReserved = async (
  deps: Pick<LinkDeps, 'clock'>,
  stores: Pick<Stores, 'links'>,
  user: Pick<User, 'id' | 'email'>,
): Promise<void> => {
  if (await isReserved(deps, stores, user)) throw duplicateUser('email', 'the address is reserved');
};

/** The live links with which the account of a user can be taken back. */
export const undosOf = async (
  { clock }: Pick<LinkDeps, 'clock'>,
  { links }: Pick<Stores, 'links'>,
  userId: string,
): Promise<Link[]> => {
  const live = await links.listByUser(userId, clock.now());
  return live.filter(({ purpose }) => UNDO_PURPOSES.some((each) => each === purpose));
};

/** The link with which a user can take a former address back; `null` when there is none. */
export const reservationOf = async (
  deps: Pick<LinkDeps, 'clock'>,
  stores: Pick<Stores, 'links'>,
  userId: string,
): Promise<Link | null> => {
  const undos = await undosOf(deps, stores, userId);
  return undos.find(({ purpose }) => purpose === 'email-change-undo') ?? null;
};

/** Removes the links of a user that undo changes and match. */
export const removeUndos = async (
  deps: Pick<LinkDeps, 'clock'>,
  stores: Pick<Stores, 'links'>,
  userId: string,
  matches: (undo: Link) => boolean,
): Promise<void> => {
  for (const undo of (await undosOf(deps, stores, userId)).filter(matches))
    await stores.links.take(undo.purpose, undo.tokenHash, deps.clock.now());
};

/**
 * Reserves an address, with a link whose token nobody has. The mail to the address replaces it by a link that can be used. It undoes what a
 * link of a factor could have undone before the change, and everything if the address was never proven.
 */
export const reserveAddress = async (
  { secrets, clock }: LinkDeps,
  { links }: Pick<Stores, 'links'>,
  { id: userId, email, emailVerifiedAt }: Pick<User, 'id' | 'email' | 'emailVerifiedAt'>,
): Promise<void> => {
  const now = clock.now();
  const link: Omit<Link, 'tokenHash'> = {
    userId,
    purpose: 'email-change-undo',
    email,
    since: emailVerifiedAt === null ? 0 : now - UNDO_LIFETIME,
    createdAt: now,
    expiresAt: now + UNDO_LIFETIME,
  };
  await links.put({ ...link, tokenHash: secrets.hashOf(secrets.random()) });
};
