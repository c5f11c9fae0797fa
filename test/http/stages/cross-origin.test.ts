// Proves SPEC 12.16, 12.31, 12.32, 12.33, 12.34, 12.35, 12.36, 12.38, 12.39, 12.40, 12.41, 21.12; ASVS 3.4.2; website-5, bcp-5, bcp-10
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

const verbs = METHODS.map((method) => method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete');

describe.each(verbs)('%s', (method) => {
  it('is allowed without an Origin, and gets no CORS header', async () => {
    const response = await (await start()).http[method]('/probe').expect(200);
    expect(corsOf(response.headers)).toEqual({});
    expect(variesByOrigin(response.headers)).toBe(true);
  });

  it('is allowed from the service itself with a hidden origin, as without one', async () => {
    const own = { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' };
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
    ['an origin that starts with a listed one', `${ALLOWED}.elsewhere.example`],
    ['a listed origin at another port', `${ALLOWED}:8443`],
    ['a listed host by another scheme', 'http://app.example.com'],
    ['a listed origin in another letter case', ALLOWED.toUpperCase()],
    ['two listed origins', `${ALLOWED} ${ALSO_ALLOWED}`],
    ['an asterisk', '*'],
  ])('is forbidden from %s, without a CORS header', async (_what, origin) => {
    const response = await (await start()).http[method]('/probe').set('Origin', origin).expect(403);
    expect(response.body).toMatchObject({ success: false, code: 'SYS_HTTP_UNEXPECTED_ERROR', details: null });
    expect(corsOf(response.headers)).toEqual({});
    expect(variesByOrigin(response.headers)).toBe(true);
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
    const response = await (await start()).http
      .options('/probe')
      .set({ Origin: origin, 'Access-Control-Request-Method': 'POST' })
      .expect(403);
    expect(response.body).toMatchObject({ success: false, code: 'SYS_HTTP_UNEXPECTED_ERROR' });
    expect(response.headers['svc-request-id']).toMatch(ULID);
    expect(corsOf(response.headers)).toEqual({});
    expect(variesByOrigin(response.headers)).toBe(true);
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

describe('OPTIONS', () => {
  it('without an Origin gets 204 with the allow headers, and without an allowed origin', async () => {
    const response = await (await start()).http.options('/probe').expect(204);
    expect(corsOf(response.headers)).toEqual(CORS);
    expect(variesByOrigin(response.headers)).toBe(true);
  });

  it('from a listed origin without a requested method, which is not a preflight, gets 204 with the allow headers too', async () => {
    const response = await (await start()).http.options('/probe').set('Origin', ALLOWED).expect(204);
    expect(response.headers).toMatchObject({ ...CORS, 'access-control-allow-origin': ALLOWED });
  });
});

describe('an error', () => {
  it.each([
    [404, '/nowhere'],
    [500, '/bug'],
    [429, '/once'],
  ])('with status %i has the CORS headers, so that a page of a listed origin can read it', async (status, path) => {
    const bug = probe(() => Promise.reject(new Error('a bug')), { name: 'bug', path: '/bug' });
    const once = probe(() => null, { name: 'once', path: '/once', throttle: 'strict' });
    const { http } = await stageApp([bug, once], {
      allowedOrigins: [ALLOWED],
      rateLimits: { global: null, strict: { requests: 1, window: 60_000 }, public: null },
    });
    await http.get('/once').expect(200);
    const response = await http.get(path).set('Origin', ALLOWED).expect(status);
    expect(response.headers).toMatchObject({ ...CORS, 'access-control-allow-origin': ALLOWED });
    expect(exposed(response.headers)).toEqual(['svc-request-id', 'Retry-After', 'WWW-Authenticate']);
    expect(variesByOrigin(response.headers)).toBe(true);
  });
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
