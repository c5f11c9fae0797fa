/** The log level of an error. SPEC "Exception mapping". */
export type ErrorLevel = 'info' | 'warn' | 'error' | 'fatal';

export type CatalogEntry = {
  readonly status: number;
  /** Whether the client may try again after waiting. */
  readonly retryable: boolean;
  readonly level: ErrorLevel;
  readonly message: string;
  /** For readers of the catalog, with advice for the client. */
  readonly description: string;
  readonly published: boolean;
};

export const ENTRY_DEFAULTS = { retryable: false, level: 'info', published: true } as const;
export type CatalogRow = Omit<CatalogEntry, keyof typeof ENTRY_DEFAULTS> & Partial<CatalogEntry>;

/** The code of an application's own error: `{DOMAIN}_{NOUN}_{CONDITION}`. */
export type OwnErrorCode = `${Uppercase<string>}_${Uppercase<string>}_${Uppercase<string>}`;
/** Rejects codes of another form, except for AUTH_FAILED: the specification names it so, without a noun. */
type WellFormed<Code> = Code extends OwnErrorCode | 'AUTH_FAILED' ? Code : never;

const defineCatalog = <const Table extends Record<string, CatalogRow>>(
  table: Table & { [Code in keyof Table]: WellFormed<Code> extends never ? never : Table[Code] },
): { readonly [Code in keyof Table]: CatalogEntry } => {
  const entries = Object.entries<CatalogRow>(table).map(([code, draft]) => [code, { ...ENTRY_DEFAULTS, ...draft }]);
  return Object.freeze(Object.fromEntries(entries));
};

