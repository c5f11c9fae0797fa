import { sourceOf, together } from '../export.ts';
import { isTrue, listOf, objectOf, textOf, timeOf } from '../fields.ts';
import { appWith, linkTo, WITHOUT_FACTOR } from '../links.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What Clerk calls the hashes that are read as they are. */
const HASHERS = ['bcrypt', 'argon2i', 'argon2id', 'bcrypt_sha256_django', 'pbkdf2_sha256_django'];
const UNSALTED = ['md5', 'sha256'];

const hashIn = ({ password_digest: digest, password_hasher: hasher }: Fields) => {
  const [hash, name] = [textOf(digest), textOf(hasher) ?? ''];
  if (hash === undefined || HASHERS.includes(name)) return { passwordHash: hash };
  if (UNSALTED.includes(name)) return { passwordHash: `${name}$$${hash}` };
  return { problem: `password_hasher: ${/^\w{1,40}$/.test(name) ? name : 'the scheme'} is not supported` };
};

/** Lists in CSV. */
const addresses = (value: unknown): readonly string[] =>
  (textOf(value) ?? '').split(/[\s,;|]+/).filter((part) => part !== '');

/** The primary address. The dashboard has columns of texts, the Backend API a list of objects, and the export of the support a list of texts. */
const emailIn = (row: Fields): { readonly email: string | undefined; readonly emailVerified: boolean } => {
  const listed = listOf(row.email_addresses);
  const primary = listed.map(objectOf).find(({ id }) => id !== undefined && id === row.primary_email_address_id);
  if (primary !== undefined)
    return {
      email: textOf(primary.email_address),
      emailVerified: objectOf(primary.verification).status === 'verified',
    };
  const verified = addresses(row.verified_email_addresses);
  const [first] = [...verified, ...addresses(row.unverified_email_addresses), ...listed.map(textOf)];
  const email = textOf(row.primary_email_address) ?? first;
  return { email, emailVerified: email !== undefined && verified.includes(email) };
};

/** The dashboard's CSV, or JSON. */
export const clerk = sourceOf({
  tables: ['data'],
  user: (row) => {
    const hash = hashIn(row);
    if (hash.problem !== undefined) return { problem: hash.problem };
    const secret = textOf(row.totp_secret);
    const hasFactorThere = isTrue(row.two_factor_enabled) || isTrue(row.totp_enabled);
    const { notes, ...linked } = together(
      ...listOf(row.external_accounts)
        .map(objectOf)
        .filter(({ verification }) => objectOf(verification).status === 'verified')
        .map((account) => linkTo(textOf(account.provider) ?? '', account.provider_user_id, account.email_address)),
      ...(secret === undefined ? [] : [appWith(secret)]),
      { notes: secret === undefined && hasFactorThere ? [WITHOUT_FACTOR] : [] },
    );
    return {
      user: {
        id: textOf(row.id),
        username: textOf(row.username),
        ...emailIn(row),
        ...hash,
        createdAt: timeOf(row.created_at),
        disabled: isTrue(row.banned),
        ...linked,
      },
      notes,
    };
  },
});
