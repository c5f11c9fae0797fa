import {
  altering,
  asking,
  both,
  errorWith,
  type Fault,
  isError,
  isSuccess,
  isTo,
  type Json,
  LOGIN,
  parsed,
  REGISTER,
  withBody,
  withData,
  withHeaders,
} from './alterations.ts';
import type { Answered, Behavior } from './faulty-server.ts';

const RESET = 'POST /auth/password-reset';
const VERIFICATION = 'POST /auth/email-verification';
const USERNAME = 'PUT /users/me/username';
const EMAIL = 'PUT /users/me/email';
const EXPORT = 'GET /users/me/export';
const DELETE = 'DELETE /users/me';
const NOBODY = ({ body }: { readonly body: string }) => body.includes('nobody.');
const isEvents = ({ path }: { readonly path: string }) => path.startsWith('/users/me/events');

const DONE: Answered = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ success: true, data: null, timestamp: new Date().toISOString(), context: {} }),
};

/** Takes any password on a route for the right one, which it has seen at the registration. */
const ignoringPasswords = (to: string) => (): Behavior => {
  let password: unknown;
  return (asked, forward) => {
    if (isTo(REGISTER)(asked, DONE)) ({ password } = parsed(asked.body));
    if (!isTo(to)(asked, DONE)) return forward(asked);
    return forward({ ...asked, body: JSON.stringify({ ...parsed(asked.body), password }) });
  };
};

/** Refuses log-ins as soon as a route was called, whatever for. */
const lockedOutBy = (to: string) => (): Behavior => {
  let isLocked = false;
  return async (asked, forward) => {
    isLocked ||= isTo(to)(asked, DONE);
    return isLocked && isTo(LOGIN)(asked, DONE) ? errorWith(401, 'AUTH_CREDENTIALS_INVALID') : forward(asked);
  };
};

/** Refuses what the service refuses, and otherwise says that the account is gone, which it is not. */
const keepingAccounts = (): Behavior => {
  let refusals = 0;
  return async (asked, forward) => {
    if (!isTo(DELETE)(asked, DONE)) return forward(asked);
    refusals += 1;
    return refusals === 1 ? forward(asked) : DONE;
  };
};

/** Says that the username is changed, which it is not. */
const keepingUsernames = (): Behavior => async (asked, forward) => {
  if (!isTo(USERNAME)(asked, DONE)) return forward(asked);
  const user = await forward({ ...asked, method: 'GET', path: '/users/me', body: '' });
  return withData((data) => ({ ...data, username: parsed(asked.body).username }))(user);
};

/** Gives a taken username to the user all the same, a little changed. */
const sharingUsernames = (): Behavior => async (asked, forward) => {
  const answered = await forward(asked);
  if (!isTo(USERNAME)(asked, answered) || answered.status !== 409) return answered;
  return forward({ ...asked, body: JSON.stringify({ username: `a${parsed(asked.body).username}` }) });
};

/** Keeps the names of deleted accounts. */
const keepingNames = (): Behavior => {
  let deletions = 0;
  return async (asked, forward) => {
    if (isTo(REGISTER)(asked, DONE) && deletions > 0) return errorWith(409, 'AUTH_USER_DUPLICATE');
    const answered = await forward(asked);
    if (isTo(DELETE)(asked, answered) && isSuccess(asked, answered)) deletions += 1;
    return answered;
  };
};

const eventsWith = (change: (event: Json) => Json) =>
  altering(
    both(isEvents, isSuccess),
    withData((data) => ({ ...data, events: (data.events as Json[]).map(change) })),
  );

const fault = (caughtBy: string, expected: string, what: string, behavior: () => Behavior): Fault => ({
  caughtBy,
  expected,
  what,
  behavior,
});

