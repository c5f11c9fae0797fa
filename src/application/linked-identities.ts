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

/** The hash by which a removed identity is remembered (ADR 0026). */
const identityHash = ({ secrets }: Core, { issuer, subject }: IdentityKey): string =>
  secrets.hashOf(JSON.stringify([issuer, subject]));

/** Removes and blocks an identity of a user, in a transaction that has locked the user. */
export const removeIdentity = async (deps: Core, stores: Stores, key: Pick<Identity, 'id' | 'userId'>) => {
  const removed = await removeRow(stores.records, 'identities', key);
  if (removed === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user has no such identity' });
  await blockIdentities(deps, stores, key.userId, [removed]);
};

const MAX_REMOVED_IDENTITIES = 200;

export const isBlocked = (deps: Core, { removedIdentities }: Pick<User, 'removedIdentities'>, identity: IdentityKey) =>
  removedIdentities?.includes(identityHash(deps, identity)) ?? false;

/** Blocks removed identities of a user, or unblocks identities that their owner links again. The transaction has locked the user. */
export const blockIdentities = async (
  deps: Core,
  { users }: Stores,
  userId: string,
  identities: readonly IdentityKey[],
  areRemoved = true,
): Promise<void> => {
  if (identities.length === 0) return;
  const hashes = identities.map((each) => identityHash(deps, each));
  const others = ((await users.findById(userId))?.removedIdentities ?? []).filter((hash) => !hashes.includes(hash));
  const removedIdentities = areRemoved ? [...others, ...hashes].slice(-MAX_REMOVED_IDENTITIES) : others;
  await users.update(userId, { removedIdentities, now: deps.clock.now() });
};

/** @param message Default: the message of the catalog, which says that the address has an account. */
export const identityConflict = (reason: string, message?: string): AppError =>
  new AppError('AUTH_IDENTITY_CONFLICT', { reason, ...(message !== undefined && { message }) });

/** The error for an identity whose address has an account with another way in. The browser may keep the identity for that account (`linkKeptIdentities`). */
export const unlinkedIdentity = (): AppError => identityConflict(NOT_LINKED);
export const NOT_LINKED = 'the account has another way in';

/**
 * Links an identity to a user, in a transaction that has locked or inserted the user.
 * @throws AppError AUTH_IDENTITY_CONFLICT when the user has too many identities; DB_UNIQUE_VIOLATION when the identity is linked already.
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

/** Records the use of an identity, and the address that the provider states. The stored address stays if asking for it has failed (`addressError`). */
export const recordIdentityUse = ({ records }: Stores, answer: ProviderAnswer, lastUsedAt: number) =>
  changeRow(records, 'identities', { issuer: answer.issuer, subject: answer.subject }, ({ email, ...row }) => ({
    ...row,
    email: answer.addressError === undefined ? addressOf(answer) : email,
    lastUsedAt,
  }));
