import * as v from 'valibot';
import { canonicalLocale, LOCALE_MAX_LENGTH } from '../../../domain/locale.ts';
import {
  PASSWORD_MAX_BYTES,
  PASSWORD_MIN_CODE_POINTS,
  type PasswordProblem,
  passwordProblem,
} from '../../../domain/password.ts';
import { CODE_PATTERN } from '../../../domain/second-factor.ts';
import { typedCode, typedName } from '../../../domain/text.ts';
import {
  ACCOUNT_MAX_LENGTH,
  EMAIL_MAX_LENGTH,
  EMAIL_PATTERN,
  ID_PATTERN,
  USERNAME_MAX_LENGTH,
  USERNAME_MIN_LENGTH,
  USERNAME_PATTERN,
} from '../../../domain/user.ts';
import { textRule } from '../../json/text-rule.ts';
import { USED_CREDENTIAL_EXAMPLE, UsedCredential } from './passkey-schemas.ts';

/** The schemas of requests, with the limits of the domain, and of parts that responses share. */

/** A proof for a URL of 1,000 characters fits. */
const PROOF_MAX_LENGTH = 2_048;

/** More than the 43 characters that a token has. */
const LINK_TOKEN_MAX = 100;

const Username = v.pipe(
  v.string(),
  v.transform(typedName),
  v.minLength(USERNAME_MIN_LENGTH),
  v.maxLength(USERNAME_MAX_LENGTH),
  v.regex(
    USERNAME_PATTERN,
    'must consist of letters A–Z and a–z, digits, dots, underscores and hyphens, and not have the form of an id',
  ),
);

const Email = v.pipe(
  v.string(),
  v.transform(typedName),
  v.maxLength(EMAIL_MAX_LENGTH),
  v.regex(EMAIL_PATTERN, 'must be an email address'),
);

/** A language tag, in any letter case. */
const Locale = v.pipe(
  v.string(),
  textRule((text) =>
    canonicalLocale(text) === null
      ? { code: 'invalid_format', message: 'must be a language tag, such as de or de-AT' }
      : null,
  ),
  v.metadata({ jsonSchema: { type: 'string', minLength: 2, maxLength: LOCALE_MAX_LENGTH, description: 'BCP 47.' } }),
  v.transform((text) => canonicalLocale(text) ?? text),
);

const PASSWORD_MESSAGES: Readonly<Record<PasswordProblem, string>> = {
  too_short: `must have at least ${PASSWORD_MIN_CODE_POINTS} characters`,
  too_long: `must have at most ${PASSWORD_MAX_BYTES} bytes of UTF-8`,
  invalid_characters: 'must contain neither NUL nor half a surrogate pair',
};

const NewPassword = v.pipe(
  v.string(),
  textRule((password) => {
    const code = passwordProblem(password);
    return code === null ? null : { code, message: PASSWORD_MESSAGES[code] };
  }),
  v.metadata({
    jsonSchema: {
      type: 'string',
      minLength: PASSWORD_MIN_CODE_POINTS,
      // The limit is in bytes, of which a character has one or more.
      maxLength: PASSWORD_MAX_BYTES,
      description: `At most ${PASSWORD_MAX_BYTES} bytes of UTF-8, without NUL.`,
    },
  }),
);

/** Without the limits of new passwords: the current one may be older than these limits. */
const CurrentPassword = v.pipe(v.string(), v.minLength(1));

/** A proof of the key of a device (RFC 9449): a JWT in compact serialization. */
const Proof = v.pipe(
  v.string(),
  v.maxLength(PROOF_MAX_LENGTH),
  v.regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'must be a JWT in compact serialization'),
);

export const Id = v.pipe(
  v.string(),
  v.regex(ID_PATTERN, 'must be an id: 26 letters and digits, as they were issued'),
  v.examples(['01M805M0DQRNB7PKSRES70K5MB']),
);

export const AccessToken = v.pipe(v.string(), v.examples(['eyJhbGciOiJFUzI1NiIs…']));

/** The whole body may be missing (SPEC "Endpoints": refresh has none). */
export const RefreshBody = v.optional(v.pipe(v.object({ proof: v.optional(Proof) }), v.examples([{}])));

/** Longer than a recovery code with a blank or a hyphen between all characters. */
const TYPED_CODE_MAX = 40;

