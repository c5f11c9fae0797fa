import { type Fields, isTrue, listOf, objectOf, objectsIn, textOf } from '../fields.ts';
import { linkTo, sourceOf, totpFactor, WITHOUT_FACTOR } from '../system-export.ts';

/** Clerk's names of the hashes that can be imported as they are. */
const HASHERS = ['bcrypt', 'argon2i', 'argon2id', 'bcrypt_sha256_django', 'pbkdf2_sha256_django'];
const UNSALTED = ['md5', 'sha256'];

/** The secrets of a user. A hash of an unknown hasher is replaced by the hasher's name, which the refusal quotes. */
const secretsIn = ({ password_digest: digest, password_hasher: hasher, totp_secret: secret }: Fields) => {
  const [hash, name] = [textOf(digest), textOf(hasher) ?? ''];
  const unlessKnown = UNSALTED.includes(name) ? `${name}$$${hash}` : `{${name}}`;
  return {
    passwordHash: hash === undefined || HASHERS.includes(name) ? hash : unlessKnown,
    ...(textOf(secret) === undefined ? {} : totpFactor(secret)),
  };
};

const addresses = (value: unknown): readonly string[] =>
  (textOf(value) ?? '').split(/[\s,;|]+/).filter((part) => part !== '');

/** The primary address, or else the first one. The CSV has columns of texts, the Backend API a list of objects, and the support's export a list of texts. */
const emailIn = (row: Fields): { readonly email: string | undefined; readonly emailVerified: boolean } => {
  const addressList = listOf(row.email_addresses);
  const primary = addressList.map(objectOf).find(({ id }) => id !== undefined && id === row.primary_email_address_id);
  if (primary !== undefined)
    return {
      email: textOf(primary.email_address),
      emailVerified: objectOf(primary.verification).status === 'verified',
    };
  const verified = addresses(row.verified_email_addresses);
  const [first] = [...verified, ...addresses(row.unverified_email_addresses), ...addressList.map(textOf)];
  const email = textOf(row.primary_email_address) ?? first;
  return { email, emailVerified: email !== undefined && verified.includes(email) };
};

/** Reads the dashboard's CSV, or the JSON of the Backend API, with the dashboard's CSV as the file of passwords. */
export const clerk = sourceOf({
  tables: ['data'],
  part: (row, isSecond) => (isSecond ? { userKey: textOf(row.id) ?? '', ...secretsIn(row) } : null),
  fields: {
    ...{ id: 'id', username: 'username', createdAt: 'created_at', disabled: 'banned' },
    email: (row) => emailIn(row).email,
    emailVerified: (row) => emailIn(row).emailVerified,
    passwordHash: (row) => secretsIn(row).passwordHash,
  },
  credentials: (row) => [
    ...objectsIn(row.external_accounts)
      .filter(({ verification }) => objectOf(verification).status === 'verified')
      .map((account) => linkTo(account.provider, account.provider_user_id, account.email_address)),
    secretsIn(row),
    isTrue(row.two_factor_enabled) || isTrue(row.totp_enabled) ? { notes: [WITHOUT_FACTOR] } : {},
  ],
});
