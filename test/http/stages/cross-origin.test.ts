// Proves SPEC 12.16, 12.31, 12.32, 12.33, 12.34, 12.35, 12.36, 12.38, 12.39, 12.40, 12.41, 21.12; ASVS 3.4.2; website-5, bcp-5, bcp-10
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { startService } from '../../support/http/service.ts';
import { probe, stageApp, ULID } from '../../support/http/stage-app.ts';
import { DEVELOPMENT, PRODUCTION } from '../../support/processes/environments.ts';

const ALLOWED = 'https://app.example.com';
const ALSO_ALLOWED = 'http://localhost:5173';

/** SPEC "Cross-origin rules". */
const CORS = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, PATCH, OPTIONS',
  'access-control-allow-headers': 'Content-Type, Authorization, svc-request-id',
  'access-control-allow-credentials': 'true',
  'access-control-max-age': '86400',
};

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const routes = METHODS.map((method) => probe(() => null, { name: `probe-${method}`, method }));
const start = () => stageApp(routes, { allowedOrigins: [ALLOWED, ALSO_ALLOWED] });

type Headers = Readonly<Record<string, string>>;
const corsOf = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));
const variesByOrigin = ({ vary = '' }: Headers): boolean => vary.split(/, */).includes('Origin');
const exposed = (headers: Headers): string[] => (headers['access-control-expose-headers'] ?? '').split(/, */);

const expectForbidden = ({ status, body, headers }: Response) => {
  expect(status).toBe(403);
  expect(body).toMatchObject({ success: false, code: 'SYS_HTTP_UNEXPECTED_ERROR', details: null });
  expect(headers['svc-request-id']).toMatch(ULID);
  expect(corsOf(headers)).toEqual({});
  expect(variesByOrigin(headers)).toBe(true);
};

it.each([
  ['that starts with a listed one', `${ALLOWED}.elsewhere.example`],
  ['of a listed host at another port', `${ALLOWED}:8443`],
  ['of a listed host by another scheme', 'http://app.example.com'],
  ['that is listed in another letter case', ALLOWED.toUpperCase()],
  ['that is two listed ones', `${ALLOWED} ${ALSO_ALLOWED}`],
  ['that is an asterisk', '*'],
])('an origin %s is forbidden', async (_what, origin) => {
  expectForbidden(await (await start()).http.get('/probe').set('Origin', origin));
});