/** A code of an authenticator app. */
const Code = v.pipe(
  v.string(),
  v.maxLength(TYPED_CODE_MAX),
  v.transform(typedCode),
  v.regex(CODE_PATTERN, 'must have six digits'),
  v.examples(['287082']),
);

/** `presentedFactor` and the handler accept exactly one of the members, besides the proof. */
export const StepUpBody = v.pipe(
  v.object({
    password: v.optional(CurrentPassword),
    code: v.optional(Code),
    credential: v.optional(UsedCredential),
    proof: v.optional(Proof),
  }),
  v.examples([{ password: 'correct horse' }]),
);

export const SecondFactorBody = v.pipe(
  v.object({
    code: v.optional(Code),
    recoveryCode: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(TYPED_CODE_MAX))),
    credential: v.optional(UsedCredential),
    remember: v.optional(v.boolean()),
    proof: v.optional(Proof),
  }),
  v.examples([{ code: '287082', remember: true }]),
);

export const ConfirmAppBody = v.pipe(
  v.object({ id: Id, code: Code }),
  v.examples([{ id: '01M805M0DQRNB7PKSRES70K5MB', code: '287082' }]),
);

export const PasskeyLoginBody = v.pipe(
  v.object({ credential: UsedCredential, proof: v.optional(Proof) }),
  v.examples([{ credential: USED_CREDENTIAL_EXAMPLE }]),
);

export const RegisterBody = v.pipe(
  v.object({
    username: Username,
    email: Email,
    password: NewPassword,
    locale: v.optional(Locale),
    proof: v.optional(Proof),
  }),
  v.examples([{ username: 'ada', email: 'ada@example.org', password: 'correct horse' }]),
);

/** Without the format rules of usernames and emails: an account name of another form is not found. */
export const LoginBody = v.pipe(
  v.object({
    account: v.pipe(v.string(), v.transform(typedName), v.minLength(1), v.maxLength(ACCOUNT_MAX_LENGTH)),
    password: CurrentPassword,
    proof: v.optional(Proof),
  }),
  v.examples([{ account: 'ada@example.org', password: 'correct horse' }]),
);

export const LocaleBody = v.pipe(v.object({ locale: Locale }), v.examples([{ locale: 'de-AT' }]));

export const ChangePasswordBody = v.pipe(
  v.object({ currentPassword: CurrentPassword, newPassword: NewPassword }),
  v.examples([{ currentPassword: 'correct horse', newPassword: 'battery staple' }]),
);

/** The address of an account, which gets a link. */
export const AddressBody = v.pipe(v.object({ email: Email }), v.examples([{ email: 'ada@example.org' }]));

/** The token of a link. One of another form is not found. */
const LinkToken = v.pipe(v.string(), v.minLength(1), v.maxLength(LINK_TOKEN_MAX));

export const ConfirmPasswordResetBody = v.pipe(
  v.object({ token: LinkToken, newPassword: NewPassword }),
  v.examples([{ token: 'Yt2mJ8o1Jm3q4Wn0zQe7Rk5sXc9uVb6aLd1fGh2iKj4', newPassword: 'battery staple' }]),
);

export const IdParams = v.object({ id: Id });

export const ErrorCodeParams = v.object({ code: v.pipe(v.string(), v.examples(['AUTH_USER_DUPLICATE'])) });

/** The bodies of requests about accounts. */

export const LinkBody = v.pipe(
  v.object({ token: LinkToken }),
  v.examples([{ token: 'Zk3cO4nJ1xqk0m7h5v8s2r6t9w1y3u5i7o9p2a4d6fg' }]),
);

export const ConfirmEmailChangeBody = v.pipe(
  v.object({ token: LinkToken, password: v.optional(CurrentPassword) }),
  v.examples([{ token: 'Zk3cO4nJ1xqk0m7h5v8s2r6t9w1y3u5i7o9p2a4d6fg', password: 'correct horse' }]),
);

export const ChangeUsernameBody = v.pipe(v.object({ username: Username }), v.examples([{ username: 'ada.lovelace' }]));

export const ChangeEmailBody = v.pipe(
  v.object({ email: Email, password: CurrentPassword }),
  v.examples([{ email: 'ada@example.net', password: 'correct horse' }]),
);

export const DeleteAccountBody = v.pipe(
  v.object({ password: CurrentPassword }),
  v.examples([{ password: 'correct horse' }]),
);
