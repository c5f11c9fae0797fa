// Proves SPEC 8.2, 20.4
import * as v from 'valibot';
import { beforeAll, describe, expect, it } from 'vitest';
import { isDescribed, type Route } from '../../src/adapters/http/routing/define-route.ts';
import { storageOver } from '../../src/adapters/records/storage.ts';
import type { ErrorCode } from '../../src/domain/errors/catalog.ts';
import { ALL_ROUTES, PAGE_SERVER } from '../support/http/all-routes.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { bodyFields, sampleBody, samplePath } from '../support/http/samples.ts';
import { declaredRoutes, hasher, startService, type TestService } from '../support/http/service.ts';
import { joseDeviceKey } from '../support/jose-proofs.ts';
import { recordsThatStop } from '../support/records/stopping.ts';

const { start } = servicesOverOneDatabase();
const service = await start(ALL_ROUTES);
const taken = (await signUp(service)).user.username;

const RESPONSE = { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA', attestationObject: 'AA' };

/** What is wrong with a request that is refused with a code, besides that it has no cookie; by the names of the fields. */
const WRONG: Readonly<Partial<Record<ErrorCode, (route: Route) => object | Promise<object>>>> = {
  AUTH_ASSERTION_INVALID: () => ({ assertion: 'a.b.c' }),
  AUTH_CODE_INVALID: () => ({ code: '48151623' }),
  AUTH_CREDENTIALS_INVALID: () => ({ password: 'wrong', currentPassword: 'wrong' }),
  AUTH_DEVICE_UNPROVEN: () => ({ proof: 'a.b.c' }),
  AUTH_FAILED: () => ({}),
  AUTH_LINK_INVALID: () => ({ token: 'A'.repeat(43) }),
  AUTH_PASSKEY_INVALID: () => ({ credential: { id: 'AA', type: 'public-key', response: RESPONSE } }),
  AUTH_PROOF_EXPIRED: async ({ path }) => ({
    proof: await (await joseDeviceKey()).proof({ htu: `https://auth.example.org${path}`, now: 0 }),
  }),
  AUTH_SECOND_FACTOR_INVALID: () => ({ code: '481516' }),
  AUTH_USER_DUPLICATE: () => ({ username: taken }),
};

const routes = (await declaredRoutes()).filter(isDescribed);
const REFUSALS = routes.flatMap((route) =>
  [...route.errors].flatMap((code) => (WRONG[code as ErrorCode] ? [{ route, code }] : [])),
);

/** With the password, unless something else is shown. */
const rightBody = (route: Route, password: string, wrong: readonly string[]): Record<string, unknown> => {
  const isOptional = (name: string) => v.is(bodyFields(route)[name] as v.GenericSchema, undefined);
  const others = ['code', 'credential'].some((name) => wrong.includes(name)) ? FACTORS : FACTORS.slice(1);
  const all = Object.entries({ ...sampleBody(route), ...('password' in bodyFields(route) && { password }) });
  return Object.fromEntries(all.filter(([name]) => !(others.includes(name) && isOptional(name))));
};
const FACTORS = ['password', 'code', 'recoveryCode', 'credential'];

/** What is refused only after more than one request: the tests of the routes have it. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  AUTH_DEVICE_UNPROVEN: [
    'app-login',
    'confirm-login-code',
    'adopt',
    'provider-callback',
    'refresh',
    'second-factor',
    'access-token',
  ],
  AUTH_PROOF_EXPIRED: ['app-login', 'confirm-login-code', 'adopt', 'provider-callback', 'refresh', 'second-factor'],
  AUTH_PASSKEY_INVALID: ['second-factor'],
  AUTH_SECOND_FACTOR_INVALID: ['start-totp', 'confirm-totp'],
  AUTH_FAILED: ['end-sessions', 'bind-browser'],
  AUTH_USER_DUPLICATE: ['undo-email-change', 'undo-factors', 'confirm-email-change'],
  AUTH_CREDENTIALS_INVALID: ['confirm-email-change'],
  DB_QUERY_FAILED: [
    ...['app-login', 'confirm-login-code', 'adopt', 'pending-login', 'second-factor', 'start-pending-totp', 'continue'],
    ...['passkey-login', 'bind-browser'],
  ],
};

type Member = Pick<Awaited<ReturnType<typeof signUp>>, 'accessToken' | 'cookie'>;

/** As a member with a browser, or the page server that the route is for. */
const send = ({ http }: TestService, route: Route, { accessToken, cookie }: Member, body: object) => {
  const Authorization = route.name === 'access-token' ? PAGE_SERVER : `Bearer ${accessToken}`;
  const fields = Object.entries(body).filter(([name]) => name in bodyFields(route));
  const request = http[route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete'](samplePath(route));
  request.set({ Authorization, Cookie: cookie });
  return fields.length === 0 ? request : request.send(Object.fromEntries(fields));
};

describe.each(REFUSALS.filter(({ route, code }) => !ELSEWHERE[code]?.includes(route.name)))(
  '$route.method $route.path',
  ({ route, code }) => {
    it(`refuses with ${code}, and sets no cookie`, async () => {
      const { accessToken, person } = await signUp(service);
      const wrong = (await WRONG[code as ErrorCode]?.(route)) ?? {};
      const given = { ...rightBody(route, person.password, Object.keys(wrong)), ...wrong };
      const { body, headers } = await send(service, route, { accessToken, cookie: '' }, given);
      expect(body).toMatchObject({ success: false, code, details: null });
      expect(headers).not.toHaveProperty('set-cookie');
    });
  },
);

/** Where another site's page may send its visitor. */
const FROM_ANYWHERE = ['posted-provider-callback'];
const TIERS = { global: 2, strict: 1, public: 3, none: 4 };
const limited = await start({ ...ALL_ROUTES, RATE_LIMITS: 'global=2/60,strict=1/60,public=3/60' });

describe.each(routes.map((route) => ({ route })))('$route.method $route.path', ({ route }) => {
  const nobody = { accessToken: '', cookie: '' };

  it.skipIf(FROM_ANYWHERE.includes(route.name))('is not for pages of other origins', async () => {
    const { status, body, headers } = await send(service, route, nobody, {}).set('Origin', 'https://evil.example');
    expect([status, body.code]).toEqual([403, 'SYS_HTTP_UNEXPECTED_ERROR']);
    expect(headers).not.toHaveProperty('set-cookie');
  });

  it(`is limited in the tier ${route.throttle}`, async () => {
    const codes: unknown[] = [];
    for (let count = 0; count <= TIERS[route.throttle]; count += 1)
      codes.push((await send(limited, route, nobody, {}).redirects(0)).body.code);
    const at = codes.indexOf('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED');
    expect(at).toBe(route.throttle === 'none' ? -1 : TIERS[route.throttle]);
  });
});

const away = routes.filter(
  ({ name, errors }) => errors.has('DB_QUERY_FAILED') && !ELSEWHERE.DB_QUERY_FAILED?.includes(name),
);

describe('while the database does not answer', () => {
  const database = recordsThatStop();
  let failing: TestService;
  let member: Awaited<ReturnType<typeof signUp>>;
  beforeAll(async () => {
    failing = await startService(ALL_ROUTES, { storage: storageOver(database.records), hasher });
    member = await signUp(failing);
    database.stop();
  });

  it.each(away)('$method $path says so, and sets no cookie', async (route) => {
    const given = rightBody(route, member.person.password, []);
    const { body, headers } = await send(failing, route, member, given);
    expect(body.code).toBe('DB_QUERY_FAILED');
    expect(headers).not.toHaveProperty('set-cookie');
  });
});
