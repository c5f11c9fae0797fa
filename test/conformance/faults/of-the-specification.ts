import {
  altering,
  asking,
  both,
  CLEAR,
  errorWith,
  type Fault,
  hasStatus,
  isError,
  isSuccess,
  issues,
  isTo,
  type Json,
  LOGIN,
  parsed,
  REFRESH,
  REGISTER,
  withBody,
  withCookie,
  withData,
  withHeaders,
  without,
  withStatus,
} from './alterations.ts';
import type { Behavior } from './faulty-server.ts';
import {
  reissuing,
  signingBothWithOneKey,
  trusting,
  trustingHmac,
  trustingUnsigned,
  withClaims,
  withHeader,
} from './token-alterations.ts';

const fault = (caughtBy: string, expected: string, what: string, behavior: () => Behavior): Fault => ({
  caughtBy,
  expected,
  what,
  behavior,
});
const userWith = (change: (user: Json) => Json) => withData((data) => ({ ...data, user: change(data.user as Json) }));
const ROUTE = isTo('GET /users/me');
const OPTIONAL = isTo('GET /auth/session');
const LIST = isTo('GET /errors');
const A_PREFLIGHT = isTo('OPTIONS /auth/login');
const codeIs =
  (code: string) =>
  (_asked: unknown, { body }: { readonly body: string }) =>
    parsed(body).code === code;

/** Repeats a registration that was refused with another name in place of a taken one. */
const acceptingAgain = (member: 'username' | 'email') => (): Behavior => async (asked, forward) => {
  const answered = await forward(asked);
  if (!isTo(REGISTER)(asked, answered) || answered.status !== 409) return answered;
  const body = parsed(asked.body);
  return forward({ ...asked, body: JSON.stringify({ ...body, [member]: `a${body[member]}` }) });
};

/** Answers a refresh that was refused with the last one that was not. */
export const repeatingRefreshes = (): Behavior => {
  let last: Awaited<ReturnType<Behavior>> | undefined;
  return async (asked, forward) => {
    const answered = await forward(asked);
    if (!isTo(REFRESH)(asked, answered)) return answered;
    if (answered.status === 200) last = answered;
    return last ?? answered;
  };
};

const coercingNumbers = (): Behavior => (asked, forward) => {
  const { username, ...rest } = parsed(asked.body);
  return forward(username === 1 ? { ...asked, body: JSON.stringify({ ...rest, username: 'one' }) } : asked);
};

const accountFaults: readonly Fault[] = [
  fault(
    'register',
    'user as an object',
    'register without the user',
    altering(
      isTo(REGISTER),
      withData(({ user: _, ...rest }) => rest),
    ),
  ),
  fault('duplicate-username', '409', 'two users with one username', acceptingAgain('username')),
  fault('duplicate-email', '409', 'two users with one email', acceptingAgain('email')),
  fault(
    'login-username',
    'members of a user',
    'a user without createdAt',
    altering(
      isTo(LOGIN),
      userWith(({ createdAt: _, ...rest }) => rest),
    ),
  ),
  fault(
    'login-email',
    '2xx',
    'log-in with usernames only',
    asking((asked) => ({ ...asked, body: asked.body.replace(/("account":"[^"]*)@/, '$1') })),
  ),
  fault(
    'login-wrong-password',
    'AUTH_CREDENTIALS_INVALID',
    'another code for a wrong password',
    altering(
      both(isTo(LOGIN), hasStatus(401)),
      withBody((body) => ({ ...body, code: 'AUTH_FAILED' })),
    ),
  ),
  fault(
    'login-unknown-account',
    '401',
    '404 for an unknown account',
    altering(both(isTo(LOGIN), hasStatus(401)), () => errorWith(404, 'DB_RECORD_NOT_FOUND')),
  ),
  fault(
    'public-routes',
    '2xx',
    'log-in that verifies Authorization',
    altering(
      ({ headers }) => headers.authorization !== undefined,
      () => errorWith(401, 'AUTH_TOKEN_INVALID'),
    ),
  ),
  fault(
    'no-secrets',
    'no hash',
    'a hash in the user',
    altering(
      issues,
      withData((data) => ({ ...data, passwordHash: 'x' })),
    ),
  ),
];

