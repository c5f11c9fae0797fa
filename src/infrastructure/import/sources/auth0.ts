import { sourceOf, together, WITHOUT_FACTOR } from '../export.ts';
import { isTrue, listOf, objectOf, textOf, timeOf } from '../fields.ts';
import { appWith, linkTo } from '../links.ts';

type Identity = { readonly provider: string; readonly subject: string; readonly email?: unknown };

/** The default fields of an export have names for people: `Email Verified`, `Id`. */
const named = (row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const fields = Object.entries(row).map(([name, value]) => [name.toLowerCase().replaceAll(' ', '_'), value]);
  const { id, ...rest } = Object.fromEntries(fields);
  return { user_id: id, ...rest };
};

/** The identities, of which the id of the user, such as `auth0|5e…`, is the first. */
const identitiesOf = (row: Readonly<Record<string, unknown>>): readonly Identity[] => {
  const { user_id: userId, identities } = named(row);
  const [, provider, subject = ''] = /^([^|]+)\|(.+)$/.exec(textOf(userId) ?? '') ?? [];
  const all = listOf(identities)
    .map(objectOf)
    .map((identity) => ({
      provider: textOf(identity.provider) ?? '',
      subject: textOf(identity.user_id) ?? '',
      email: objectOf(identity.profileData).email,
    }));
  return all.length > 0 || provider === undefined ? all : [{ provider, subject }];
};

/** The users (lines of JSON, or CSV), and the password hashes that the support sends: lines of JSON as MongoDB writes them. */
export const auth0 = sourceOf({
  tables: ['users'],
  part: ({ _id, alt_id: custom, passwordHash }) =>
    _id === undefined
      ? null
      : { of: `auth0|${textOf(custom) ?? textOf(objectOf(_id).$oid) ?? ''}`, passwordHash: textOf(passwordHash) },
  keys: (row) =>
    identitiesOf(row).flatMap(({ provider, subject }) => (provider === 'auth0' ? [`auth0|${subject}`] : [])),
  user: (row) => {
    const fields = named(row);
    const apps = listOf(fields.mfa_factors).map((factor) => appWith(objectOf(objectOf(factor).totp).secret));
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
