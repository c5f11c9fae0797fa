/** How loudly an error is logged. SPEC "Exception mapping". */
export type ErrorLevel = 'info' | 'warn' | 'error' | 'fatal';

/** One row of the catalog. */
export type CatalogEntry = {
  /** HTTP status. */
  readonly status: number;
  /** Whether the cause is temporary, so that a client may try again after waiting. */
  readonly retryable: boolean;
  readonly level: ErrorLevel;
  /** What the client reads in the error envelope. */
  readonly message: string;
  /** What the reader of the catalog learns. */
  readonly description: string;
  /** Whether the catalog's endpoints show it. */
  readonly published: boolean;
};

type Draft = Omit<CatalogEntry, 'published'> & { readonly published?: false };

type Upper = Uppercase<string>;
/** `{DOMAIN}_{NOUN}_{CONDITION}`; AUTH_FAILED, which the specification leaves out of the catalog, has no noun. */
type Form<Code> = Code extends `${Upper}_${Upper}_${Upper}` | 'AUTH_FAILED' ? Code : never;

const defineCatalog = <const Table extends Record<string, Draft>>(
  table: Table & { [Code in keyof Table]: Form<Code> extends never ? never : Table[Code] },
): { readonly [Code in keyof Table]: CatalogEntry } => {
  const entries = Object.entries<Draft>(table).map(([code, draft]) => [code, { published: true, ...draft }]);
  return Object.freeze(Object.fromEntries(entries));
};

/** THE table of errors. SPEC "Catalog". */
export const CATALOG = defineCatalog({
  CLIENT_PARAMS_VALIDATION_FAILED: {
    status: 400,
    retryable: false,
    level: 'info',
    message: 'The request does not have the form this route asks for.',
    description: 'Request parameters violate the schema of the route; `details` lists every field that does.',
  },
  AUTH_CREDENTIALS_INVALID: {
    status: 401,
    retryable: false,
    level: 'info',
    message: 'Account or password is wrong.',
    description: 'Account and password match no known account. Which of the two is wrong is not told.',
  },
  AUTH_TOKEN_INVALID: {
    status: 401,
    retryable: false,
    level: 'info',
    message: 'The access token is not valid.',
    description: 'The access token is malformed, badly signed or expired. Refresh it, or log in again.',
  },
  AUTH_TOKEN_MISSING: {
    status: 401,
    retryable: false,
    level: 'info',
    message: 'An access token is needed.',
    description: 'The request carries no Bearer token in its Authorization header, and the route requires one.',
  },
  AUTH_FAILED: {
    status: 401,
    retryable: false,
    level: 'info',
    message: 'Authentication failed.',
    description:
      'The refresh token is missing, invalid or already rotated, or its user does not exist. Another tab may have refreshed just now: try again after a short random wait, and log in again only if that fails too.',
    published: false,
  },
  DB_RECORD_NOT_FOUND: {
    status: 404,
    retryable: false,
    level: 'info',
    message: 'There is no such record.',
    description: 'The target record does not exist or was deleted.',
  },
  EXCEPTION_CATALOG_CODE_NOT_FOUND: {
    status: 404,
    retryable: false,
    level: 'info',
    message: 'There is no such error code.',
    description: 'The requested error code is not in the catalog.',
  },
  AUTH_USER_DUPLICATE: {
    status: 409,
    retryable: false,
    level: 'info',
    message: 'This username or email is already registered.',
    description: 'The username or the email belongs to a registered user. Which of the two is not told.',
  },
  DB_UNIQUE_VIOLATION: {
    status: 409,
    retryable: false,
    level: 'warn',
    message: 'Such a record exists already.',
    description: 'A uniqueness constraint was violated on write or update.',
  },
  CLIENT_REQUEST_RATE_LIMIT_EXCEEDED: {
    status: 429,
    retryable: true,
    level: 'warn',
    message: 'Too many requests.',
    description:
      'Too many requests to the route, or failed log-ins at the account. Wait as many seconds as the header Retry-After says.',
  },
  DB_QUERY_FAILED: {
    status: 500,
    retryable: true,
    level: 'error',
    message: 'The database did not answer as it should.',
    description: 'A database query failed: connection time-out, syntax error or transaction conflict.',
  },
  SYS_HTTP_UNEXPECTED_ERROR: {
    status: 500,
    retryable: false,
    level: 'error',
    message: 'The request could not be served.',
    description: 'Wraps an HTTP exception of the framework; the status is the original one.',
  },
  SYS_SERIALIZATION_ERROR: {
    status: 500,
    retryable: false,
    level: 'error',
    message: 'The answer could not be written.',
    description: 'The response schema and the returned value disagree. This is a fault of the service.',
  },
  SYS_UNEXPECTED_ERROR: {
    status: 500,
    retryable: false,
    level: 'fatal',
    message: 'Something went wrong.',
    description: 'An unexpected exception that the client did not cause.',
  },
});

export type ErrorCode = keyof typeof CATALOG;
