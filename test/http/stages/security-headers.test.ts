// Proves SPEC 12.3; ASVS 3.2.1, 3.4.1, 3.4.3, 3.4.4, 3.4.5, 3.4.6; network-1, website-6
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { probe, stageApp, throwing } from '../../support/http/stage-app.ts';

const HEADERS = {
  'content-security-policy': "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
const A_YEAR = 31_536_000;

const guarded = probe(() => null, {
  auth: 'required',
  name: 'guarded',
  path: '/guarded',
  response: { data: v.null() },
});
const created = probe(() => null, {
  name: 'created',
  method: 'POST',
  path: '/created',
  response: { status: 201, data: v.null() },
});
const hanging = probe(() => new Promise(() => undefined), { name: 'hanging', path: '/hanging' });
const once = probe(() => null, { name: 'once', path: '/once', throttle: 'strict' });
const routes = [throwing(new Error('a bug')), guarded, created, hanging, once];

it.each([
  [200, 'get', '/once', {}, 0],
  [201, 'post', '/created', {}, 0],
  [204, 'options', '/created', {}, 0],
  [401, 'get', '/guarded', {}, 0],
  [403, 'get', '/once', { Origin: 'https://elsewhere.example' }, 0],
  [404, 'get', '/nowhere', {}, 0],
  [405, 'put', '/created', {}, 0],
  [429, 'get', '/once', {}, 1],
  [500, 'get', '/probe', {}, 0],
  [503, 'get', '/hanging', {}, 0],
] as const)('security headers are in a response with status %i', async (status, method, path, headers, before) => {
  const rateLimits = { global: null, public: null, strict: { requests: 1, window: 60_000 } };
  const { http } = await stageApp(routes, { rateLimits, requestTimeoutMs: 300 });
  for (let sent = 0; sent < before; sent += 1) await http[method](path);

  const response = await http[method](path).set(headers).expect(status);
  expect(response.headers).toMatchObject(HEADERS);
  const [, maxAge] =
    /^max-age=(\d+); includeSubDomains$/.exec(response.headers['strict-transport-security'] ?? '') ?? [];
  expect(Number(maxAge)).toBeGreaterThanOrEqual(A_YEAR);
  expect(response.headers).not.toHaveProperty('x-powered-by');
  expect(response.headers).not.toHaveProperty('server');
});
