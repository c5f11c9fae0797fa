// Proves SPEC 8.8, 8.10, 8.11, 9.13, 10.1, 10.3, 10.4, 10.6, 10.8, 10.9, 13.7
// Proves SPEC 20.9, 20.10; ASVS 10.4.5; theft-1, bcp-6
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { SECOND } from '../support/application.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import {
  decode,
  forged,
  refreshWith,
  servicesOverOneDatabase,
  signUp,
  tokenIn,
  tokensOf,
} from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const ALLOWED_ORIGIN = 'https://app.example.org';
const { start } = servicesOverOneDatabase();
const clock = fixedClock(NOW);
const service = await start({ ALLOWED_ORIGINS_DEV: ALLOWED_ORIGIN }, () => ({ clock }));

const expectRefused = (response: Response): void => {
  expect([response.status, response.body.code]).toEqual([401, 'AUTH_FAILED']);
  expect(response.body.details).toBeNull();
  expect(response.get('Set-Cookie')).toBeUndefined();
};

/** Refreshes, and expects success. @returns the cookie of the response. */
const rotate = async (cookie: string, at: TestService = service): Promise<string> =>
  tokensOf(await refreshWith(at, cookie).expect(200)).cookie;

it.each([
  ['text/plain', '{ no json'],
  ['application/x-www-form-urlencoded', 'proof=x'],
  ['application/json', ''],
])('POST /auth/refresh-token needs no body and ignores one of type %s: %j', async (type, body) => {
  const { cookie } = await signUp(service);
  await refreshWith(service, cookie).set('Content-Type', type).send(body).expect(200);
});

describe('a refresh token that is refused', () => {
  it('gets the same response whatever the reason', async () => {
    const { cookie } = await signUp(service);
    const next = await rotate(cookie);
    const responses = [
      await service.http.post('/auth/refresh-token'),
      await refreshWith(service, 'refresh_token=garbage'),
      await refreshWith(service, cookie),
      await refreshWith(service, forged(next)),
    ].map(({ status, body: { timestamp: _time, context: _context, ...body } }) => ({ status, body }));
    for (const response of responses) expect(response).toStrictEqual(responses[0]);
  });
});

it.each([
  ['0', 0, 1],
  ['30s', 30 * SECOND, 30 * SECOND + 1],
])('a reuse of the previous token is a race within JWT_REFRESH_RACE_WINDOW=%s', async (window, race, theft) => {
  const time = fixedClock(NOW);
  const other = await start({ JWT_REFRESH_RACE_WINDOW: window }, () => ({ clock: time }));
  const { cookie } = await signUp(other);
  const next = await rotate(cookie, other);
  time.set(NOW + race);
  expectRefused(await refreshWith(other, cookie));
  const { header, claims } = decode(tokenIn(next));
  const key = { id: String(header.sid), userId: String(claims.sub) };
  expect(await other.ports.sessions.find(key)).not.toBeNull();
  time.set(NOW + theft);
  expectRefused(await refreshWith(other, cookie));
  expectRefused(await refreshWith(other, next));
});

describe('a refresh from a page of another site', () => {
  it('is refused, and the token stays usable when the origin is allowed', async () => {
    const { cookie } = await signUp(service);
    const ask = () => refreshWith(service, cookie).set('Sec-Fetch-Site', 'cross-site');
    expectRefused(await ask());
    await ask().set('Origin', ALLOWED_ORIGIN).expect(200);
  });

  it.each(['same-origin', 'same-site', 'none'])('is not assumed for Sec-Fetch-Site: %s', async (site) => {
    const { cookie } = await signUp(service);
    await refreshWith(service, cookie).set('Sec-Fetch-Site', site).expect(200);
  });
});
