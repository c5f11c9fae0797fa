import type { ErrorCode } from '../../../domain/errors/catalog.ts';

/** What a client should do about an error. */
export const ADVICE: Readonly<Record<ErrorCode, string>> = {
  AUTH_CREDENTIALS_INVALID:
    'Show that account or password is wrong, and let the user try again. For a user who is logged in, it is the current password. Do not refresh.',
  AUTH_ACCOUNT_DISABLED: 'Tell the user to contact the operator. Do not try again.',
  AUTH_ASSERTION_INVALID:
    'Ask the former system for another assertion once, then show the log-in form. The log has the reason.',
  AUTH_CODE_INVALID: 'Let the user try again, and offer to send another code. Do not refresh.',
  AUTH_DEVICE_UNPROVEN: 'Try once more with a new proof. Without the key of the device, show the log-in form.',
  AUTH_PROOF_EXPIRED: 'Sign another proof by the clock of the service, which is `timestamp`, and try again.',
  AUTH_EMAIL_UNVERIFIED: 'Tell the user to open the link in the email, and offer to send another one.',
  AUTH_FAILED:
    'Wait for a random 100 to 500 ms and refresh again, at most three times. Then show the log-in form. For a page server, the visitor is not logged in.',
  AUTH_LINK_INVALID: 'Tell the user that the link is no longer valid, and offer to send another one.',
  AUTH_PAGE_SERVER_UNKNOWN: 'Correct the id and the secret of the page server, or PAGE_SERVERS. Do not try again.',
  AUTH_PASSKEY_INVALID: 'Ask for new options, and let the user try again. Do not refresh.',
  AUTH_REGISTRATION_CLOSED: 'Hide the registration form. Do not try again.',
  AUTH_SECOND_FACTOR_REQUIRED:
    'Ask the user for what GET /auth/login/pending names, and send it to POST /auth/login/second-factor. Do not send the password again.',
  AUTH_SECOND_FACTOR_INVALID:
    'Let the user try again. If GET /auth/login/pending responds with the same error, begin the log-in again.',
  AUTH_STEP_UP_REQUIRED:
    'Ask the user for what `WWW-Authenticate` names, send it to `POST /auth/step-up`, and repeat the request once with the new access token.',
  AUTH_TOKEN_INVALID:
    'Refresh, and repeat the request once with the new access token. If `WWW-Authenticate` says `invalid_dpop_proof`, repeat it once with another proof.',
  AUTH_TOKEN_MISSING: 'Send the access token. Without one, refresh or show the log-in form.',
  AUTH_REGISTRATION_REFUSED: 'Show `message`. Do not send the same request again.',
  AUTH_IDENTITY_CONFLICT:
    'Show `message`. Let the user log in to the account in another way: that links the provider, unless it was removed; else link it there.',
  AUTH_IDENTITY_UNPROVEN: 'Show the log-in form. Let the user begin again, or log in in another way.',
  AUTH_USER_DUPLICATE:
    'Ask for another username or email. After a registration without a response, try to log in: the user may exist already.',
  CLIENT_PARAMS_VALIDATION_FAILED: 'Show each entry of `details` at its field. Do not send the same request again.',
  CLIENT_REQUEST_RATE_LIMIT_EXCEEDED:
    'Wait as many seconds as `Retry-After` says. Do not refresh and do not log in meanwhile.',
  DB_QUERY_FAILED:
    'Wait a second or more, then try again a few times. After a refresh with this response, the refresh token is still valid.',
  DB_RECORD_NOT_FOUND: 'What was asked for is gone: load its list again. On `/users/me`, it is the user: log out.',
  DB_UNIQUE_VIOLATION: 'Try again once.',
  EXCEPTION_CATALOG_CODE_NOT_FOUND: 'Correct the code; letter case matters.',
  SYS_HTTP_UNEXPECTED_ERROR: 'Decide by the status of the response.',
  SYS_HOOK_UNAVAILABLE: 'Wait as many seconds as `Retry-After` says, then try again a few times.',
  SYS_PROVIDER_UNAVAILABLE:
    'Show the log-in form. Let the user try again after as many seconds as `Retry-After` says, or log in in another way.',
  SYS_SERIALIZATION_ERROR: 'Show a general message, and report the request id.',
  SYS_UNEXPECTED_ERROR: 'Show a general message, and report the request id.',
};

/** Causes and advice for the statuses of SYS_HTTP_UNEXPECTED_ERROR. docs/errors.md has the same texts. */
export const STATUS_ADVICE: readonly { readonly status: number; readonly cause: string; readonly advice: string }[] = [
  {
    status: 400,
    cause:
      'The request is not valid HTTP, or nobody has asked for it (a prefetch, an image), or the client hung up while it sent the body, or before a refresh was answered: its token stays valid.',
    advice: 'Correct the client.',
  },
  {
    status: 403,
    cause: 'The `Origin` is not on the allow-list, or posts a form. In the back office, `message` has the cause.',
    advice: 'Add an origin of yours to `ALLOWED_ORIGINS_PROD` or `ALLOWED_ORIGINS_DEV`.',
  },
  { status: 404, cause: 'There is no such path.', advice: 'Correct the path.' },
  { status: 405, cause: 'The path does not have this method.', advice: 'Use a method that the header `Allow` names.' },
  { status: 408, cause: 'The request did not arrive in time.', advice: 'Send it again.' },
  { status: 413, cause: 'The body has more than 16 KiB.', advice: 'Send less.' },
  {
    status: 415,
    cause: 'The body is not `application/json` in UTF-8, or has an encoding other than `gzip` and `deflate`.',
    advice: 'Set `Content-Type`; send the body uncompressed.',
  },
  {
    status: 431,
    cause: 'There are more than 100 headers, or they are too large.',
    advice: 'Send fewer or shorter headers and cookies.',
  },
  {
    status: 503,
    cause: 'The service is busy, the request took too long, or `GET /health/ready` found a part down.',
    advice: 'Wait as many seconds as `Retry-After` says, then try again.',
  },
];