/** All errors of the service: those of SPEC "Catalog", and others. */
export const CATALOG = defineCatalog({
  CLIENT_PARAMS_VALIDATION_FAILED: {
    status: 400,
    message: 'The request parameters are not valid.',
    description: 'The request does not match the schema of the route. `details` lists every field that is not valid.',
  },
  AUTH_CREDENTIALS_INVALID: {
    status: 401,
    message: 'The account or the password is wrong.',
    description: 'No account matches this name and password. The response does not say which of the two is wrong.',
  },
  AUTH_ASSERTION_INVALID: {
    status: 401,
    message: 'The assertion was not accepted.',
    description:
      'The assertion of the former system is malformed, has an invalid signature, is for another service, has expired after a minute or was used before; or there is no such user, or the user has chosen another password here, or has to add a second factor first. The response does not say which.',
  },
  AUTH_TOKEN_INVALID: {
    status: 401,
    message: 'The access token is not valid.',
    description:
      'The access token is malformed, has an invalid signature or has expired, or its session has ended. Refresh it, or log in again. Or it is bound to a key (`cnf`), and the request has no proof of that key that is valid and unused: send `Authorization: DPoP`, and a new proof (RFC 9449).',
  },
  AUTH_TOKEN_MISSING: {
    status: 401,
    message: 'An access token is required.',
    description: 'The route requires a Bearer token in the Authorization header, and the request has none.',
  },
  AUTH_STEP_UP_REQUIRED: {
    status: 401,
    message: 'The user has to authenticate again.',
    description:
      'The access token is valid, but the route requires that the user has authenticated recently, or with a second factor: the header WWW-Authenticate says which (`max_age` in seconds, `acr_values`, or both). Ask the user, send the answer to POST /auth/step-up, and repeat the request with the access token that it returns.',
  },
  AUTH_SECOND_FACTOR_REQUIRED: {
    status: 401,
    message: 'A second factor is required.',
    description:
      'The account has a second factor, which the user has not shown, or every user needs one. No session was opened.',
  },
  AUTH_SECOND_FACTOR_INVALID: {
    status: 401,
    message: 'The second factor was not accepted.',
    description:
      'The code is wrong or was used, or no log-in waits for a second factor: it has expired after five minutes (with a code by mail, after ten), has ended, or the account has changed since. At the enrolment of an authenticator app: the code is wrong, or the account has as many apps as it may have.',
  },
  AUTH_CODE_INVALID: {
    status: 401,
    message: 'The code was not accepted.',
    description:
      'The code of the mail is wrong, was used or has expired after ten minutes; or that of a log-in was guessed five times, or another browser has asked for it. That of an app was used, has expired after a minute, or is for another verifier; or its session has ended. Ask for a new one.',
  },
  AUTH_PASSKEY_INVALID: {
    status: 401,
    message: 'The passkey was not accepted.',
    description:
      'The answer of the authenticator is for another page or another service, was changed, or answers a challenge that was used or has expired; or the account has as many passkeys as it may have. Nothing has changed. Ask for new options, and try again.',
  },
  AUTH_PAGE_SERVER_UNKNOWN: {
    status: 401,
    message: 'The page server is not known.',
    description:
      'The route is for servers that render pages. It requires the id and the secret of one that PAGE_SERVERS lists, in the header Authorization (Basic).',
  },
  AUTH_DEVICE_UNPROVEN: {
    status: 401,
    message: 'The device is not proven.',
    description:
      'The session is bound to a key of its device, and the request has no proof of this key that is valid and unused. The session continues. Try again once with another proof; without the key, log in again.',
  },
  AUTH_PROOF_EXPIRED: {
    status: 401,
    message: 'The proof is no longer valid.',
    description:
      'The proof is right, but its time differs from the clock of the service by more than a minute, or it was used before. Sign another one by that clock: `timestamp` is its time.',
  },
  AUTH_ACCOUNT_DISABLED: {
    status: 403,
    message: 'The account is disabled.',
    description:
      'The user has authenticated, but an operator has disabled the account. Only an operator can enable it again.',
  },
  AUTH_EMAIL_UNVERIFIED: {
    status: 403,
    message: 'The email address is not verified.',
    description:
      'The user has authenticated, but the owner of the email address has not confirmed it. Open the link in the email, or ask for another one.',
  },
  AUTH_REGISTRATION_CLOSED: {
    status: 403,
    message: 'Registration is closed.',
    description:
      'The service lets nobody register, or only those who have an invitation. Users who have an account log in as before.',
  },
  AUTH_REGISTRATION_REFUSED: {
    status: 403,
    message: 'The registration was refused.',
    description:
      'The service does not accept this registration, or this address for a change of the email, whether or not the address has an account: its domain is not allowed, the invitation is not valid for it, a provider has not proven it, or the operator has refused it. `message` may say why.',
  },
  AUTH_LINK_INVALID: {
    status: 400,
    message: 'The link is not valid.',
    description:
      'The link was used, was replaced by a newer one, has expired or never existed, or the account has changed or was disabled since. Ask for a new one.',
  },
  AUTH_FAILED: {
    status: 401,
    message: 'Authentication failed.',
    description:
      'The refresh token is missing, invalid or already rotated, its session has ended, or its user does not exist or is disabled. Another tab may have refreshed at the same time: try again after a short random wait, and log in again only if that fails too.',
    published: false,
  },
  DB_RECORD_NOT_FOUND: {
    status: 404,
    message: 'The record does not exist.',
    description: 'The requested record does not exist or was deleted.',
  },
  EXCEPTION_CATALOG_CODE_NOT_FOUND: {
    status: 404,
    message: 'The error code does not exist.',
    description: 'The catalog does not contain the requested error code.',
  },
  AUTH_USER_DUPLICATE: {
    status: 409,
    message: 'This username or email is already registered.',
    description:
      'The username or the email belongs to a registered user, or a user gave the email up within the last seven days and can still undo that. `message` says which. If an earlier attempt got a 5xx or no response, it may have succeeded: log in.',
  },
  AUTH_IDENTITY_CONFLICT: {
    status: 409,
    message: 'An account with this email address exists. Log in to it in another way, and link the provider there.',
    description:
      'A log-in at a provider does not fit the accounts: the address has one with another way in, or one that has removed this log-in, or not both the provider and the account have proven the address; or the identity is linked to another account; or the only way into an account cannot be removed. `message` says which, and what to do.',
  },
  AUTH_IDENTITY_UNPROVEN: {
    status: 401,
    message: 'The log-in at the provider did not succeed.',
    description:
      'The user has cancelled the log-in at the provider, has taken more than ten minutes, or has come back a second time or in another browser; or the answer of the provider is not valid. Begin again.',
  },
  DB_UNIQUE_VIOLATION: {
    status: 409,
    level: 'warn',
    message: 'The record already exists.',
    description: 'A write violated a uniqueness constraint.',
  },
  CLIENT_REQUEST_RATE_LIMIT_EXCEEDED: {
    status: 429,
    retryable: true,
    level: 'warn',
    message: 'Too many requests.',
    description:
      'Too many requests to the route, or too many failed log-ins to the account. Wait for the number of seconds in the Retry-After header.',
  },
  DB_QUERY_FAILED: {
    status: 500,
    retryable: true,
    level: 'error',
    message: 'A database query failed.',
    description: 'A query failed because of a connection time-out, a syntax error or a transaction conflict.',
  },
  SYS_HTTP_UNEXPECTED_ERROR: {
    status: 500,
    level: 'error',
    message: 'The request could not be handled.',
    description: 'An HTTP error of the framework. The status of the response is that of the error.',
  },
  SYS_HOOK_UNAVAILABLE: {
    status: 503,
    retryable: true,
    level: 'error',
    message: 'A check by the operator is not available.',
    description:
      'The operator checks such requests with a program of their own, which did not give a valid answer in time. Nothing was changed. Wait for the number of seconds in the Retry-After header.',
  },
  SYS_PROVIDER_UNAVAILABLE: {
    status: 503,
    retryable: true,
    level: 'error',
    message: 'The provider is not available.',
    description:
      'The provider of the log-in did not give a valid answer in time. Nothing was changed. Wait for the number of seconds in the Retry-After header, and begin again, or log in in another way.',
  },
  SYS_SERIALIZATION_ERROR: {
    status: 500,
    level: 'error',
    message: 'The response could not be serialized.',
    description: 'The returned value does not match the response schema. This is a fault of the service.',
  },
  SYS_UNEXPECTED_ERROR: {
    status: 500,
    level: 'fatal',
    message: 'An unexpected error occurred.',
    description: 'An unexpected server error that the client did not cause.',
  },
});

export type ErrorCode = keyof typeof CATALOG;
