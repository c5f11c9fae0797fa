import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { startService } from '../../support/http/service.ts';
import { probe, stageApp, ULID } from '../../support/http/stage-app.ts';
import { DEVELOPMENT, PRODUCTION } from '../../support/processes/environments.ts';

const ALLOWED = 'https://app.example.com';
const ALSO_ALLOWED = 'http://localhost:5173';

/** SPEC "CORS response headers". */
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
  // Proves: request-31
  it('without Origin is allowed, and gets no CORS header', async () => {
    const answer = await (await start()).http[method]('/probe').expect(200);
    expect(corsOf(answer.headers)).toEqual({});
    expect(variesByOrigin(answer.headers)).toBe(true);
  });

  // Proves: request-32, request-38, request-39, request-40, request-41, asvs-3.4.2
  it.each([ALLOWED, ALSO_ALLOWED])('from %s, on the list, is allowed and gets the CORS headers', async (origin) => {
    const answer = await (await start()).http[method]('/probe').set('Origin', origin).expect(200);
    expect(answer.headers).toMatchObject({ ...CORS, 'access-control-allow-origin': origin });
    expect(exposed(answer.headers)).toEqual(['svc-request-id', 'Retry-After']);
    expect(variesByOrigin(answer.headers)).toBe(true);
  });

  // Proves: request-16, request-33, exception-12, website-5, asvs-3.4.2
  it.each([
    ['an origin that is not listed', 'https://elsewhere.example'],
    ['the origin of a sandbox', 'null'],
    ['an origin that begins like a listed one', `${ALLOWED}.elsewhere.example`],
    ['a listed origin at another port', `${ALLOWED}:8443`],
    ['a listed host by another scheme', 'http://app.example.com'],
    ['a listed origin in another letter case', ALLOWED.toUpperCase()],
    ['two listed origins', `${ALLOWED} ${ALSO_ALLOWED}`],
    ['an asterisk', '*'],
  ])('from %s is forbidden, without a CORS header', async (_what, origin) => {
    const answer = await (await start()).http[method]('/probe').set('Origin', origin).expect(403);
    expect(answer.body).toMatchObject({ success: false, code: 'SYS_HTTP_UNEXPECTED_ERROR', details: null });
    expect(corsOf(answer.headers)).toEqual({});
    expect(variesByOrigin(answer.headers)).toBe(true);
  });
});

describe('a preflight', () => {
  // Proves: request-34, request-38, request-39, request-40, request-41, constant-6
  it.each([...METHODS, 'HEAD', 'QUERY'])(
    'for %s from a listed origin gets 204 with the allow headers',
    async (method) => {
      const { http, logs } = await start();
      const answer = await http
        .options('/probe')
        .set({ Origin: ALLOWED, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': 'x-custom' })
        .expect(204);
      expect(corsOf(answer.headers)).toEqual({ ...CORS, 'access-control-allow-origin': ALLOWED });
      expect(variesByOrigin(answer.headers)).toBe(true);
      expect(answer.text).toBe('');
      expect(logs.filter(({ code }) => code !== undefined)).toEqual([]);
    },
  );

  // Proves: request-35
  it.each(['https://elsewhere.example', 'null'])('from %s is forbidden, without a CORS header', async (origin) => {
    const answer = await (await start()).http
      .options('/probe')
      .set({ Origin: origin, 'Access-Control-Request-Method': 'POST' })
      .expect(403);
    expect(answer.body).toMatchObject({ success: false, code: 'SYS_HTTP_UNEXPECTED_ERROR' });
    expect(answer.headers['svc-request-id']).toMatch(ULID);
    expect(corsOf(answer.headers)).toEqual({});
    expect(variesByOrigin(answer.headers)).toBe(true);
  });

  // Proves: request-34
  it('is answered for a path that no route has, and reaches no handler', async () => {
    const { http } = await start();
    await http.options('/nowhere').set({ Origin: ALLOWED, 'Access-Control-Request-Method': 'GET' }).expect(204);
  });
});

describe('OPTIONS', () => {
  // Proves: request-35
  it('without Origin gets 204 with the allow headers, and names no origin', async () => {
    const answer = await (await start()).http.options('/probe').expect(204);
    expect(corsOf(answer.headers)).toEqual(CORS);
    expect(variesByOrigin(answer.headers)).toBe(true);
  });

  it('from a listed origin that asks for no method, which is no preflight, gets 204 with the allow headers too', async () => {
    const answer = await (await start()).http.options('/probe').set('Origin', ALLOWED).expect(204);
    expect(answer.headers).toMatchObject(CORS);
  });
});

describe('an error', () => {
  it.each([
    [404, '/nowhere'],
    [500, '/bug'],
    [429, '/once'],
  ])('of %i carries the CORS headers, so that a page of a listed origin can read it', async (status, path) => {
    const bug = probe(() => Promise.reject(new Error('a bug')), { name: 'bug', path: '/bug' });
    const once = probe(() => null, { name: 'once', path: '/once', throttle: 'strict' });
    const { http } = await stageApp([bug, once], {
      allowedOrigins: [ALLOWED],
      rateLimits: { global: null, strict: { requests: 1, window: 60_000 }, public: null },
    });
    await http.get('/once').expect(200);
    const answer = await http.get(path).set('Origin', ALLOWED).expect(status);
    expect(answer.headers).toMatchObject({ ...CORS, 'access-control-allow-origin': ALLOWED });
    expect(exposed(answer.headers)).toEqual(['svc-request-id', 'Retry-After']);
    expect(variesByOrigin(answer.headers)).toBe(true);
  });
});

describe('the list of origins', () => {
  const LISTS = {
    ALLOWED_ORIGINS_DEV: 'http://localhost:5173, http://localhost:8080',
    ALLOWED_ORIGINS_PROD: 'https://app.example.com,https://www.example.com',
  };

  // Proves: request-37
  it('is ALLOWED_ORIGINS_PROD in production', () => {
    const { allowedOrigins } = parseConfig({ ...PRODUCTION, ...LISTS });
    expect(allowedOrigins).toEqual(['https://app.example.com', 'https://www.example.com']);
  });

  // Proves: request-36
  it('is ALLOWED_ORIGINS_DEV in development', () => {
    const { allowedOrigins } = parseConfig({ ...DEVELOPMENT, ...LISTS });
    expect(allowedOrigins).toEqual(['http://localhost:5173', 'http://localhost:8080']);
  });

  it('allows nobody when it is empty', async () => {
    expect(parseConfig(DEVELOPMENT).allowedOrigins).toEqual([]);
    expect(parseConfig(PRODUCTION).allowedOrigins).toEqual([]);
    const { http } = await stageApp(routes, { allowedOrigins: [] });
    await http.get('/probe').set('Origin', ALLOWED).expect(403);
  });

  // Proves: request-36
  it('is what the service goes by', async () => {
    const service = await startService(LISTS);
    const { http } = service;
    await http.get('/health/live').set('Origin', 'http://localhost:8080').expect(200);
    await http.get('/health/live').set('Origin', 'https://app.example.com').expect(403);
    await service.close();
  });
});
