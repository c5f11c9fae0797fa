import { AppError } from '../domain/errors/app-error.ts';
import type { Origin } from '../domain/event.ts';
import {
  addressOf,
  IDENTITIES_PER_USER,
  type Identity,
  type IdentityKey,
  newIdentity,
  type VerifiedIdentity,
} from '../domain/identity.ts';
import type { User } from '../domain/user.ts';
import type { ProviderAnswer } from './ports/identity-providers.ts';
import { type Core, record, type Sources } from './service.ts';
import { identitiesOf } from './storage/credentials.ts';
import type { Stores } from './storage/records.ts';
import { changeRow, removeRow } from './storage/rows.ts';

/** The identities that are linked to users, and the marks of those that were removed (ADR 0026). */

const markOf = ({ secrets }: Core, { issuer, subject }: IdentityKey): string =>
  secrets.hashOf(JSON.stringify([issuer, subject]));

/** Removes an identity of a user, and blocks it. In a transaction that has locked the user. */
export const removeIdentity = async (deps: Core, stores: Stores, key: Pick<Identity, 'id' | 'userId'>) => {
  const { id, userId } = key;
  const removed = await removeRow(stores.records, 'identities', { id, userId });
  if (removed === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user has no such identity' });
  await blockIdentities(deps, stores, userId, [removed]);
};

/** How many removed identities of a user are remembered: the latest. */
const REMOVED_AT_MOST = 200;

export const isBlocked = (
  deps: Core,
  { removedIdentities }: Pick<User, 'removedIdentities'>,
  identity: IdentityKey,
): boolean => removedIdentities?.includes(markOf(deps, identity)) ?? false;

/**
 * Remembers that identities were removed, or forgets it, since their owner has linked them in a session. In a transaction that has locked the user.
 */
export const blockIdentities = async (
  deps: Core,
  { users }: Stores,
  userId: string,
  identities: readonly IdentityKey[],
  areRemoved = true,
): Promise<void> => {
  if (identities.length === 0) return;
  const marks = identities.map((each) => markOf(deps, each));
  const others = ((await users.findById(userId))?.removedIdentities ?? []).filter((mark) => !marks.includes(mark));
  const removedIdentities = areRemoved ? [...others, ...marks].slice(-REMOVED_AT_MOST) : others;
  await users.update(userId, { removedIdentities, now: deps.clock.now() });
};

/** @param message without it, that of the catalog: the address of the identity has an account. */
export const identityConflict = (reason: string, message?: string): AppError =>
  new AppError('AUTH_IDENTITY_CONFLICT', { reason, ...(message !== undefined && { message }) });

/** The address has an account with another way in. Who logs in to it in the same browser links the identity by that. */
export const unlinkedIdentity = (): AppError => identityConflict(NOT_LINKED);
export const NOT_LINKED = 'the account has another way in';

/**
 * Links an identity to a user, in a transaction that has locked or added the user.
 * @throws AppError AUTH_IDENTITY_CONFLICT when the user has too many; DB_UNIQUE_VIOLATION when it is linked.
 */
export const storeIdentity = async (
  deps: Sources,
  stores: Stores,
  verified: VerifiedIdentity,
  { id: userId }: Pick<User, 'id'>,
  origin: Origin,
): Promise<Identity> => {
  if ((await identitiesOf(stores.records, userId)).length >= IDENTITIES_PER_USER)
    throw identityConflict(
      'too many identities',
      'This account has as many sign-ins as it may have. Remove one first.',
    );
  const identity = newIdentity(verified, { id: deps.ids.next(), userId, now: deps.clock.now() });
  await stores.records.insert('identities', identity);
  await record(deps, stores, origin, [{ userId, kind: 'identity-linked' }]);
  return identity;
};

/** What the provider has said last: if it could not be asked now, that is what it said before. */
export const recordIdentityUse = ({ records }: Stores, answer: ProviderAnswer, lastUsedAt: number) =>
  changeRow(records, 'identities', { issuer: answer.issuer, subject: answer.subject }, ({ email, ...row }) => ({
    ...row,
    email: answer.addressError === undefined ? addressOf(answer) : email,
    lastUsedAt,
  }));