const verbs = METHODS.map((method) => method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete');

describe.each(verbs)('%s', (method) => {
  it.each([
    ['without an Origin', {}],
    ['from the service itself with a hidden origin', { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }],
  ])('is allowed %s, and gets no CORS header', async (_from, own) => {
    const response = await (await start()).http[method]('/probe').set(own).expect(200);
    expect(corsOf(response.headers)).toEqual({});
    expect(variesByOrigin(response.headers)).toBe(true);
  });

  it.each([ALLOWED, ALSO_ALLOWED])('is allowed from %s, which is listed, and gets the CORS headers', async (origin) => {
    const response = await (await start()).http[method]('/probe').set('Origin', origin).expect(200);
    expect(response.headers).toMatchObject({ ...CORS, 'access-control-allow-origin': origin });
    expect(exposed(response.headers)).toEqual(['svc-request-id', 'Retry-After', 'WWW-Authenticate']);
    expect(variesByOrigin(response.headers)).toBe(true);
  });

  it.each([
    ['an origin that is not listed', 'https://elsewhere.example'],
    ['the origin of a sandboxed page', 'null'],
  ])('is forbidden from %s, without a CORS header', async (_what, origin) => {
    expectForbidden(await (await start()).http[method]('/probe').set('Origin', origin));
  });
});

describe('a preflight', () => {
  it.each([...METHODS, 'HEAD', 'QUERY'])(
    'for %s from a listed origin gets 204 with the allow headers',
    async (method) => {
      const { http, logs } = await start();
      const response = await http
        .options('/probe')
        .set({ Origin: ALLOWED, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': 'x-custom' })
        .expect(204);
      expect(corsOf(response.headers)).toEqual({ ...CORS, 'access-control-allow-origin': ALLOWED });
      expect(variesByOrigin(response.headers)).toBe(true);
      expect(response.text).toBe('');
      expect(logs.filter(({ code }) => code !== undefined)).toEqual([]);
    },
  );

  it.each(['https://elsewhere.example', 'null'])('from %s is forbidden, without a CORS header', async (origin) => {
    const { http } = await start();
    expectForbidden(await http.options('/probe').set({ Origin: origin, 'Access-Control-Request-Method': 'POST' }));
  });

  it('is answered for an unknown path too, and reaches no handler', async () => {
    const { http } = await start();
    await http.options('/nowhere').set({ Origin: ALLOWED, 'Access-Control-Request-Method': 'GET' }).expect(204);
  });
});

it('the list of headers has those of ALLOWED_HEADERS, too', async () => {
  const { allowedHeaders } = parseConfig({ ...DEVELOPMENT, ALLOWED_HEADERS: 'traceparent, sentry-trace' });
  const { http } = await stageApp(routes, { allowedOrigins: [ALLOWED], allowedHeaders });
  const { headers } = await http.options('/probe').set({ Origin: ALLOWED, 'Access-Control-Request-Method': 'GET' });
  expect(headers).toMatchObject({
    'access-control-allow-headers': 'Content-Type, Authorization, svc-request-id, traceparent, sentry-trace',
  });
});

describe('the origin of a program', () => {
  const PROGRAMS = ['capacitor://localhost', 'chrome-extension://abcdefghijklmnopabcdefghijklmnop', 'app://-'];
  const { allowedOrigins } = parseConfig({ ...DEVELOPMENT, ALLOWED_ORIGINS_DEV: PROGRAMS.join(',') });

  it.each(PROGRAMS)('is allowed if it is listed: %s', async (origin) => {
    const { http } = await stageApp(routes, { allowedOrigins });
    const response = await http.get('/probe').set('Origin', origin).expect(200);
    expect(response.headers).toMatchObject({ ...CORS, 'access-control-allow-origin': origin });
  });

  it.each(['capacitor://localhost:80', 'Capacitor://localhost', 'capacitor://localhost/', 'ionic://localhost'])(
    'is compared as text: %s is refused',
    async (origin) => {
      const { http } = await stageApp(routes, { allowedOrigins });
      await http.get('/probe').set('Origin', origin).expect(403);
    },
  );
});

it('OPTIONS that is no preflight gets 204 with the allow headers, and with the origin, if it is listed', async () => {
  const { http } = await start();
  const response = await http.options('/probe').expect(204);
  expect(corsOf(response.headers)).toEqual(CORS);
  expect(variesByOrigin(response.headers)).toBe(true);
  const listed = await http.options('/probe').set('Origin', ALLOWED).expect(204);
  expect(listed.headers).toMatchObject({ ...CORS, 'access-control-allow-origin': ALLOWED });
});

it.each([
  [404, '/nowhere'],
  [500, '/bug'],
  [429, '/limited'],
])('an error with status %i has the CORS headers: a page of a listed origin can read it', async (status, path) => {
  const bug = probe(() => Promise.reject(new Error('a bug')), { name: 'bug', path: '/bug' });
  const limited = probe(() => null, { name: 'limited', path: '/limited', throttle: 'strict' });
  const rateLimits = { global: null, strict: { requests: 1, window: 60_000 }, public: null };
  const { http } = await stageApp([bug, limited], { allowedOrigins: [ALLOWED], rateLimits });
  await http.get('/limited').expect(200);
  const response = await http.get(path).set('Origin', ALLOWED).expect(status);
  expect(response.headers).toMatchObject({ ...CORS, 'access-control-allow-origin': ALLOWED });
  expect(exposed(response.headers)).toEqual(['svc-request-id', 'Retry-After', 'WWW-Authenticate']);
  expect(variesByOrigin(response.headers)).toBe(true);
});

describe('the list of origins', () => {
  const LISTS = {
    ALLOWED_ORIGINS_DEV: 'http://localhost:5173, http://localhost:8080',
    ALLOWED_ORIGINS_PROD: 'https://app.example.com,https://www.example.com',
  };

  it('allows no origin when it is empty', async () => {
    expect(parseConfig(DEVELOPMENT).allowedOrigins).toEqual([]);
    expect(parseConfig(PRODUCTION).allowedOrigins).toEqual([]);
    const { http } = await stageApp(routes, { allowedOrigins: [] });
    await http.get('/probe').set('Origin', ALLOWED).expect(403);
  });

  it('is used by the service', async () => {
    const service = await startService(LISTS);
    const { http } = service;
    await http.get('/health/live').set('Origin', 'http://localhost:8080').expect(200);
    await http.get('/health/live').set('Origin', 'https://app.example.com').expect(403);
  });
});
