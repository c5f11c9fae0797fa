import { type Part, sourceOf, WITHOUT_FACTOR } from '../export.ts';
import { isTrue, objectOf, textOf, timeOf } from '../fields.ts';
import { appWith, base32, linkTo } from '../links.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A user is named by the primary key or, with `--natural-foreign`, by a list with the username. */
const keyOf = (value: unknown): string => JSON.stringify(value ?? null);

/** Models of django-allauth and django-otp. Codes of 6 digits and 30 seconds from an authenticator app come over. */
const PARTS: Readonly<Record<string, (fields: Fields) => Omit<Part, 'of'>>> = {
  'account.emailaddress': ({ email, verified }) => (isTrue(verified) ? { verifiedEmail: textOf(email) } : {}),
  'socialaccount.socialaccount': ({ provider, uid, extra_data: data }) =>
    linkTo(textOf(provider) ?? '', uid, objectOf(data).email),
  'mfa.authenticator': ({ type, data }) => {
    if (type === 'recovery_codes') return {};
    return type === 'totp' ? appWith(objectOf(data).secret) : { notes: [WITHOUT_FACTOR] };
  },
  'otp_totp.totpdevice': ({ confirmed, key, digits, step }) => {
    if (!isTrue(confirmed)) return {};
    return digits === 6 && step === 30
      ? appWith(base32(Buffer.from(textOf(key) ?? '', 'hex')))
      : { notes: [WITHOUT_FACTOR] };
  },
};

/** What `manage.py dumpdata` writes. A model of its own for users is known by the fields that Django's base class has. */
export const django = sourceOf({
  tables: [],
  part: ({ model, fields }) => {
    const [read, values] = [PARTS[textOf(model) ?? ''], objectOf(fields)];
    return read === undefined ? null : { of: keyOf(values.user), ...read(values) };
  },
  keys: ({ pk, fields }) => [keyOf(pk), keyOf([objectOf(fields).username]), keyOf([objectOf(fields).email])],
  user: ({ pk, fields }) => {
    const values = objectOf(fields);
    if (!('password' in values && 'last_login' in values)) return null;
    const password = textOf(values.password);
    return {
      user: {
        id: textOf(pk),
        username: textOf(values.username),
        email: textOf(values.email),
        // Django marks a password that nobody has with an exclamation mark.
        passwordHash: password?.startsWith('!') ? undefined : password,
        createdAt: timeOf(values.date_joined),
        disabled: !isTrue(values.is_active ?? true),
      },
    };
  },
});
