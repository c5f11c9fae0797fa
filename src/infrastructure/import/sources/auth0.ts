import { type Fields, isTrue, listOf, objectOf, objectsIn, renamed, textOf, timeOf } from '../fields.ts';
import { appWith, linkTo } from '../links.ts';
import { sourceOf, together, WITHOUT_FACTOR } from '../system-export.ts';

type Identity = { readonly provider: string; readonly subject: string; readonly email?: unknown };

/** The default fields of an export have names for people: `Email Verified`, `Id`. */
const named = (row: Fields): Fields => {
  const { id, ...rest } = renamed(row, (name) => name.toLowerCase().replaceAll(' ', '_'));
  return { user_id: id, ...rest };
};

/** The identities. A user without a list of them has one: that in the id, such as `auth0|5e…`. */
const identitiesOf = (row: Fields): readonly Identity[] => {
  const { user_id: userId, identities } = named(row);
  const [, provider, subject = ''] = /^([^|]+)\|(.+)$/.exec(textOf(userId) ?? '') ?? [];
  const all = objectsIn(identities).map((identity) => ({
    provider: textOf(identity.provider) ?? '',
    subject: textOf(identity.user_id) ?? '',
    email: objectOf(identity.profileData).email,
  }));
  return all.length > 0 || provider === undefined ? all : [{ provider, subject }];
};

const keyOf = (id = ''): string => (id === '' ? '' : `auth0|${id}`);

/** The users (lines of JSON, or CSV), and the password hashes that the support sends: lines of JSON as MongoDB writes them. */
export const auth0 = sourceOf({
  tables: ['users'],
  part: ({ _id, alt_id: custom, passwordHash }) =>
    _id === undefined
      ? null
      : { of: keyOf(textOf(custom) ?? textOf(objectOf(_id).$oid)), passwordHash: textOf(passwordHash) },
  keys: (row) => identitiesOf(row).map(({ provider, subject }) => (provider === 'auth0' ? keyOf(subject) : '')),
  user: (row) => {
    const fields = named(row);
    const apps = objectsIn(fields.mfa_factors).map(({ totp }) => appWith(objectOf(totp).secret));
    const hasFactorThere = listOf(fields.multifactor).length > 0;
    const { notes, ...linked } = together(
      ...identitiesOf(row).map(({ provider, subject, email }) => linkTo(provider, subject, email)),
      ...(apps.length === 0 && hasFactorThere ? [{ notes: [WITHOUT_FACTOR] }] : apps),
    );
    return {
      user: {
        id: textOf(fields.user_id),
        username: textOf(fields.username),
        email: textOf(fields.email),
        emailVerified: isTrue(fields.email_verified),
        createdAt: timeOf(fields.created_at),
        disabled: isTrue(fields.blocked),
        ...linked,
      },
      notes,
    };
  },
});
