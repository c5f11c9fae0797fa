import { AppError } from '../domain/errors/app-error.ts';
import { FACTOR_UNDOS_KEPT, type Link, type LinkPurpose, UNDO_LIFETIME, UNDO_PURPOSES } from '../domain/link.ts';
import type { MessageKind } from '../domain/message.ts';
import { isConfirmed } from '../domain/second-factor.ts';
import type { User } from '../domain/user.ts';
import type { Core } from './service.ts';
import {
  deleteLinks,
  factorsOf,
  identitiesOf,
  linkByToken,
  linksOf,
  passkeysOf,
  putLink,
  recoveryCodesOf,
  takeLink,
} from './storage/credentials.ts';
import { deleteMessages, messagesOf } from './storage/outbox.ts';
import type { Stores } from './storage/records.ts';

export const invalidLink = (reason: string): AppError => new AppError('AUTH_LINK_INVALID', { reason });

const NO_SUCH_LINK = 'there is no such link any more';

export const findLink = async (deps: Core, { records }: Stores, token: string, ...purposes: readonly LinkPurpose[]) => {
  for (const purpose of purposes) {
    const link = await linkByToken(records, purpose, deps.secrets.hashOf(token), deps.clock.now());
    if (link !== null) return link;
  }
  throw invalidLink(NO_SUCH_LINK);
};

/** Uses a link up: one of several concurrent callers succeeds. To avoid deadlocks, the transaction has locked the user before. */
export const useLink = async ({ clock }: Core, { records }: Stores, { purpose, tokenHash }: Link): Promise<void> => {
  if ((await takeLink(records, purpose, tokenHash, clock.now())) === null) throw invalidLink(NO_SUCH_LINK);
};

/** The kind of message that sends a link, and is withdrawn with it. Notices with a link `factors-undo` are sent even if that link was withdrawn. */
const MESSAGE_OF_LINK: Readonly<Partial<Record<LinkPurpose, MessageKind>>> = {
  'password-reset': 'password-reset',
  'email-verification': 'email-verification',
  'not-me': 'email-verification',
  'email-change': 'email-change',
  'confirmation-code': 'confirmation-code',
  'email-change-undo': 'email-changed',
};

/** Removes links of a user, and their waiting messages (`MESSAGE_OF_LINK`). The transaction has locked the user, so no mail is prepared meanwhile. */
export const withdrawLinks = async ({ records }: Stores, userId: string, purposes: readonly LinkPurpose[]) => {
  const kinds = purposes.map((purpose) => MESSAGE_OF_LINK[purpose]);
  const waiting = (await messagesOf(records, userId)).filter(({ kind }) => kinds.includes(kind));
  await deleteMessages(
    records,
    waiting.map(({ id }) => id),
  );
  await deleteLinks(records, userId, purposes);
};

/** The live links by which the account of a user can be taken back. */
const undosOf = async ({ clock }: Core, { records }: Stores, userId: string): Promise<Link[]> => {
  const live = await linksOf(records, userId, clock.now());
  return live.filter(({ purpose }) => UNDO_PURPOSES.some((each) => each === purpose));
};

/** The link by which a user can take a former address back. */
export const reservationOf = async (deps: Core, stores: Stores, userId: string): Promise<Link | null> => {
  const undos = await undosOf(deps, stores, userId);
  return undos.find(({ purpose }) => purpose === 'email-change-undo') ?? null;
};

export const removeUndos = async (deps: Core, stores: Stores, userId: string, matches: (undo: Link) => boolean) => {
  for (const undo of (await undosOf(deps, stores, userId)).filter(matches))
    await takeLink(stores.records, undo.purpose, undo.tokenHash, deps.clock.now());
};

/** The ids of a user's passkeys, confirmed authenticator apps and identities, and the hashes of recovery codes. @param added those that are left out */
export const wayIdsOf = async ({ records }: Stores, userId: string, added: readonly string[]) => {
  const stored = [passkeysOf(records, userId), factorsOf(records, userId), identitiesOf(records, userId)] as const;
  const [passkeys, apps, identities] = await Promise.all(stored);
  const ids = [...passkeys, ...apps.filter(isConfirmed), ...identities].map(({ id }) => id);
  return [...ids, ...(await recoveryCodesOf(records, userId))].filter((id) => !added.includes(id));
};

type Undo = Pick<Link, 'purpose' | 'since' | 'keeps'>;

/** Stores a link with a random token that is thrown away. The mail to the address, if one is sent, replaces the link by one with a usable token. */
const reserveLink = async ({ secrets, clock }: Core, { records }: Stores, { id: userId, email }: Owner, undo: Undo) => {
  const createdAt = clock.now();
  const tokenHash = secrets.hashOf(secrets.random());
  await putLink(records, { ...undo, userId, email, tokenHash, createdAt, expiresAt: createdAt + UNDO_LIFETIME });
};

type Owner = Pick<User, 'id' | 'email'>;

/**
 * Stores the link of a mail about a new device, or about a change of the ways into an account. The link undoes the change and all later ones. If the
 * address has `FACTOR_UNDOS_KEPT` links, it stores no more, since those undo the change as well. The transaction has locked the user.
 * @param added the ids of what the change has added. @returns the number of the link (`Link.since`).
 */
export const reserveUndo = async (deps: Core, stores: Stores, user: Owner, added: readonly string[]) => {
  const undos = await undosOf(deps, stores, user.id);
  const since = Math.max(deps.clock.now(), ...undos.map((undo) => undo.since + 1));
  const earlier = undos.filter(({ purpose, email }) => purpose === 'factors-undo' && email === user.email);
  if (earlier.length >= FACTOR_UNDOS_KEPT) return since;
  const keeps = await wayIdsOf(stores, user.id, added);
  await reserveLink(deps, stores, user, { purpose: 'factors-undo', since, keeps });
  return since;
};

/** Reserves an address that its user gives up. The undo keeps the ways in that the first undo of the address keeps, or else all; if it is unproven, none. */
export const reserveAddress = async (deps: Core, stores: Stores, user: Owner & Pick<User, 'emailVerifiedAt'>) => {
  const undos = (await undosOf(deps, stores, user.id)).filter(({ email }) => email === user.email);
  const [first = { since: 0, keeps: await wayIdsOf(stores, user.id, []) }] = undos.sort((a, b) => a.since - b.since);
  const { since, keeps } = user.emailVerifiedAt === null ? { since: 0, keeps: null } : first;
  await reserveLink(deps, stores, user, { purpose: 'email-change-undo', since, keeps });
};