const envelopeFaults: readonly Fault[] = [
  fault(
    'success-envelope',
    'members of the success envelope',
    'another name for timestamp',
    altering(
      isSuccess,
      withBody(({ timestamp, ...rest }) => ({ ...rest, time: timestamp })),
    ),
  ),
  fault(
    'error-envelope',
    'members of the error envelope',
    'a stack in errors',
    altering(
      isError,
      withBody((body) => ({ ...body, stack: 'at …' })),
    ),
  ),
  fault(
    'error-code',
    'code AUTH_FAILED',
    'another code than the catalog has',
    altering(
      codeIs('AUTH_FAILED'),
      withBody((body) => ({ ...body, code: 'AUTH_REFRESH_FAILED' })),
    ),
  ),
  fault(
    'error-type',
    'an address that ends in /errors/',
    'a relative type',
    altering(
      isError,
      withBody((body) => ({ ...body, type: `/errors/${body.code}` })),
    ),
  ),
  fault(
    'error-timestamp',
    'ISO 8601',
    'a timestamp in another form',
    altering(
      isError,
      withBody((body) => ({ ...body, timestamp: new Date().toUTCString() })),
    ),
  ),
  fault(
    'error-context',
    'the id of the header',
    'another request id in errors',
    altering(
      isError,
      withBody((body) => ({
        ...body,
        context: { ...(body.context as Json), requestId: '01JZZZZZZZ0123456789ABCDEF' },
      })),
    ),
  ),
  fault(
    'error-details',
    'details: null',
    'an empty list as details',
    altering(
      isError,
      withBody((body) => ({ ...body, details: body.details ?? [] })),
    ),
  ),
  fault(
    'constant-version',
    'one version',
    'another version each time',
    altering(
      isError,
      withBody((body) => ({ ...body, context: { ...(body.context as Json), version: String(Math.random()) } })),
    ),
  ),
  fault('unknown-path', '404', '400 for an unknown path', altering(hasStatus(404), withStatus(400))),
  fault('unknown-method', '405', '500 for an unknown method', altering(hasStatus(405), withStatus(500))),
];

const catalogFaults: readonly Fault[] = [
  fault(
    'catalog-list',
    'all codes',
    'a catalog without DB_QUERY_FAILED',
    altering(
      LIST,
      withData((data) => (data as unknown as Json[]).filter(({ code }) => code !== 'DB_QUERY_FAILED')),
    ),
  ),
  fault(
    'catalog-unpublished',
    'no AUTH_FAILED',
    'AUTH_FAILED in the catalog',
    altering(
      LIST,
      withData((data) => [...(data as unknown as Json[]), { code: 'AUTH_FAILED' }]),
    ),
  ),
  fault(
    'catalog-entry',
    '2xx',
    'no entry of DB_QUERY_FAILED',
    asking((asked) => ({ ...asked, path: asked.path.replace('DB_QUERY_FAILED', 'NO_SUCH_CODE') })),
  ),
  fault('catalog-unknown-code', '404', '400 for an unknown code', altering(hasStatus(404), withStatus(400))),
];

const processingFaults: readonly Fault[] = [
  fault(
    'security-headers',
    'strict-transport-security',
    'errors without HSTS',
    altering(isError, without('strict-transport-security')),
  ),
  fault(
    'new-request-id',
    'as a ULID',
    'a UUID as request id',
    altering(
      () => true,
      withHeaders((headers) => ({ ...headers, 'svc-request-id': crypto.randomUUID() })),
    ),
  ),
  fault(
    'new-request-id',
    'an id of its own',
    'the same request id each time',
    altering(
      () => true,
      withHeaders((headers) => ({ ...headers, 'svc-request-id': '01JZZZZZZZ0123456789ABCDEF' })),
    ),
  ),
  fault(
    'given-request-id',
    'svc-request-id: ',
    'ids of clients are not used',
    asking((asked) => ({ ...asked, headers: { ...asked.headers, 'svc-request-id': undefined } })),
  ),
  fault(
    'validation-missing',
    'details for username, email, password',
    'only the first problem in details',
    altering(
      hasStatus(400),
      withBody((body) => ({ ...body, details: (body.details as Json[]).slice(0, 1) })),
    ),
  ),
  fault('validation-types', 'details for username, email, password', 'numbers are taken as texts', coercingNumbers),
  fault('malformed-body', '400', '500 for a malformed body', altering(hasStatus(400), withStatus(500))),
];

const crossOriginFaults: readonly Fault[] = [
  fault(
    'cors-without-origin',
    '2xx',
    '403 without Origin',
    altering(
      ({ headers }) => headers.origin === undefined,
      () => errorWith(403, 'SYS_HTTP_UNEXPECTED_ERROR'),
    ),
  ),
  fault(
    'cors-allowed',
    'Access-Control-Allow-Credentials',
    'no credentials',
    altering(() => true, without('access-control-allow-credentials')),
  ),
  fault(
    'cors-allowed',
    'Access-Control-Allow-Origin',
    'any origin',
    altering(
      () => true,
      withHeaders((headers) => ({ ...headers, 'access-control-allow-origin': '*' })),
    ),
  ),
  fault(
    'cors-refused',
    '403',
    'every origin is allowed',
    asking((asked) => ({ ...asked, headers: { ...asked.headers, origin: undefined } })),
  ),
  fault('cors-preflight', '204', '200 to a preflight', altering(A_PREFLIGHT, withStatus(200))),
  fault(
    'cors-preflight',
    'Access-Control-Allow-Headers',
    'a preflight without svc-request-id',
    altering(
      A_PREFLIGHT,
      withHeaders((headers) => ({ ...headers, 'access-control-allow-headers': 'Content-Type, Authorization' })),
    ),
  ),
];

