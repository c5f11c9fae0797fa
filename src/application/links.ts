import { AppError, duplicateUser } from '../domain/errors/app-error.ts';
import { FACTOR_UNDOS_KEPT, type Link, type LinkPurpose, UNDO_LIFETIME, UNDO_PURPOSES } from '../domain/link.ts';
import type { MessageKind } from '../domain/message.ts';
import { isConfirmed } from '../domain/second-factor.ts';
import type { User } from '../domain/user.ts';
import type { Core } from './service.ts';
import {
  codesOf,
  deleteLinks,
  factorsOf,
  identitiesOf,
  linkByToken,
  linksAbout,
  linksOf,
  passkeysOf,
  putLink,
  takeLink,
} from './storage/credentials.ts';
import { deleteMessages, messagesOf } from './storage/outbox.ts';
import type { Stores } from './storage/records.ts';

export const invalidLink = (reason: string): AppError => new AppError('AUTH_LINK_INVALID', { reason });

const NOT_LIVE = 'there is no such link any more';

export const findLink = async (
  { secrets, clock }: Core,
  { records }: Stores,
  token: string,
  ...purposes: readonly LinkPurpose[]
): Promise<Link> => {
  for (const purpose of purposes) {
    const link = await linkByToken(records, purpose, secrets.hashOf(token), clock.now());
    if (link !== null) return link;
  }
  throw invalidLink(NOT_LIVE);
};

/** Uses a link: one of several concurrent callers succeeds. The transaction has locked the user before, as all do, so that none deadlocks. */
export const useLink = async (
  { clock }: Core,
  { records }: Stores,
  { purpose, tokenHash }: Pick<Link, 'purpose' | 'tokenHash'>,
): Promise<void> => {
  const taken = await takeLink(records, purpose, tokenHash, clock.now());
  if (taken === null) throw invalidLink(NOT_LIVE);
};

/** The kind of message that sends the links of each purpose. Those about factors are notices, which are sent in any case. */
const SENT_IN: Readonly<Partial<Record<LinkPurpose, MessageKind>>> = {
  'password-reset': 'password-reset',
  'email-verification': 'email-verification',
  'not-me': 'email-verification',
  'email-change': 'email-change',
  'confirmation-code': 'confirmation-code',
  'email-change-undo': 'email-changed',
};

/**
 * Removes links of a user, and the messages that would send new ones. The messages come first: a message that is being prepared is locked
 * until its links are stored.
 */
export const withdrawLinks = async ({ records }: Stores, userId: string, purposes: readonly LinkPurpose[]) => {
  const kinds = purposes.map((purpose) => SENT_IN[purpose]);
  const waiting = (await messagesOf(records, userId)).filter(({ kind }) => kinds.includes(kind));
  await deleteMessages(
    records,
    waiting.map(({ id }) => id),
  );
  await deleteLinks(records, userId, purposes);
};

/** Whether an address is reserved for its former user, who can still take it back: from all who do not prove it (ADR 0010). */
export const isReserved = async (
  { clock }: Pick<Core, 'clock'>,
  { records }: Pick<Stores, 'records'>,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<boolean> => {
  const undos = await linksAbout(records, 'email-change-undo', email, clock.now());
  return undos.some(({ userId }) => userId !== id);
};

/** After the user has got the address, in the same transaction: a former user who gives it up at the same time has reserved it by then. */
export const assertNotReserved = async (deps: Core, stores: Stores, user: Pick<User, 'id' | 'email'>) => {
  if (await isReserved(deps, stores, user)) throw duplicateUser('email', 'the address is reserved');
};

/** The live links with which the account of a user can be taken back. */
const undosOf = async ({ clock }: Core, { records }: Stores, userId: string): Promise<Link[]> => {
  const live = await linksOf(records, userId, clock.now());
  return live.filter(({ purpose }) => UNDO_PURPOSES.some((each) => each === purpose));
};

/** The link with which a user can take a former address back; `null` when there is none. */
export const reservationOf = async (deps: Core, stores: Stores, userId: string): Promise<Link | null> => {
  const undos = await undosOf(deps, stores, userId);
  return undos.find(({ purpose }) => purpose === 'email-change-undo') ?? null;
};

export const removeUndos = async (deps: Core, stores: Stores, userId: string, matches: (undo: Link) => boolean) => {
  for (const undo of (await undosOf(deps, stores, userId)).filter(matches))
    await takeLink(stores.records, undo.purpose, undo.tokenHash, deps.clock.now());
};

/** The ids of the ways into an account that an undo may have to leave. @param added not these */
export const waysNow = async ({ records }: Stores, userId: string, added: readonly string[]) => {
  const stored = [passkeysOf(records, userId), factorsOf(records, userId), identitiesOf(records, userId)] as const;
  const [keys, apps, others] = await Promise.all(stored);
  const ids = [...keys, ...apps.filter(isConfirmed), ...others].map(({ id }) => id);
  return [...ids, ...(await codesOf(records, userId))].filter((id) => !added.includes(id));
};

type Undo = Pick<Link, 'purpose' | 'since' | 'keeps'>;

/** Stores a link whose token nobody has: the mail to the address replaces it by one that can be used. */
const reserveLink = async ({ secrets, clock }: Core, { records }: Stores, { id: userId, email }: Owner, undo: Undo) => {
  const createdAt = clock.now();
  const tokenHash = secrets.hashOf(secrets.random());
  await putLink(records, { ...undo, userId, email, tokenHash, createdAt, expiresAt: createdAt + UNDO_LIFETIME });
};

type Owner = Pick<User, 'id' | 'email'>;

/**
 * Reserves what the mail about a change of the ways into an account can undo: the change, and all that comes after it. Of many, the first ones
 * stay, since each undoes all that came after it. In a transaction that has locked the user.
 * @param added what the change has added. @returns the number of the link (`Link.since`).
 */
export const reserveUndo = async (deps: Core, stores: Stores, user: Owner, added: readonly string[]) => {
  const undos = await undosOf(deps, stores, user.id);
  const since = Math.max(deps.clock.now(), ...undos.map((undo) => undo.since + 1));
  const earlier = undos.filter(({ purpose, email }) => purpose === 'factors-undo' && email === user.email);
  if (earlier.length < FACTOR_UNDOS_KEPT)
    await reserveLink(deps, stores, user, {
      ...{ purpose: 'factors-undo', since, keeps: await waysNow(stores, user.id, added) },
    });
  return since;
};

/**
 * Reserves an address that its user gives up. Its undo reaches as far as that of the first change before, and to everything if nobody had proven
 * the address.
 */
export const reserveAddress = async (deps: Core, stores: Stores, user: Owner & Pick<User, 'emailVerifiedAt'>) => {
  const undos = (await undosOf(deps, stores, user.id)).filter(({ email }) => email === user.email);
  const [first = { since: 0, keeps: await waysNow(stores, user.id, []) }] = undos.sort((a, b) => a.since - b.since);
  const { since, keeps } = user.emailVerifiedAt === null ? { since: 0, keeps: null } : first;
  await reserveLink(deps, stores, user, { purpose: 'email-change-undo', since, keeps });
};
