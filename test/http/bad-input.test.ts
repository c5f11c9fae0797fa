// Proves SPEC 1.10, 9.4, 9.5, 9.8, 12.21, 20.3; network-6
import type { Response } from 'supertest';
import * as v from 'valibot';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../src/adapters/http/routing/define-route.ts';
import { CATALOG } from '../../src/domain/errors/catalog.ts';
import { anId } from '../support/builders.ts';
import { ALL_ROUTES } from '../support/http/all-routes.ts';
import { signUp } from '../support/http/auth-http.ts';
import { exchangeRaw, head } from '../support/http/raw-http.ts';
import { bodyFields, sampleBody, samplePath } from '../support/http/samples.ts';
import { declaredRoutes, startService } from '../support/http/service.ts';

/** Values that no text field accepts, whatever its limits. */
const INVALID_TEXTS: Readonly<Record<string, unknown>> = {
  missing: undefined,
  null: null,
  'a number': 7,
  'an array': ['Sample.name-1'],
  'an object': { $ne: null },
  empty: '',
};
/** Values that some fields accept and others refuse; none may cause a 5xx. */
const UNUSUAL_TEXTS: Readonly<Record<string, string>> = {
  'too long': 'a'.repeat(10_000),
  'a text with NUL': 'sample\u0000@example.org',
  'a lone surrogate': 'sample \ud800 text',
  spaces: '          ',
  'a line break': 'sample\r\nSet-Cookie: refresh_token=x',
  'a right-to-left mark': 'sample\u202e',
};

/** The statuses of routes that would need something that is not there: a provider, a start at one, a page to go on to, a code of the catalog. */
const WITHOUT: Readonly<Record<string, number>> = {
  'start-at-provider-form': 404,
  'start-at-provider-for-app': 400,
  'provider-callback': 401,
  'posted-provider-callback': 404,
  continue: 400,
  error: 404,
};

const routes = await declaredRoutes();
const withBody = routes.filter(({ request: { body } }) => body !== undefined && body.type !== 'optional');
const withParams = routes.filter((route) => route.request.params !== undefined);
const fields = withBody.flatMap((route) => Object.keys(bodyFields(route)).map((field) => ({ route, field })));

const isFit = (route: Route, field: string, value: unknown): boolean =>
  v.is(bodyFields(route)[field] as v.GenericSchema, value);

const service = await startService(ALL_ROUTES);
let { accessToken, cookie } = await signUp(service);

