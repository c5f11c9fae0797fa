import { duplicateUser } from '../../domain/errors/app-error.ts';
import { type Identity, type IdentityKey, newIdentity } from '../../domain/identity.ts';
import { derivedUsernames, newUser, type User } from '../../domain/user.ts';
import { isReserved } from '../links.ts';
import type { FactorSecrets, RandomSecrets } from '../ports/secrets.ts';
import type { Core } from '../service.ts';
import { findIdentity } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';

export type ImportDeps = Core & {
  readonly secrets: RandomSecrets;
  readonly factorSecrets: FactorSecrets | null;
};

export type Arrival = Pick<User, 'id' | 'email' | 'passwordHash' | 'locale' | 'attributes'> & {
  /** One that may be used here; `null` for none. */
  readonly username: string | null;
  /** Whether the other system says so. */
  readonly isEmailVerified: boolean;
  readonly isDisabled: boolean;
  /** Epoch milliseconds; `null` if it is not known. */
  readonly createdAt: number | null;
  readonly identities: readonly Pick<Identity, 'issuer' | 'subject' | 'provider' | 'email'>[];
  /** Of authenticator apps, in Base32. */
  readonly appSecrets: readonly string[];
};

type Refused = { readonly problem: string };

/** Where is looked for what is taken: in the stores, or in what a trial would have stored. */
export type UserLookup = Pick<Stores, 'records'> & {
  readonly users: {
    readonly findById: (id: string) => Promise<Pick<User, 'email'> | null>;
    readonly findByEmail: (email: string) => Promise<object | null>;
    readonly findByUsername: (username: string) => Promise<object | null>;
  };
  /** Default: in the records. */
  readonly identityOf?: (identity: IdentityKey) => Promise<object | null>;
};

/**
 * Whether a user is in already, or cannot be. An id names one user for ever, so whatever has been changed since is left as it is.
 * @returns `null` for a user who can be stored
 */
export const presenceOf = async (
  deps: Pick<ImportDeps, 'clock'>,
  stores: UserLookup,
  arrival: Pick<Arrival, 'id' | 'email' | 'identities'>,
): Promise<'present' | Refused | null> => {
  const present = await stores.users.findById(arrival.id);
  if (present !== null)
    return present.email === arrival.email ? 'present' : { problem: 'id: has an account with another address' };
  if ((await stores.users.findByEmail(arrival.email)) !== null) return { problem: 'email: has an account' };
  if (await isReserved(deps, stores, arrival)) return { problem: 'email: is reserved for its former user' };
  const { records, identityOf = (identity) => findIdentity(records, identity) } = stores;
  for (const [at, identity] of arrival.identities.entries())
    if ((await identityOf(identity)) !== null) return { problem: `identities.${at}: is linked to another account` };
  return null;
};

/**
 * Stores a user in a transaction, without an event and without a mail: it would be one for each of all users on one day.
 * @returns the user; the username is another one if that of the arrival is taken.
 * @throws AppError `duplicateUser` or DB_UNIQUE_VIOLATION for what `presenceOf` would have found
 */
export const storeArrival = async (deps: ImportDeps, stores: Stores, arrival: Arrival): Promise<User> => {
  const { username, isEmailVerified, isDisabled, createdAt, identities, appSecrets, ...given } = arrival;
  const now = deps.clock.now();
  const apps = appSecrets.map((secret) => ({ id: deps.ids.next(), secret }));
  const user: User = {
    ...newUser({ ...given, username: await freeUsername(deps, stores, arrival), now }),
    createdAt: createdAt ?? now,
    emailVerifiedAt: isEmailVerified ? now : null,
    disabledAt: isDisabled ? now : null,
    secondFactorAt: appSecrets.length > 0 ? now : null,
    importedFactors: apps.map(({ id }) => id),
  };
  const userId = user.id;
  await stores.users.add(user);
  for (const { email, ...identity } of identities) {
    const verified = { ...identity, email, isEmailVerified: false };
    await stores.records.insert('identities', {
      ...newIdentity(verified, { id: deps.ids.next(), userId, now }),
      lastUsedAt: null,
    });
  }
  for (const { id, secret } of apps) {
    const encrypted = deps.factorSecrets?.encrypt(secret, userId);
    if (encrypted === undefined) throw new RangeError('Without keys there are no authenticator apps.');
    const times = { lastStep: -1, createdAt: now, confirmedAt: now };
    await stores.records.insert('factors', { id, userId, secret: encrypted, ...times });
  }
  return user;
};

/** That of the arrival, or one that is derived from the address. */
export const freeUsername = async (
  { secrets }: Pick<ImportDeps, 'secrets'>,
  { users }: Pick<UserLookup, 'users'>,
  { username, email }: Pick<Arrival, 'username' | 'email'>,
): Promise<string> => {
  for (const name of [...(username === null ? [] : [username]), ...derivedUsernames(email, secrets.random())])
    if ((await users.findByUsername(name)) === null) return name;
  throw duplicateUser('username', 'all that were derived are taken');
};
