import type { Attributes } from './attributes.ts';
import { typedName } from './text.ts';

/** A ULID: 26 characters of Crockford's base 32, in upper case. Users, sessions and most other records have such an id. */
export const ID_PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export const isId = (text: string): boolean => ID_PATTERN.test(text);

/** Limits and canonical forms of usernames and email addresses. A user logs in with either (ADR 0007). */

export const USERNAME_MIN_LENGTH = 3;
export const USERNAME_MAX_LENGTH = 32;
/** Excludes `@`, so that no username is an email address; and the form of an id, since operators name a user by id or by username. */
export const USERNAME_PATTERN = /^(?![0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$)[A-Za-z0-9._-]*$/;

/** RFC 5321 §4.5.3.1.3: a path of 256 octets, less its two angle brackets. */
export const EMAIL_MAX_LENGTH = 254;
/**
 * A dot-atom local part of at most 64 octets (RFC 5321 §4.5.3.1.1) at a domain name of at least two labels (RFC 1035 §2.3.4).
 * No part can match the same text in two ways, so matching takes linear time.
 */
export const EMAIL_PATTERN =
  /^(?=[^@]{1,64}@)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/;

export const ACCOUNT_MAX_LENGTH = Math.max(USERNAME_MAX_LENGTH, EMAIL_MAX_LENGTH);

export const canonicalUsername = (username: string): string => username.toLowerCase();

/** The form in which an email address is stored and compared. */
export const canonicalEmail = (email: string): string => typedName(email).toLowerCase();

/** The form in which account names are compared. Failed log-ins are counted by it. */
export const canonicalAccount = (account: string): string =>
  accountKind(account) === 'email' ? canonicalEmail(account) : canonicalUsername(account);

export const accountKind = (account: string): 'email' | 'username' => (account.includes('@') ? 'email' : 'username');

/** Whether an account can have this name. The text may be something else: people also type passwords into the field of the name. */
export const isAccountName = (account: string): boolean =>
  accountKind(account) === 'email'
    ? account.length <= EMAIL_MAX_LENGTH && EMAIL_PATTERN.test(account)
    : account.length <= USERNAME_MAX_LENGTH && USERNAME_PATTERN.test(account);

/** A user, as stored. Times are epoch milliseconds. SPEC "User". */
export type User = {
  readonly id: string;
  /** In its original letter case; unique regardless of letter case. */
  readonly username: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When the password was last changed or removed; 0 for the first one. A new hash of the same password is not a change. */
  readonly passwordChangedAt: number;
  /** When the email address was first proven to be the user's; `null` until then. */
  readonly emailVerifiedAt: number | null;
  /** When an operator disabled the account; `null` while it is enabled. */
  readonly disabledAt: number | null;
  /** When the first authenticator app was added or imported; `null` without one. Since then, log-ins need a second factor, except on remembered devices. */
  readonly secondFactorAt: number | null;
  readonly attributes: Attributes;
  /** The language of mails: a canonical language tag (`canonicalLocale`), or `null` for the default. */
  readonly locale: string | null;
  /** The ids of the authenticator apps that were imported with the user; `null` if the user was not imported. */
  readonly importedFactors: readonly string[] | null;
  /** Hashes of the last identities that were removed. No log-in links them again while the address is proven; their user can, in a session. `null`: none. */
  readonly removedIdentities: readonly string[] | null;
};

/** The fields of a user that a rotation returns, for new tokens. */
export type UserInTokens = Omit<User, 'locale' | 'importedFactors' | 'removedIdentities'>;

/** The fields that `update` may change. `emailVerifiedAt` never becomes `null` again, so an account has only one first proof of its address. */
export type ChangeableFields = Omit<ComparableFields, 'emailVerifiedAt'> &
  Pick<User, 'attributes' | 'removedIdentities'> & { readonly emailVerifiedAt: number };

export type ComparableFields = Pick<
  User,
  'username' | 'email' | 'emailVerifiedAt' | 'disabledAt' | 'secondFactorAt' | 'locale'
>;

/** Whether a user was imported from another system. The user store of an application may lack the field. */
export const isImported = ({ importedFactors }: Pick<User, 'importedFactors'>) => (importedFactors ?? null) !== null;

/** Whether somebody who is invited to the address takes the account over: nobody has proven the address, so a stranger may have registered with it. */
export const isClaimable = (user: Pick<User, 'emailVerifiedAt' | 'disabledAt' | 'importedFactors'>): boolean =>
  user.emailVerifiedAt === null && user.disabledAt === null && !isImported(user);

/** The fields of a user that SPEC "User" names, which may be sent to clients. */
export type PublicUser = Pick<User, 'id' | 'username' | 'email' | 'createdAt' | 'updatedAt'>;

type NewUser = Pick<User, 'id' | 'username' | 'email' | 'passwordHash'> &
  Partial<Pick<User, 'emailVerifiedAt' | 'locale' | 'attributes'>> & { readonly now: number };

export const newUser = ({ now, ...user }: NewUser): User => ({
  createdAt: now,
  updatedAt: now,
  passwordChangedAt: 0,
  emailVerifiedAt: null,
  disabledAt: null,
  secondFactorAt: null,
  attributes: {},
  locale: null,
  importedFactors: null,
  removedIdentities: null,
  ...user,
  email: canonicalEmail(user.email),
});

/** Names each public field, so that a new field is private by default. */
export const publicUser = ({ id, username, email, createdAt, updatedAt }: PublicUser): PublicUser => ({
  id,
  username,
  email,
  createdAt,
  updatedAt,
});

const NOT_IN_USERNAME = /[^a-z0-9._-]/g;
/** The digits of the random numbers. Even if a million users have one name, a random number of eight digits is free 99 times in 100. */
const NUMBER_LENGTHS = [2, 4, 6, 8] as const;
/** Leaves room for the longest number, and keeps the name shorter than an id. */
const NAME_MAX_LENGTH = USERNAME_MAX_LENGTH - '-12345678'.length;

/**
 * Five usernames for a user who has chosen none: a name from the part of the address before the `@`, and then this name with longer and longer random
 * numbers. The first ones can be guessed from the address, and so show whether it has an account. The last one cannot.
 * @param random at least 8 characters of ASCII.
 */
export const derivedUsernames = (email: string, random: string): readonly [string, ...string[]] => {
  const [local = ''] = canonicalEmail(email).split('@');
  const letters = local.replace(NOT_IN_USERNAME, '').slice(0, NAME_MAX_LENGTH);
  const name = letters.length < USERNAME_MIN_LENGTH ? `user-${letters}`.replace(/-$/, '') : letters;
  const number = Array.from(random, (character) => character.charCodeAt(0) % 10).join('');
  return [name, ...NUMBER_LENGTHS.map((digits) => `${name}-${number.slice(0, digits)}`)];
};
