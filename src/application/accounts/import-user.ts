import { duplicateUser } from '../../domain/errors/app-error.ts';
import { type Identity, type IdentityKey, newIdentity } from '../../domain/identity.ts';
import { derivedUsernames, newUser, type User } from '../../domain/user.ts';
import type { FactorSecrets, RandomSecrets } from '../ports/secrets.ts';
import type { Core } from '../service.ts';
import { findIdentity } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import { isReserved } from './applicant.ts';

export type ImportDeps = Core & { readonly secrets: RandomSecrets; readonly factorSecrets: FactorSecrets | null };

export type ImportedUser = Pick<User, 'id' | 'email' | 'passwordHash' | 'locale' | 'attributes'> & {
  /** `null` if the other system has no username that is allowed here. */
  readonly username: string | null;
  readonly isEmailVerified: boolean;
  readonly isDisabled: boolean;
  /** Epoch milliseconds; `null` if it is not known. */
  readonly createdAt: number | null;
  readonly identities: readonly Pick<Identity, 'issuer' | 'subject' | 'provider' | 'email'>[];
  /** The secrets of authenticator apps, in Base32. */
  readonly appSecrets: readonly string[];
};

/** Where taken names and identities are looked up. A dry run also looks them up in what it would have stored. */
export type UserLookup = Pick<Stores, 'records'> & {
  readonly users: {
    readonly findById: (id: string) => Promise<Pick<User, 'email'> | null>;
    readonly findByEmail: (email: string) => Promise<object | null>;
    readonly findByUsername: (username: string) => Promise<object | null>;
  };
  readonly identityOf?: (identity: IdentityKey) => Promise<object | null>;
};

/** `present`: a user with this id and address is stored already. `problem`: why the user cannot be stored. `null`: neither. */
export const presenceOf = async (
  deps: Pick<ImportDeps, 'clock'>,
  stores: UserLookup,
  importedUser: Pick<ImportedUser, 'id' | 'email' | 'identities'>,
): Promise<'present' | { readonly problem: string } | null> => {
  const present = await stores.users.findById(importedUser.id);
  if (present !== null)
    return present.email === importedUser.email ? 'present' : { problem: 'id: has an account with another address' };
  if ((await stores.users.findByEmail(importedUser.email)) !== null) return { problem: 'email: has an account' };
  if (await isReserved(deps, stores, importedUser)) return { problem: 'email: is reserved for its former user' };
  const { records, identityOf = (identity) => findIdentity(records, identity) } = stores;
  for (const [at, identity] of importedUser.identities.entries())
    if ((await identityOf(identity)) !== null) return { problem: `identities.${at}: is linked to another account` };
  return null;
};

/**
 * Stores a user, without an event and without a mail. A taken username is replaced by another one. The caller has checked `presenceOf`.
 * @throws AppError `duplicateUser` or DB_UNIQUE_VIOLATION if the id, the address, an identity or each username is taken; RangeError without `factorSecrets`
 */
export const storeImportedUser = async (deps: ImportDeps, stores: Stores, input: ImportedUser): Promise<User> => {
  const { username, isEmailVerified, isDisabled, createdAt, identities, appSecrets, ...fields } = input;
  const now = deps.clock.now();
  const apps = appSecrets.map((secret) => ({ id: deps.ids.next(), secret }));
  const user: User = {
    ...newUser({ ...fields, username: await freeUsername(deps, stores, input), now }),
    createdAt: createdAt ?? now,
    emailVerifiedAt: isEmailVerified ? now : null,
    disabledAt: isDisabled ? now : null,
    secondFactorAt: appSecrets.length > 0 ? now : null,
    importedFactors: apps.map(({ id }) => id),
  };
  const userId = user.id;
  await stores.users.add(user);
  for (const identity of identities) {
    const key = { id: deps.ids.next(), userId, now };
    const added = newIdentity({ ...identity, isEmailVerified: false }, key);
    await stores.records.insert('identities', { ...added, lastUsedAt: null });
  }
  for (const { id, secret } of apps) {
    const encrypted = deps.factorSecrets?.encrypt(secret, userId);
    if (encrypted === undefined) throw new RangeError('Without keys there are no authenticator apps.');
    const times = { lastStep: -1, createdAt: now, confirmedAt: now };
    await stores.records.insert('factors', { id, userId, secret: encrypted, ...times });
  }
  return user;
};

/** The first username that is free: the given one, or one that is derived from the address. @throws AppError `duplicateUser` if all are taken */
export const freeUsername = async (
  { secrets }: Pick<ImportDeps, 'secrets'>,
  { users }: Pick<UserLookup, 'users'>,
  { username, email }: Pick<ImportedUser, 'username' | 'email'>,
): Promise<string> => {
  for (const name of [...(username === null ? [] : [username]), ...derivedUsernames(email, secrets.random())])
    if ((await users.findByUsername(name)) === null) return name;
  throw duplicateUser('username', 'all that were derived are taken');
};