describe('bad input', () => {
  /** Authenticated where the route requires it; as from a page of the service where it is one. */
  const ask = (route: Route, path = samplePath(route, withBody.includes(route) ? anId() : undefined)) => {
    const request = service.http[route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete'](path);
    if (route.visitor) {
      request.set({ Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' });
      return route.form === undefined ? request : request.type('form');
    }
    return route.auth === 'required' ? request.set('Authorization', `Bearer ${accessToken}`) : request;
  };
  const askJson = (route: Route, json: string) => ask(route).set('Content-Type', 'application/json').send(json);

  describe.each(fields)('$route.name: the field $field', ({ route, field }) => {
    it.each(Object.entries(INVALID_TEXTS).filter(([, value]) => !isFit(route, field, value)))(
      'is reported when it is %s',
      async (_, value) => {
        const response = await askJson(route, JSON.stringify({ ...sampleBody(route), [field]: value }));
        expectRefusal(response, 400, 'CLIENT_PARAMS_VALIDATION_FAILED');
        const named = response.body.details.map((problem: { field: string }) => problem.field.split('.')[0]);
        expect([...new Set(named)]).toEqual([field]);
      },
    );

    it.each(Object.entries(UNUSUAL_TEXTS))('causes no 5xx with %s', async (_, value) => {
      const response = await askJson(route, JSON.stringify({ ...sampleBody(route), [field]: value }));
      if (isFit(route, field, value)) expectNoFault(response);
      else expectRefusal(response, 400, 'CLIENT_PARAMS_VALIDATION_FAILED');
    });
  });

  // A body that may be empty lacks nothing.
  const lacking = withBody.filter(({ request: { body } }) => !v.is(body as v.GenericSchema, {}));
  it.each(lacking.map((route) => ({ route })))(
    '$route.name: has each missing field reported once',
    async ({ route }) => {
      const response = await askJson(route, '{}');
      expectRefusal(response, 400, 'CLIENT_PARAMS_VALIDATION_FAILED');
      const named = response.body.details.map((problem: { field: string }) => problem.field);
      const missing = Object.keys(bodyFields(route)).filter((field) => !isFit(route, field, undefined));
      // A body that needs one of several members reports none of them.
      expect(named).toEqual(missing.length === 0 ? ['body'] : missing);
    },
  );

  describe.each(withParams.map((route) => ({ route })))('$route.name: the path', ({ route }) => {
    it.each(['%', '%zz', '%c3', '%00', '%2e%2e%2f', 'a'.repeat(4000), '__proto__', 'constructor', '%F0%9F%98%80'])(
      'causes no 5xx with the parameter %s',
      async (value) => {
        expectRefusal(await ask(route, samplePath(route, value)));
      },
    );
  });

  describe.each(routes.map((route) => ({ route })))('$route.name', ({ route }) => {
    beforeAll(async () => {
      ({ accessToken, cookie } = await signUp(service));
    });

    const queries = ['?x=1', '?%zz=%zz', '?a[]=1&a=2&__proto__[x]=1', `?${'a=1&'.repeat(2000)}`];
    // Mail programs and networks add parameters to links, so pages accept any query. A form has its fields in the body.
    const ignoresQueries = route.request.query.type !== 'strict_object' || route.form !== undefined;

    it.each(ignoresQueries ? [] : queries)(
      'refuses the unknown or unreadable parameters of the query %s',
      async (query) => {
        const response = await ask(route, samplePath(route) + query);
        expectRefusal(response, 400, 'CLIENT_PARAMS_VALIDATION_FAILED');
        const expected = query.includes('%zz') ? { field: 'query', code: 'malformed' } : { code: 'unknown' };
        const isExpected = (problem: object) => expect.objectContaining(expected).asymmetricMatch(problem);
        expect(response.body.details.filter(isExpected)).toHaveLength(1);
        expect(route.errors).toContain('CLIENT_PARAMS_VALIDATION_FAILED');
      },
    );

    it.each(ignoresQueries ? queries : [])('ignores the query %s', async (query) => {
      if (route.requestsPerUser !== undefined) ({ accessToken, cookie } = await signUp(service));
      const { status } = await ask(route);
      const response = await ask(route, samplePath(route) + query);
      expect(response.status).toBe(status);
      expect([WITHOUT[route.name] ?? [200, 303]].flat()).toContain(status);
      expectNoFault(response, route);
    });

    // After those above: some requests end the session.
    it.each([
      ['two refresh cookies', { Cookie: 'refresh_token=a; refresh_token=b' }],
      ['a cookie with malformed percent-encoding', { Cookie: 'refresh_token=%zz; %=%; =; ;;' }],
      ['an arbitrary Bearer token', { Authorization: 'Bearer a.b.c' }],
      ['a malformed Authorization header', { Authorization: 'Digest ,,, "' }],
      ['a malformed Host', { Host: '../..' }],
    ])('causes no 5xx with %s', async (_, headers) => {
      expectNoFault(await ask(route).set(headers), route);
    });
  });

  it.each(routes.filter(({ method, auth }) => method === 'GET' && auth === 'public').map((route) => ({ route })))(
    '$route.name: causes no 5xx with a request target that is no valid URL',
    async ({ route }) => {
      const target = `http://localhost:99999${samplePath(route)}`;
      const { status } = await exchangeRaw(service.url, head(`GET ${target}`, { Connection: 'close' }));
      expect(status).toBeLessThan(500);
    },
  );
});

/** Below 500; a success has the success envelope unless the route returns an unwrapped document or leads to another page. */
const expectNoFault = (response: Response, route?: Route): void => {
  expect(response.status).toBeLessThan(500);
  const isBare = response.status === 303 || route?.response.unwrapped !== undefined;
  const wrapped = response.status >= 400 || !isBare;
  expect(response.body.success).toBe(wrapped ? response.status < 400 : undefined);
};

/** A 4xx in the error envelope with a code of the catalog, without internal details. */
const expectRefusal = (response: Response, status?: number, code?: string): void => {
  expect(response.status).toBeGreaterThanOrEqual(400);
  expectNoFault(response);
  if (status !== undefined) expect(response.status).toBe(status);
  if (code !== undefined) expect(response.body.code).toBe(code);
  expect(Object.keys(CATALOG)).toContain(response.body.code);
  expect(response.body.details === null).toBe(response.body.code !== 'CLIENT_PARAMS_VALIDATION_FAILED');
  expect(response.text).not.toMatch(/\n\s+at |node_modules|\/src\/|select |insert |update |delete /i);
};
