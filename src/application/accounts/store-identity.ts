import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import { IDENTITIES_PER_USER, type Identity, newIdentity, type VerifiedIdentity } from '../../domain/identity.ts';
import type { User } from '../../domain/user.ts';
import { record, type Sources } from '../service.ts';
import { identitiesOf } from '../storage/factors.ts';
import type { Stores } from '../storage/stores.ts';

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
