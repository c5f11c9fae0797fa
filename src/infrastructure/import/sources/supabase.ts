import { systemClock } from '../../../adapters/clock/system.ts';
import { type Fields, isTrue, objectOf, objectsIn, textOf, timeOf } from '../fields.ts';
import { linkTo, sourceOf, totpFactor, WITHOUT_FACTOR } from '../system-export.ts';

/** Reads a row of `auth.mfa_factors`, or a factor of the admin API. */
const factorIn = ({ factor_type: type, status, secret }: Fields) => {
  if (status === 'unverified') return {};
  return type === 'totp' ? totpFactor(secret) : { notes: [WITHOUT_FACTOR] };
};

/** Reads a row of `auth.identities`, or an identity of the admin API. */
const identityIn = ({ provider, provider_id: id, identity_data: data }: Fields) => {
  const { sub, iss, email } = objectOf(data);
  const name = textOf(provider) ?? '';
  // Only the issuer of Microsoft is read, since it depends on the tenant. `linkTo` knows the issuers of some other providers.
  const issuer = textOf(iss)?.startsWith('https://login.microsoftonline.com/') ? textOf(iss) : undefined;
  return linkTo(name, sub ?? id, email, name === 'azure' ? issuer : undefined);
};

/** Reads the tables `auth.users`, `auth.identities` and `auth.mfa_factors`: a JSON object with these tables, or a file for each. */
export const supabase = sourceOf({
  tables: ['users', 'identities', 'mfa_factors'],
  part: (row) => {
    const userKey = textOf(row.user_id);
    if (userKey === undefined) return null;
    return { userKey, ...('factor_type' in row ? factorIn(row) : identityIn(row)) };
  },
  leftOut: (row) => {
    if (textOf(row.deleted_at) !== undefined) return 'was deleted there';
    return isTrue(row.is_anonymous) ? 'is an anonymous user' : undefined;
  },
  fields: {
    ...{ id: 'id', email: 'email', passwordHash: 'encrypted_password', createdAt: 'created_at' },
    emailVerified: (row) => textOf(row.email_confirmed_at) !== undefined,
    disabled: (row) => {
      const until = timeOf(row.banned_until);
      return until !== undefined && !(Date.parse(until) <= systemClock.now());
    },
  },
  // In an export of the admin API, the identities and factors are members of the user, and have no secrets.
  credentials: (row) => [...objectsIn(row.identities).map(identityIn), ...objectsIn(row.factors).map(factorIn)],
});
