import { systemClock } from '../../../adapters/clock/system.ts';
import { type Fields, isTrue, objectOf, objectsIn, textOf, timeOf } from '../fields.ts';
import { appWith, linkTo } from '../links.ts';
import { sourceOf, together, WITHOUT_FACTOR } from '../system-export.ts';

/** Rows of `auth.mfa_factors`. */
const factorIn = ({ factor_type: type, status, secret }: Fields) => {
  if (status === 'unverified') return {};
  return type === 'totp' ? appWith(secret) : { notes: [WITHOUT_FACTOR] };
};

/** Rows of `auth.identities`. */
const identityIn = ({ provider, provider_id: id, identity_data: data }: Fields) => {
  const { sub, iss, email } = objectOf(data);
  const name = textOf(provider) ?? '';
  // The issuer with the tenant is in the data of Microsoft's users only.
  const issuer = textOf(iss)?.startsWith('https://login.microsoftonline.com/') ? textOf(iss) : undefined;
  return linkTo(name, sub ?? id, email, name === 'azure' ? issuer : undefined);
};

/** Rows of the tables `auth.users`, `auth.identities` and `auth.mfa_factors`: a JSON object of them, or a file for each. */
export const supabase = sourceOf({
  tables: ['users', 'identities', 'mfa_factors'],
  part: (row) => {
    const of = textOf(row.user_id);
    if (of === undefined) return null;
    return { of, ...('factor_type' in row ? factorIn(row) : identityIn(row)) };
  },
  keys: ({ id }) => [textOf(id) ?? ''],
  user: (row) => {
    if (textOf(row.deleted_at) !== undefined) return { leftOut: 'was deleted there' };
    if (isTrue(row.is_anonymous)) return { leftOut: 'is an anonymous user' };
    const bannedUntil = timeOf(row.banned_until);
    const isBanned = bannedUntil !== undefined && !(Date.parse(bannedUntil) <= systemClock.now());
    // The admin API has them in the user, without secrets.
    const { notes, ...linked } = together(
      ...objectsIn(row.identities).map(identityIn),
      ...objectsIn(row.factors).map(factorIn),
    );
    return {
      user: {
        id: textOf(row.id),
        email: textOf(row.email),
        emailVerified: textOf(row.email_confirmed_at) !== undefined,
        passwordHash: textOf(row.encrypted_password),
        createdAt: timeOf(row.created_at),
        disabled: isBanned,
        ...linked,
      },
      notes,
    };
  },
});