const tokenFaults: readonly Fault[] = [
  fault(
    'access-claims',
    'tokenType: access',
    'an access token without tokenType',
    reissuing({ access: withClaims(({ tokenType: _, ...rest }) => rest) }),
  ),
  fault(
    'access-user',
    'user.email',
    'an access token without the email',
    reissuing({
      access: withClaims(({ user, ...rest }) => ({ ...rest, user: { ...(user as Json), email: undefined } })),
    }),
  ),
  fault(
    'access-user',
    'no hash',
    'a hash in the access token',
    reissuing({
      access: withClaims(({ user, ...rest }) => ({ ...rest, user: { ...(user as Json), passwordHash: 'x' } })),
    }),
  ),
  fault(
    'refresh-claims',
    'sub of the refresh token',
    'a number as sub of the refresh token',
    reissuing({ refresh: withClaims((claims) => ({ ...claims, sub: 1 })) }),
  ),
  fault(
    'refresh-without-user',
    'no claim user',
    'the user in the refresh token',
    reissuing({ refresh: withClaims((claims) => ({ ...claims, user: {} })) }),
  ),
  fault(
    'own-token-ids',
    'different jti',
    'one jti for both tokens',
    reissuing({ refresh: withClaims((claims) => ({ ...claims, jti: '01JZZZZZZZ0123456789ABCDEF' })) }),
  ),
  fault(
    'token-algorithm',
    'alg: ES256',
    'RS256',
    reissuing({ access: withHeader((header) => ({ ...header, alg: 'RS256' })) }),
  ),
  fault(
    'token-signatures',
    'a key that verifies',
    'other keys than those that are published',
    altering(
      ({ path }) => path.endsWith('jwks.json'),
      withBody(() => ({ keys: [] })),
    ),
  ),
  fault('separate-keys', 'another key for the refresh token', 'one key for both tokens', signingBothWithOneKey),
  fault(
    'access-lifetime',
    '900 s',
    'an access token that is valid for longer',
    reissuing({ access: withClaims((claims) => ({ ...claims, exp: Number(claims.exp) + 60 })) }),
  ),
  fault(
    'access-lifetime',
    'iat at the time',
    'an access token issued in milliseconds',
    reissuing({
      access: withClaims(({ iat, exp, ...rest }) => ({
        ...rest,
        iat: Number(iat) * 1000,
        exp: Number(iat) * 1000 + Number(exp) - Number(iat),
      })),
    }),
  ),
  fault(
    'refresh-lifetime',
    '604800 s',
    'a refresh token that is valid for a year',
    reissuing({ refresh: withClaims((claims) => ({ ...claims, exp: Number(claims.iat) + 31_536_000 })) }),
  ),
  fault(
    'refresh-token-in-cookie-only',
    'a body without the refresh token',
    'the refresh token in the body',
    altering(issues, (answered) =>
      withData((data) => ({ ...data, refreshToken: /=([^;]+)/.exec(answered.headers['set-cookie']?.[0] ?? '')?.[1] }))(
        answered,
      ),
    ),
  ),
  fault(
    'refresh-without-bearer',
    '401',
    'a refresh token in Authorization',
    asking((asked) => ({
      ...asked,
      headers: {
        ...asked.headers,
        ...(asked.headers.authorization && {
          cookie: asked.headers.authorization.replace('Bearer ', 'refresh_token='),
        }),
      },
    })),
  ),
];

const cookieFaults: readonly Fault[] = [
  fault(
    'cookie-set',
    'one Set-Cookie of refresh_token',
    'another name for the cookie',
    altering(
      issues,
      withCookie((line) => line.replace('refresh_token', 'refreshToken')),
    ),
  ),
  fault(
    'cookie-http-only',
    'HttpOnly',
    'a cookie that scripts can read',
    altering(
      issues,
      withCookie((line) => line.replace(/; HttpOnly/i, '')),
    ),
  ),
  fault(
    'cookie-path',
    'Path=/auth',
    'a cookie for every path',
    altering(
      issues,
      withCookie((line) => line.replace('Path=/auth', 'Path=/')),
    ),
  ),
  fault(
    'cookie-same-site',
    'SameSite=lax',
    'SameSite=None',
    altering(
      issues,
      withCookie((line) => line.replace(/SameSite=Lax/i, 'SameSite=None')),
    ),
  ),
  fault(
    'cookie-secure',
    'no Secure',
    'a Secure cookie in development',
    altering(
      issues,
      withCookie((line) => `${line}; Secure`),
    ),
  ),
  fault(
    'cookie-max-age',
    'Max-Age=604800',
    'a cookie for a day',
    altering(
      issues,
      withCookie((line) => line.replace(/Max-Age=\d+/i, 'Max-Age=86400')),
    ),
  ),
  fault(
    'cookie-cleared',
    'one Set-Cookie',
    'clear-cookie that clears nothing',
    altering(isTo(CLEAR), without('set-cookie')),
  ),
  fault(
    'cookie-cleared',
    'an expired cookie, Path=/auth',
    'clear-cookie for another path',
    altering(
      isTo(CLEAR),
      withCookie((line) => line.replace('Path=/auth', 'Path=/')),
    ),
  ),
];

