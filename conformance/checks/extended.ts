import type { Check } from '../check.ts';
import type { Reply } from '../client.ts';
import { bodyOf, dataOf, errorOf, expectText, expectUlid, hold, isObject } from '../expectations.ts';
import { openToken } from '../tokens.ts';
import { onRoute, tokensOf, UNKNOWN_PATH } from '../world.ts';
import { PUBLISHED } from './catalog.ts';
import { OTHER_ORIGIN } from './cross-origin.ts';

const BODY_LIMIT = 16 * 1024;

const expectStatus = ({ status, to }: Reply, expected: number): void =>
  hold(status === expected, `${expected}`, `${status} (${to})`);
const login = (body: string, headers: Readonly<Record<string, string>> = {}) => ({
  method: 'POST',
  path: '/auth/login',
  body,
  headers: { 'content-type': 'application/json', ...headers },
});

const REQUESTS = [
  '0013',
  'In the API, bodies are JSON of at most 16 KiB, unknown query parameters are refused, and no response in an envelope is cached',
] as const;

/** What the specification leaves open, as the decision records fill it. */
export const extended: readonly Check[] = [
  {
    id: 'success-statuses',
    source: REQUESTS,
    title: 'register answers 201, log-in and clear-cookie 200',
    run: async ({ registered, loggedIn, cleared }) => {
      expectStatus(await registered(), 201);
      expectStatus(await loggedIn(), 200);
      expectStatus(await cleared(), 200);
      hold(dataOf(await cleared()) === null, '"data": null', dataOf(await cleared()));
    },
  },
  {
    id: 'success-context',
    source: REQUESTS,
    title: 'the context of successes has the request id and the version',
    run: async ({ successes }) => {
      for (const reply of await successes()) {
        const { context } = bodyOf(reply);
        hold(isObject(context), 'context as an object', context);
        expectUlid(context.requestId, 'context.requestId');
        expectText(context.version, 'context.version');
      }
    },
  },
  {
    id: 'catalog-fields',
    source: ['0014', 'The catalog of errors is one table, public but for AUTH_FAILED'],
    title: 'the entries of the catalog have the status and retryable of the specification',
    run: async ({ catalog, send }) => {
      const data = dataOf(await catalog());
      hold(Array.isArray(data), 'a list', data);
      for (const [code, { status, retryable }] of Object.entries(PUBLISHED)) {
        const entry: unknown = data.find((each) => isObject(each) && each.code === code);
        hold(
          isObject(entry) && entry.statusCode === status && entry.retryable === retryable,
          `${code}: ${status}, retryable ${retryable}`,
          entry,
        );
      }
      errorOf(await send({ method: 'GET', path: '/errors/AUTH_FAILED' }), 404, 'EXCEPTION_CATALOG_CODE_NOT_FOUND');
    },
  },
  {
    id: 'malformed-body-details',
    source: REQUESTS,
    title: 'a body that is no JSON object answers 400 CLIENT_PARAMS_VALIDATION_FAILED',
    run: async ({ send }) => {
      for (const body of ['{', '[]', '""']) errorOf(await send(login(body)), 400, 'CLIENT_PARAMS_VALIDATION_FAILED');
    },
  },
  {
    id: 'body-size',
    source: REQUESTS,
    title: 'a body over 16 KiB answers 413, one of another type 415, an unknown query parameter 400',
    run: async ({ send }) => {
      errorOf(await send(login(JSON.stringify({ padding: 'x'.repeat(BODY_LIMIT) }))), 413, 'SYS_HTTP_UNEXPECTED_ERROR');
      errorOf(
        await send(login('account=a', { 'content-type': 'application/x-www-form-urlencoded' })),
        415,
        'SYS_HTTP_UNEXPECTED_ERROR',
      );
      errorOf(await send({ method: 'GET', path: '/auth/session?unknown=1' }), 400, 'CLIENT_PARAMS_VALIDATION_FAILED');
    },
  },
  {
    id: 'refused-origin',
    source: ['0015', 'A disallowed origin gets 403 without CORS headers'],
    title: 'the 403 for another origin has the error envelope and no CORS headers',
    run: async ({ send }) => {
      const reply = await send({ method: 'GET', path: '/errors', headers: { origin: OTHER_ORIGIN } });
      errorOf(reply, 403, 'SYS_HTTP_UNEXPECTED_ERROR');
      const names = Object.keys(reply.headers).filter((name) => name.startsWith('access-control-'));
      hold(names.length === 0, 'no CORS headers', names.join(', '));
    },
  },
  {
    id: 'methods',
    source: REQUESTS,
    title: 'another method answers 405 with Allow; HEAD answers as GET does, without a body',
    run: async ({ send }) => {
      const refused = await send({ method: 'DELETE', path: '/errors' });
      errorOf(refused, 405, 'SYS_HTTP_UNEXPECTED_ERROR');
      hold(/\bGET\b/.test(refused.headers.allow ?? ''), 'Allow with GET', refused.headers.allow ?? 'no such header');
      for (const [path, status] of [
        ['/errors', 200],
        [UNKNOWN_PATH, 404],
      ] as const) {
        const head = await send({ method: 'HEAD', path });
        expectStatus(head, status);
        hold(head.text === '', 'no body', `${head.text.length} characters`);
      }
    },
  },
  {
    id: 'www-authenticate',
    source: ['0004', 'Token headers name the key and the session, and a bad access token is AUTH_TOKEN_INVALID'],
    title: 'a refused access token answers WWW-Authenticate; another scheme is a missing token',
    run: async (world) => {
      for (const [header, code, challenge] of [
        [undefined, 'AUTH_TOKEN_MISSING', 'Bearer'],
        ['Basic YTpi', 'AUTH_TOKEN_MISSING', 'Bearer'],
        ['Bearer nothing', 'AUTH_TOKEN_INVALID', 'Bearer error="invalid_token"'],
      ] as const) {
        const reply = await onRoute(world, 'required', header);
        errorOf(reply, 401, code);
        const got = reply.headers['www-authenticate'];
        hold(got === challenge, `WWW-Authenticate: ${challenge}`, got ?? 'no such header');
      }
    },
  },
  {
    id: 'token-headers',
    source: ['0004', 'Token headers name the key and the session, and a bad access token is AUTH_TOKEN_INVALID'],
    title: 'both tokens have typ JWT and a kid, and the key set has that of the access token',
    run: async (world) => {
      const { access, refresh } = await world.tokens();
      const [accessHeader, refreshHeader] = [access, refresh].map((token) => openToken(token, 'a token').header);
      for (const header of [accessHeader, refreshHeader]) {
        hold(header?.typ === 'JWT', 'typ: JWT', header?.typ);
        expectText(header?.kid, 'kid');
      }
      const kids = (await world.keys()).map(({ kid }) => kid);
      hold(kids.includes(String(accessHeader?.kid)), 'the kid of the access token in the key set', kids);
      hold(!kids.includes(String(refreshHeader?.kid)), 'no kid of refresh tokens in the key set', kids);
    },
  },
  {
    id: 'no-store',
    source: REQUESTS,
    title: 'responses have Cache-Control: no-store',
    run: async ({ successes, errors }) => {
      for (const { headers, to } of [...(await successes()), ...(await errors()).map(([reply]) => reply)])
        hold(headers['cache-control'] === 'no-store', 'Cache-Control: no-store', `${headers['cache-control']} (${to})`);
    },
  },
  {
    id: 'clear-cookie-ends-session',
    source: ['0005', 'Users list and end their sessions, and a session gives way to the next one on its device'],
    title: 'after clear-cookie the refresh token answers 401 AUTH_FAILED',
    run: async ({ registered, login, person, send, refresh }) => {
      dataOf(await registered());
      const { refresh: token } = tokensOf(await login(person.username, person.password));
      dataOf(await send({ method: 'GET', path: '/auth/clear-cookie', headers: { cookie: `refresh_token=${token}` } }));
      errorOf(await refresh(token), 401, 'AUTH_FAILED');
    },
  },
  {
    id: 'refused-refresh-keeps-cookie',
    source: [
      '0002',
      'A replayed refresh token ends its session, unless the session is bound to its device, or the token was rotated within ten seconds',
    ],
    title: 'a refused refresh sets no cookie',
    run: async ({ rotation }) => {
      for (const { setCookies } of (await rotation()).replays)
        hold(setCookies.length === 0, 'no Set-Cookie', `${setCookies.length}`);
    },
  },
];
