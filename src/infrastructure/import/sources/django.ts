import { canonicalEmail } from '../../../domain/user.ts';
import { type Fields, isTrue, objectOf, textOf } from '../fields.ts';
import { base32, linkTo, type Part, sourceOf, totpFactor, WITHOUT_FACTOR } from '../system-export.ts';

/** How entries name their user: by the primary key, or in an export with `--natural-foreign`, by a list with the username. */
const keyOf = (value: unknown): string => (value === undefined || value === null ? '' : JSON.stringify(value));
const naturalKeyOf = (name: unknown): string => (textOf(name) === undefined ? '' : keyOf([name]));

/** The name by which entries refer to a user; `undefined` if it may be the address of another user, who would get the entries. */
const nameIn = ({ username, email }: Fields): unknown => {
  const name = textOf(username);
  if (name === undefined) return email;
  return name.includes('@') && canonicalEmail(name) !== canonicalEmail(textOf(email) ?? '') ? undefined : username;
};

/** Reads an entry of django-allauth or django-otp. Of django-otp, only authenticator apps with codes of 6 digits and 30 seconds are imported. */
const partIn = (fields: Fields): Omit<Part, 'userKey'> | null => {
  switch (fields.model) {
    case 'account.emailaddress':
      return isTrue(fields.verified) ? { verifiedEmail: textOf(fields.email) } : {};
    case 'socialaccount.socialaccount':
      return linkTo(fields.provider, fields.uid, objectOf(fields.extra_data).email);
    case 'mfa.authenticator':
      if (fields.type === 'recovery_codes') return {};
      return fields.type === 'totp' ? totpFactor(objectOf(fields.data).secret) : { notes: [WITHOUT_FACTOR] };
    case 'otp_totp.totpdevice': {
      if (!isTrue(fields.confirmed)) return {};
      const isKnown = fields.digits === 6 && fields.step === 30;
      return isKnown ? totpFactor(base32(Buffer.from(textOf(fields.key) ?? '', 'hex'))) : { notes: [WITHOUT_FACTOR] };
    }
    default:
      return null;
  }
};

/** Reads the output of `manage.py dumpdata`. A custom model of users is recognized by the fields that it has from Django's base class. */
export const django = sourceOf({
  tables: [],
  renamed: ({ model, pk, fields }) => ({ ...objectOf(fields), model, pk }),
  part: (row) => {
    const part = partIn(row);
    return part && { userKey: keyOf(row.user), ...part };
  },
  keys: (row) => [keyOf(row.pk), naturalKeyOf(nameIn(row))],
  isUser: (row) => 'password' in row && 'last_login' in row,
  fields: {
    ...{ id: 'pk', username: 'username', email: 'email', createdAt: 'date_joined' },
    passwordHash: ({ password }) => {
      const hash = textOf(password);
      // In Django, a hash that begins with an exclamation mark means that the user has no password.
      return hash?.startsWith('!') ? undefined : hash;
    },
    disabled: (row) => !isTrue(row.is_active ?? true),
  },
});