const linkFaults: readonly Fault[] = [
  fault(
    'password-reset-request',
    'the same response',
    '404 to an unknown address that asks for a reset',
    altering(both(isTo(RESET), NOBODY), () => errorWith(404, 'DB_RECORD_NOT_FOUND')),
  ),
  fault(
    'password-reset-request',
    'the same response',
    'one more header when a reset was sent',
    altering(
      (asked, answered) => isTo(RESET)(asked, answered) && !NOBODY(asked),
      withHeaders((headers) => ({ ...headers, 'x-mail': 'sent' })),
    ),
  ),
  fault(
    'password-reset-request',
    'no Set-Cookie',
    'a cookie for everybody who asks for a reset',
    altering(
      isTo(RESET),
      withHeaders((headers) => ({ ...headers, 'set-cookie': ['seen=1'] })),
    ),
  ),
  fault(
    'email-verification-request',
    'the same response',
    'an answer that says whether a proof was sent',
    altering(isTo(VERIFICATION), (answered, asked) =>
      withBody((body) => ({ ...body, data: { sent: !NOBODY(asked) } }))(answered),
    ),
  ),
  fault(
    'made-up-links',
    'AUTH_LINK_INVALID',
    'a reset with any token',
    altering(isTo(`${RESET}/confirm`), () => DONE),
  ),
  fault(
    'made-up-links',
    'AUTH_LINK_INVALID',
    'another code for a link that takes an address back',
    altering(
      both(isTo('POST /auth/email-change/undo'), isError),
      withBody((body) => ({ ...body, code: 'AUTH_TOKEN_INVALID' })),
    ),
  ),
  fault(
    'made-up-links',
    'a status of 2xx',
    'a made-up token that locks the user out',
    lockedOutBy(`${VERIFICATION}/not-me`),
  ),
  fault(
    'email-change-request',
    'AUTH_CREDENTIALS_INVALID',
    'a new address without a password',
    ignoringPasswords(EMAIL),
  ),
  fault(
    'email-change-request',
    'the same response',
    'one more header when the new address has an account',
    altering(
      (asked, answered) => isTo(EMAIL)(asked, answered) && !/"new\./.test(asked.body),
      withHeaders((headers) => ({ ...headers, 'x-account': 'known' })),
    ),
  ),
  fault(
    'email-change-request',
    'the address',
    'an address that counts before it is verified',
    altering(
      both(isTo('GET /users/me'), isSuccess),
      withData((data) => ({ ...data, email: 'new@example.org' })),
    ),
  ),
];

const lifeFaults: readonly Fault[] = [
  fault('username-change', 'a status of 2xx', 'a new username that does not log in', keepingUsernames),
  fault('username-change', 'AUTH_USER_DUPLICATE', 'a taken username', sharingUsernames),
  fault(
    'account-events',
    'session-ended with the reason logout',
    'events without a reason',
    eventsWith((event) => ({ ...event, reason: null })),
  ),
  fault(
    'account-events',
    'within 60 pages',
    'the first page again and again',
    asking((asked) => ({ ...asked, path: asked.path.replace(/&before=.*/, '') })),
  ),
  fault(
    'account-events',
    'at most 2 events',
    'pages of any length',
    asking((asked) => ({ ...asked, path: asked.path.replace('limit=2', 'limit=100') })),
  ),
  fault(
    'account-events',
    'every event on one of the pages',
    'no page after the first',
    altering(
      both(isEvents, isSuccess),
      withData((data) => ({ ...data, next: null })),
    ),
  ),
  fault(
    'account-export',
    'no hash',
    'an export with the hash',
    altering(
      isTo(EXPORT),
      withData((data) => ({ ...data, passwordHash: 'x' })),
    ),
  ),
  fault(
    'account-export',
    'the sessions of the user',
    'an export without sessions',
    altering(
      isTo(EXPORT),
      withData((data) => ({ ...data, sessions: [] })),
    ),
  ),
  fault(
    'account-export',
    'no password and no token',
    'an export with the access token of its request',
    altering(isTo(EXPORT), (answered, { headers }) =>
      withData((data) => ({ ...data, token: headers.authorization }))(answered),
    ),
  ),
  fault('account-deletion', 'AUTH_CREDENTIALS_INVALID', 'a deletion without a password', ignoringPasswords(DELETE)),
  fault('account-deletion', 'AUTH_FAILED', 'a deletion that leaves the session', keepingAccounts),
  fault('account-deletion', 'a status of 2xx', 'a deletion that keeps the names', keepingNames),
];

/** Wrong servers, at least one for each check of links in mail and of the life of an account. */
export const ACCOUNT_FAULTS: readonly Fault[] = [...linkFaults, ...lifeFaults];
