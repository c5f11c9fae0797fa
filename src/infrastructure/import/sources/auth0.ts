import { type Fields, listOf, objectOf, objectsIn, renamed, textOf } from '../fields.ts';
import { linkTo, sourceOf, totpFactor, WITHOUT_FACTOR } from '../system-export.ts';

/** The identities of a user. If the list is missing or empty, the id of the user, such as `auth0|5e…`, is the only identity. */
const identitiesOf = ({ user_id: userId, identities }: Fields) => {
  const [, provider, subject = ''] = /^([^|]+)\|(.+)$/.exec(textOf(userId) ?? '') ?? [];
  const all = objectsIn(identities).map((identity) => ({
    provider: textOf(identity.provider) ?? '',
    subject: textOf(identity.user_id) ?? '',
    email: objectOf(identity.profileData).email,
  }));
  return all.length > 0 || provider === undefined ? all : [{ provider, subject, email: undefined }];
};

const keyOf = (id = ''): string => (id === '' ? '' : `auth0|${id}`);

/** Reads an export of users (lines of JSON, or CSV), and the password hashes that Auth0's support sends: lines of JSON as MongoDB writes them. */
export const auth0 = sourceOf({
  tables: ['users'],
  // By default, the fields of an export have names such as `Email Verified` and `Id`.
  renamed: (row) => {
    const { id, ...rest } = renamed(row, (name) => name.toLowerCase().replaceAll(' ', '_'));
    return { user_id: id, ...rest };
  },
  part: ({ _id, alt_id: custom, passwordhash }) =>
    _id === undefined
      ? null
      : { userKey: keyOf(textOf(custom) ?? textOf(objectOf(_id).$oid)), passwordHash: textOf(passwordhash) },
  keys: (row) => identitiesOf(row).map(({ provider, subject }) => (provider === 'auth0' ? keyOf(subject) : '')),
  fields: {
    ...{ id: 'user_id', username: 'username', email: 'email', emailVerified: 'email_verified' },
    ...{ createdAt: 'created_at', disabled: 'blocked' },
  },
  credentials: (row) => {
    const apps = objectsIn(row.mfa_factors).map(({ totp }) => totpFactor(objectOf(totp).secret));
    const hasFactorThere = apps.length === 0 && listOf(row.multifactor).length > 0;
    const links = identitiesOf(row).map(({ provider, subject, email }) => linkTo(provider, subject, email));
    return [...links, ...apps, hasFactorThere ? { notes: [WITHOUT_FACTOR] } : {}];
  },
});
