import * as v from 'valibot';
import { derivedUlid } from '../../adapters/clock/system.ts';
import { MAX_HASH_LENGTH } from '../../adapters/crypto/foreign/canonical-hash.ts';
import { storableHash } from '../../adapters/crypto/foreign/storable-hash.ts';
import { fieldProblems } from '../../adapters/json/field-problems.ts';
import { Email, FromTimestamp, Locale, typedAccount, Username } from '../../adapters/json/fields.ts';
import { isStorable } from '../../adapters/records/storage.ts';
import type { ImportedUser } from '../../application/accounts/import-user.ts';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import { readAttributes } from '../../domain/attributes.ts';
import { IDENTITIES_PER_USER, type Identity } from '../../domain/identity.ts';
import { NO_PASSWORD, UNKNOWN_PASSWORD } from '../../domain/password.ts';
import { AUTHENTICATOR_APPS_PER_USER } from '../../domain/second-factor.ts';
import { canonicalEmail, isId } from '../../domain/user.ts';

const text = (most: number) =>
  v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(most),
    v.check((given) => isStorable(given), 'must not contain NUL or half a character'),
  );

const Attributes = v.pipe(
  v.unknown(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    try {
      return readAttributes(JSON.stringify(dataset.value));
    } catch (error) {
      addIssue({ message: error instanceof Error ? error.message : '' });
      return NEVER;
    }
  }),
);

/** By OpenID Connect Core §2, an issuer is an https URL, and a subject has at most 255 ASCII characters. */
const LinkedIdentity = v.strictObject({
  issuer: v.pipe(
    v.string(),
    v.maxLength(255),
    v.check((text) => /^https:\/\/[!-~]+$/.test(text) && URL.canParse(text), 'must be a URL of https'),
  ),
  subject: v.pipe(v.string(), v.regex(/^[ -~]{1,255}$/, 'must be 1 to 255 characters of ASCII')),
  /** The name of the provider in OIDC_PROVIDERS. Default: the host of the issuer. */
  provider: v.nullish(
    v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/, 'must consist of letters, digits, dots and hyphens')),
  ),
  email: v.nullish(v.string()),
});

/** An authenticator app whose codes use SHA-1, have six digits, and change every 30 seconds. */
const Factor = v.strictObject({
  type: v.nullish(v.literal('totp')),
  /** In Base32. RFC 4226 §4 requires 128 bits, but many systems have made secrets of 80. */
  secret: v.pipe(
    v.string(),
    v.transform((secret) => secret.replaceAll(/[\s=]/g, '').toUpperCase()),
    v.regex(/^[A-Z2-7]{16,256}$/, 'must be Base32 of at least 80 bits'),
  ),
});

/** A user as a line of JSON, which `users import` reads and `users export --all` writes. `null` means the same as a missing member. */
const UserLine = v.strictObject({
  /** The id in the system from which the user comes. If it is a ULID, it is the id here as well. */
  id: v.nullish(text(255)),
  /** If the username is missing, not allowed here, or taken, another one is derived from the address. */
  username: v.nullish(v.string()),
  email: Email,
  emailVerified: v.nullish(v.boolean()),
  /** In a form that `storableHash` accepts, or `NO_PASSWORD`. If it is missing, the password is unknown here. */
  passwordHash: v.nullish(text(MAX_HASH_LENGTH)),
  createdAt: v.nullish(v.pipe(FromTimestamp, v.minValue(0))),
  locale: v.nullish(Locale),
  attributes: v.nullish(Attributes),
  identities: v.nullish(v.pipe(v.array(LinkedIdentity), v.maxLength(IDENTITIES_PER_USER))),
  factors: v.nullish(v.pipe(v.array(Factor), v.maxLength(AUTHENTICATOR_APPS_PER_USER))),
  disabled: v.nullish(v.boolean()),
});

export type LineInput = v.InferInput<typeof UserLine>;
export type Line = v.InferOutput<typeof UserLine>;

/** Validates a line. @returns the user, or the problems of its fields, without their values */
export const readLine = (value: unknown): Line | { readonly problem: string } => {
  const { success, output, issues } = v.safeParse(UserLine, value);
  if (success) return output;
  return {
    problem: fieldProblems(issues, 'line')
      .map(({ field, message }) => `${field}: ${message}`)
      .join('; '),
  };
};

/** A user whose `passwordHash` still has the form of the other system. */
export type UnhashedUser = {
  readonly oldId: string | null;
  /** The username in the source; `null` if there is none, or it is the address. */
  readonly givenUsername: string | null;
  readonly user: Omit<ImportedUser, 'passwordHash'>;
  readonly passwordHash: string | null;
};

type Refused = { readonly problem: string };

/** Validates a user of a source. @param from the name of the source, which derived ids depend on, since two systems may have the same id */
export const readImportedUser = (user: unknown, from: string): UnhashedUser | Refused => {
  const line = readLine(user);
  if ('problem' in line) return line;
  const { username, identities, factors } = line;
  const [parsedUsername, email] = [v.safeParse(Username, username), canonicalEmail(line.email)];
  return {
    oldId: line.id ?? null,
    givenUsername: username && canonicalEmail(typedAccount(username)) !== email ? username : null,
    passwordHash: line.passwordHash ?? null,
    user: {
      id: idOf(line, JSON.stringify(line.id ? [from, line.id] : [from, user])),
      username: parsedUsername.success ? parsedUsername.output : null,
      email,
      isEmailVerified: line.emailVerified ?? false,
      isDisabled: line.disabled ?? false,
      createdAt: line.createdAt ?? null,
      locale: line.locale ?? null,
      attributes: line.attributes ?? {},
      identities: withoutDuplicates(identities ?? []).map(({ issuer, subject, provider, email }) => ({
        ...{ issuer, subject, provider: provider ?? new URL(issuer).hostname, email: email ?? null },
      })),
      appSecrets: (factors ?? []).map(({ secret }) => secret),
    },
  };
};

/** Removes identities that are there twice, since two tables of a system may have the same one. */
const withoutDuplicates = <One extends Pick<Identity, 'issuer' | 'subject'>>(
  identities: readonly One[],
): readonly One[] => [...new Map(identities.map((one) => [JSON.stringify([one.issuer, one.subject]), one])).values()];

/** The id of a user. The same line of the same source gets the same id, so that another import makes no second user, even if the address was changed here. */
const idOf = ({ id, createdAt }: Line, content: string): string =>
  id && isId(id) ? id : derivedUlid(createdAt ?? 0, content);

/** Adds the hash in the stored form, which may take long. @param hasher hashes a digest that is too fast to be stored as it is */
export const withHash = async (
  { user, passwordHash }: UnhashedUser,
  hasher: Pick<PasswordHasher, 'hash'>,
): Promise<ImportedUser | Refused> => {
  if (passwordHash === null || passwordHash === NO_PASSWORD)
    return { ...user, passwordHash: passwordHash ?? UNKNOWN_PASSWORD };
  const stored = await storableHash(passwordHash, hasher);
  return 'problem' in stored ? { problem: `passwordHash: ${stored.problem}` } : { ...user, ...stored };
};
