// Proves ASVS 16.3.3; network-8
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../src/adapters/limits/login-attempts.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const FREE = 50;
const { start } = servicesOverOneDatabase();

type LoginSource = { readonly cookie?: string; readonly network?: string };

const logInAt = ({ http }: TestService, account: string, password: string, { cookie, network }: LoginSource = {}) => {
  const request = http.post('/auth/login');
  if (cookie !== undefined) request.set('Cookie', cookie);
  if (network !== undefined) request.set('X-Forwarded-For', network);
  return request.send({ account, password });
};

const guess = (service: TestService, account: string, times: number, from?: LoginSource): Promise<Response[]> =>
  Promise.all(Array.from({ length: times }, () => logInAt(service, account, 'a guess', from)));

/** A login throttle with a fixed clock. */
const throttleWithFixedClock = () => {
  const clock = fixedClock(0);
  return { clock, attempts: countAttempts(memoryCounts({ now: clock.now }), clock) };
};

const service = await start({}, () => ({ attempts: throttleWithFixedClock().attempts }));

describe('a guess after fifty failed ones', () => {
  it('has to wait in the service as main.js composes it', async () => {
    const composed = await start();
    const responses = await guess(composed, aPerson().username, FREE + 50);
    const refused = responses.filter(({ status }) => status === 429);
    // On a slow machine a second may have passed, which admits one more.
    expect(refused.length).toBeGreaterThan(40);
    expect(refused.length).toBeLessThanOrEqual(50);
  });

  it('is logged at warn, without the account and the password', async () => {
    // A service of its own: the refusals above have used up the sampled log lines of this minute.
    const own = await start({}, () => ({ attempts: throttleWithFixedClock().attempts }));
    const { person } = await signUp(own);
    await guess(own, person.username, FREE);
    const before = own.logs.length;
    await logInAt(own, person.username, person.password).expect(429);
    const lines = own.logs.slice(before);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED',
        reason: expect.stringContaining('too many'),
      }),
    );
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${person.username}|${person.password}`, 'i'));
  });

  it('gets the same response whether or not the account exists and the password is right', async () => {
    const { person } = await signUp(service);
    const nobody = aPerson();
    await guess(service, person.username, FREE);
    await guess(service, nobody.username, FREE);
    const [right, wrong, unknown] = await Promise.all([
      logInAt(service, person.username, person.password),
      logInAt(service, person.username, 'a guess'),
      logInAt(service, nobody.username, 'a guess'),
    ]);
    const comparable = ({ status, headers, body }: Response) => {
      const { date: _date, 'svc-request-id': _id, ...rest } = headers;
      return { status, rest, body: { ...body, timestamp: null, context: { ...body.context, requestId: null } } };
    };
    expect(comparable(right)).toMatchObject({ status: 429, body: { details: null } });
    expect(comparable(wrong)).toStrictEqual(comparable(right));
    expect(comparable(unknown)).toStrictEqual(comparable(right));
  });
});
