import { domainToASCII } from 'node:url';
import * as v from 'valibot';
import type { FieldCode } from '../../domain/errors/app-error.ts';
import { LOGIN_CODE_PATTERN } from '../../domain/login-code.ts';
import { type PasswordLimits, type PasswordProblem, passwordProblem } from '../../domain/password.ts';
import { CODE_PATTERN } from '../../domain/second-factor.ts';
import { canonicalLocale, LOCALE_MAX_LENGTH, typedCode, typedName } from '../../domain/text.ts';
import {
  EMAIL_MAX_LENGTH,
  EMAIL_PATTERN,
  ID_PATTERN,
  USERNAME_MAX_LENGTH,
  USERNAME_MIN_LENGTH,
  USERNAME_PATTERN,
} from '../../domain/user.ts';

/** The domain of an email address, unless it has characters of a path, a query or a fragment, which `domainToASCII` would cut off. */
const DOMAIN = /(?<=@)[\w.\u0080-\u{10ffff}-]{1,253}$/u;

/** Normalizes a typed username or email address. An international domain gets its form in ASCII: `jo@xn--bcher-kva.example`. */
export const typedAccount = (text: string): string =>
  typedName(text).replace(DOMAIN, (domain) => domainToASCII(domain) || domain);

type Problem = { readonly code: FieldCode; readonly message: string };

/** A check that valibot does not have. Its code is passed to `fieldProblems` in `received`. @param check returns `null` for a valid value */
export const fieldRule = <Input>(check: (value: Input) => Problem | null) =>
  v.rawCheck<Input>(({ dataset, addIssue }) => {
    const problem = dataset.typed ? check(dataset.value) : null;
    if (problem !== null) addIssue({ received: problem.code, message: problem.message });
  });

export const textRule = fieldRule<string>;

export const Username = v.pipe(
  v.string(),
  v.description('3 to 32 of `A–Z`, `a–z`, `0–9`, `.`, `_` and `-`, but no ULID. Unique, whatever the letter case.'),
  v.transform(typedName),
  v.minLength(USERNAME_MIN_LENGTH),
  v.maxLength(USERNAME_MAX_LENGTH),
  v.regex(
    USERNAME_PATTERN,
    'must consist of letters A–Z and a–z, digits, dots, underscores and hyphens, and not have the form of an id',
  ),
);

export const Email = v.pipe(
  v.string(),
  v.description(
    'At most 254 characters. It becomes lower case, and an international domain its form in ASCII. Unique.',
  ),
  v.transform(typedAccount),
  v.maxLength(EMAIL_MAX_LENGTH),
  v.regex(EMAIL_PATTERN, 'must be an email address'),
);

export const Locale = v.pipe(
  v.string(),
  textRule((text) =>
    canonicalLocale(text) === null
      ? { code: 'invalid_format', message: 'must be a language tag, such as de or de-AT' }
      : null,
  ),
  v.metadata({ jsonSchema: { type: 'string', minLength: 2, maxLength: LOCALE_MAX_LENGTH, description: 'BCP 47.' } }),
  v.transform((text) => canonicalLocale(text) ?? text),
);

export const newPassword = (limits: PasswordLimits) => {
  const { minLength, maxBytes } = limits;
  const messages: Readonly<Record<PasswordProblem, string>> = {
    too_short: `must have at least ${minLength} characters`,
    too_long: `must have at most ${maxBytes} bytes of UTF-8`,
    invalid_characters: 'must contain neither NUL nor half a surrogate pair',
  };
  const description = `At most ${maxBytes} bytes of UTF-8, without NUL.`;
  return v.pipe(
    v.string(),
    textRule((password) => {
      const code = passwordProblem(password, limits);
      return code === null ? null : { code, message: messages[code] };
    }),
    // `maxBytes` bounds the number of characters as well, since each has at least one byte.
    v.metadata({ jsonSchema: { type: 'string', minLength, maxLength: maxBytes, description } }),
  );
};

/** Without the limits of a new password, since the password may have been set under other limits than today's. */
export const CurrentPassword = v.pipe(v.string(), v.minLength(1));

export const Extra = v.pipe(
  v.record(
    v.pipe(
      v.string(),
      v.regex(/^[\w-]{1,50}$/, 'must have a name of up to 50 letters, digits, underscores and hyphens'),
    ),
    // The answer of a CAPTCHA may have some 2,000 characters.
    v.pipe(v.string(), v.maxLength(4_096)),
  ),
  v.maxEntries(10),
  v.description('For a hook of the operator, such as the answer of a CAPTCHA.'),
);

/** Characters, enough for the proof of a request to a URL of 1,000 characters. */
export const PROOF_MAX_LENGTH = 2_048;

export const Proof = v.pipe(
  v.string(),
  v.maxLength(PROOF_MAX_LENGTH),
  v.regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'must be a JWT in compact serialization'),
  v.description('A proof of the key of the device (RFC 9449).'),
);

/** The code that a log-in at the pages of the service or at a provider adds to the URL to which it sends the browser back (ADR 0006). */
export const BindingCode = v.pipe(v.string(), v.maxLength(300), v.regex(/^[\w.-]+$/, 'must be a code of the address'));