const rotationFaults: readonly Fault[] = [
  fault('refresh', '200', '201 to a refresh', altering(both(isTo(REFRESH), isSuccess), withStatus(201))),
  fault('refresh', 'one Set-Cookie', 'a refresh without a new cookie', altering(isTo(REFRESH), without('set-cookie'))),
  fault(
    'refresh-again',
    '2xx',
    'a new refresh token that does not work',
    altering(
      both(isTo(REFRESH), isSuccess),
      withCookie((line) => line.replace(/(?<=\.)[^.;]+;/, 'AAAA;')),
    ),
  ),
  fault('rotated-token-refused', '401', 'old refresh tokens stay valid', repeatingRefreshes),
  fault('one-refresh-wins', 'one success', 'a token can be used several times at once', repeatingRefreshes),
  fault(
    'refresh-without-cookie',
    '401',
    '400 without the cookie',
    altering(
      both(isTo(REFRESH), ({ headers }) => headers.cookie === undefined),
      withStatus(400),
    ),
  ),
  fault(
    'refresh-malformed',
    '401',
    '500 to a cookie that is no token',
    altering(
      both(isTo(REFRESH), ({ headers }) => /=.{0,8}$/.test(headers.cookie ?? '')),
      () => errorWith(500, 'SYS_UNEXPECTED_ERROR'),
    ),
  ),
  fault('refresh-forged', '401', 'signatures of refresh tokens are not verified', trusting()),
  fault('refresh-with-access-token', '401', 'an access token refreshes', trusting({ anyKind: true })),
];

const guardFaults: readonly Fault[] = [
  fault(
    'required-valid',
    '2xx',
    'no token is valid',
    altering(ROUTE, () => errorWith(401, 'AUTH_TOKEN_INVALID')),
  ),
  fault(
    'required-missing',
    'AUTH_TOKEN_MISSING',
    'AUTH_TOKEN_INVALID without a token',
    altering(
      both(ROUTE, hasStatus(401)),
      withBody((body) => ({ ...body, code: 'AUTH_TOKEN_INVALID' })),
    ),
  ),
  fault('required-invalid', '401 for a tampered signature', 'signatures of access tokens are not verified', trusting()),
  fault('required-invalid', '401 for no signature', 'tokens need no signature if they say so', trustingUnsigned),
  fault(
    'required-invalid',
    '401 for HS256 with the public key',
    'the public key is the secret of HS256',
    trustingHmac(),
  ),
  fault(
    'required-invalid',
    '401 for HS256 with the public key',
    'the public key is the secret of HS256, without the line break at its end',
    trustingHmac((pem) => pem.trimEnd()),
  ),
  fault(
    'required-invalid',
    'AUTH_TOKEN_INVALID',
    'AUTH_FAILED for an invalid access token',
    altering(
      codeIs('AUTH_TOKEN_INVALID'),
      withBody((body) => ({ ...body, code: 'AUTH_FAILED' })),
    ),
  ),
  fault(
    'optional-valid',
    '2xx',
    'an optional route that needs a token',
    altering(
      both(OPTIONAL, ({ headers }) => headers.authorization === undefined),
      () => errorWith(401, 'AUTH_TOKEN_MISSING'),
    ),
  ),
  fault(
    'optional-invalid',
    '2xx',
    'an optional route that refuses invalid tokens',
    altering(
      both(OPTIONAL, ({ headers }) => headers.authorization === 'Bearer nothing'),
      () => errorWith(401, 'AUTH_TOKEN_INVALID'),
    ),
  ),
];

/** Wrong servers, at least one for each check of what the specification says. */
export const SPECIFICATION_FAULTS: readonly Fault[] = [
  ...accountFaults,
  ...envelopeFaults,
  ...catalogFaults,
  ...processingFaults,
  ...crossOriginFaults,
  ...tokenFaults,
  ...cookieFaults,
  ...rotationFaults,
  ...guardFaults,
];
