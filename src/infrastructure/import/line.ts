import * as v from 'valibot';
import { MAX_SPELLING } from '../../adapters/crypto/foreign/spelling.ts';
import { fieldProblems } from '../../adapters/json/field-problems.ts';
import { Email, Locale } from '../../adapters/json/fields.ts';
import { FromTimestamp } from '../../adapters/json/public-user.ts';
import { isStorable } from '../../adapters/records/units.ts';
import { readAttributes } from '../../domain/attributes.ts';
import { IDENTITIES_PER_USER } from '../../domain/identity.ts';
import { AUTHENTICATOR_APPS_PER_USER } from '../../domain/second-factor.ts';

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

/** OpenID Connect Core §2: an issuer is a URL of https, without a query; a subject has at most 255 characters of ASCII. */
const Identity = v.strictObject({
  issuer: v.pipe(
    v.string(),
    v.maxLength(255),
    v.check((text) => /^https:\/\/[!-~]+$/.test(text) && URL.canParse(text), 'must be a URL of https'),
  ),
  subject: v.pipe(v.string(), v.regex(/^[ -~]{1,255}$/, 'must be 1 to 255 characters of ASCII')),
  /** The name of the provider in OIDC_PROVIDERS. By default the host of the issuer. */
  provider: v.nullish(
    v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/, 'must consist of letters, digits, dots and hyphens')),
  ),
  email: v.nullish(v.string()),
});

/** An authenticator app, with codes of SHA-1, six digits and 30 seconds. */
const Factor = v.strictObject({
  type: v.nullish(v.literal('totp')),
  /** RFC 4226 §4 asks for 128 bits; many systems have made 80. */
  secret: v.pipe(
    v.string(),
    v.transform((secret) => secret.replaceAll(/[\s=]/g, '').toUpperCase()),
    v.regex(/^[A-Z2-7]{16,256}$/, 'must be Base32 of at least 80 bits'),
  ),
});

/** A user, as `users import` reads and `users export --all` writes it: a line of JSON. `null` is the same as no value. */
const UserLine = v.strictObject({
  /** The id in the system that the user comes from. A ULID is kept. */
  id: v.nullish(text(255)),
  /** One that is missing, not allowed here, or taken is replaced by one that is derived from the address. */
  username: v.nullish(v.string()),
  email: Email,
  emailVerified: v.nullish(v.boolean()),
  /** A form that adapters/crypto/foreign/read-hash.ts knows. Without it, there is no password yet. */
  passwordHash: v.nullish(text(MAX_SPELLING)),
  createdAt: v.nullish(v.pipe(FromTimestamp, v.minValue(0))),
  locale: v.nullish(Locale),
  attributes: v.nullish(Attributes),
  identities: v.nullish(v.pipe(v.array(Identity), v.maxLength(IDENTITIES_PER_USER))),
  factors: v.nullish(v.pipe(v.array(Factor), v.maxLength(AUTHENTICATOR_APPS_PER_USER))),
  disabled: v.nullish(v.boolean()),
});

export type LineInput = v.InferInput<typeof UserLine>;
export type Line = v.InferOutput<typeof UserLine>;

/** @returns the user, or what is wrong with the fields, without their values. */
export const readLine = (value: unknown): Line | { readonly problem: string } => {
  const { success, output, issues } = v.safeParse(UserLine, value);
  if (success) return output;
  return {
    problem: fieldProblems(issues, 'line')
      .map(({ field, message }) => `${field}: ${message}`)
      .join('; '),
  };
};