export const Id = v.pipe(
  v.string(),
  v.regex(ID_PATTERN, 'must be an id: 26 letters and digits, as they were issued'),
  v.examples(['01M805M0DQRNB7PKSRES70K5MB']),
);

export const IdParams = v.object({ id: Id });

/** A whole number from 1 to `maximum`, in a query. */
export const numberUpTo = (maximum: number, described: { readonly default?: number } = {}) =>
  v.pipe(
    v.string(),
    v.regex(new RegExp(`^\\d{1,${`${maximum}`.length}}$`), 'must be a whole number'),
    // The metadata stand before the transformation, since the OpenAPI document ignores what follows a transformation.
    v.metadata({ jsonSchema: { type: 'integer', minimum: 1, maximum, ...described } }),
    v.transform(Number),
    v.minValue(1),
    v.maxValue(maximum),
  );

export const DEFAULT_LIMIT = 50;
export const Limit = numberUpTo(100, { default: DEFAULT_LIMIT });

/** Characters. A recovery code has 24, and five hyphens between its groups. Blanks may be typed as well. */
export const TYPED_CODE_MAX = 40;

const codeSchema = (pattern: RegExp, message: string, example: string, description: string) =>
  v.pipe(
    v.string(),
    v.description(description),
    v.examples([example]),
    v.maxLength(TYPED_CODE_MAX),
    v.transform(typedCode),
    v.regex(pattern, message),
  );

export const Totp = codeSchema(CODE_PATTERN, 'must have six digits', '287082', 'Six digits of an authenticator app.');
export const MailCode = codeSchema(LOGIN_CODE_PATTERN, 'must have eight digits', '48151623', 'Eight digits of a mail.');

/** The token of a link in a mail, which has 43 characters. Its form is not checked, since a malformed token is not found anyway. */
export const LinkToken = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(100),
  v.description('The text after `#token=` in the link.'),
);

export const LinkBody = v.object({ token: LinkToken });

export const AddressBody = v.object({ email: Email });

/** Epoch milliseconds of the last time whose year has four digits, as RFC 3339 §5.6 requires. */
const LAST_TIMESTAMP = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Returns a function that writes times in ISO 8601. It remembers the last text, since `createdAt` and `updatedAt` are often the same. */
export const isoTime = (): ((time: number) => string) => {
  let [last, text] = [Number.NaN, ''];
  return (time) => {
    if (time !== last) [last, text] = [time, new Date(time).toISOString()];
    return text;
  };
};

/** Epoch milliseconds → ISO 8601 in UTC. */
export const Timestamp = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
  v.maxValue(LAST_TIMESTAMP),
  v.transform(isoTime()),
  v.metadata({ jsonSchema: { type: 'string', format: 'date-time' } }),
);

const TIMESTAMP_PROBLEM = 'must be a time such as 2026-11-21T23:03:48.228Z';
/** ISO 8601 → epoch milliseconds. */
export const FromTimestamp = v.pipe(
  v.string(),
  v.isoTimestamp(TIMESTAMP_PROBLEM),
  v.transform((text) => Date.parse(text)),
  v.integer(TIMESTAMP_PROBLEM),
);

/** This function and the next ones make members of one type from their names. */
export const texts = <const Names extends readonly string[]>(...names: Names) => v.entriesFromList(names, v.string());
export const nullableTexts = <const Names extends readonly string[]>(...names: Names) =>
  v.entriesFromList(names, v.nullable(v.string()));
export const numbers = <const Names extends readonly string[]>(...names: Names) => v.entriesFromList(names, v.number());
export const flags = <const Names extends readonly string[]>(...names: Names) => v.entriesFromList(names, v.boolean());
export const times = <const Names extends readonly string[]>(...names: Names) => v.entriesFromList(names, Timestamp);
export const nullableTimes = <const Names extends readonly string[]>(...names: Names) =>
  v.entriesFromList(names, v.nullable(Timestamp));

const publicUser = <Time extends v.GenericSchema>(time: Time) => ({
  ...texts('id', 'username', 'email'),
  ...{ createdAt: time, updatedAt: time },
});

/** The domain's public user → JSON, without the other members of a user. */
export const PublicUserJson = v.pipe(v.object(publicUser(Timestamp)), v.title('User'));

export const AttributesJson = v.record(v.string(), v.unknown());

export const CurrentUserJson = v.pipe(
  v.object({
    ...PublicUserJson.entries,
    emailVerified: v.pipe(v.boolean(), v.description('Whether the owner of the address has proven it.')),
    attributes: AttributesJson,
    locale: v.nullable(v.string()),
    secondFactor: v.pipe(v.boolean(), v.description('Whether log-ins with the password need a second factor.')),
    passkeys: v.number(),
  }),
  v.title('CurrentUser'),
);

/** JSON → the domain's public user. Refuses unknown members. */
export const PublicUserFromJson = v.strictObject(publicUser(FromTimestamp));

const AccessToken = v.pipe(v.string(), v.examples(['eyJhbGciOiJFUzI1NiIs…']));

export const RefreshResult = v.object({ accessToken: AccessToken });
export const LoginResult = v.object({ accessToken: AccessToken, user: PublicUserJson });
