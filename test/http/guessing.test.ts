import type { Response } from 'supertest';
import { beforeAll, describe, expect, it } from 'vitest';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../src/adapters/limits/login-attempts.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { heldFrom, refreshWith, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';
import { tally } from '../support/tally.ts';

const FREE = 50;
const INVALID = '401 AUTH_CREDENTIALS_INVALID';
const WAIT = '429 CLIENT_REQUEST_RATE_LIMIT_EXCEEDED';
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

const waitOf = ({ headers }: Response): string | undefined => headers['retry-after'];

/** A login throttle with a fixed clock. */
const throttleWithFixedClock = () => {
  const clock = fixedClock(0);
  return { clock, attempts: countAttempts(memoryCounts({ now: clock.now }), clock) };
};

describe('a guess after fifty failed ones', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start({}, () => ({ attempts: throttleWithFixedClock().attempts }));
  });

  it('has to wait in the service as main.js composes it', async () => {
    const composed = await start();
    const responses = await guess(composed, aPerson().username, FREE + 50);
    const refused = responses.filter(({ status }) => status === 429);
    // On a slow machine a second may have passed, which admits one more.
    expect(refused.length).toBeGreaterThan(40);
    expect(refused.length).toBeLessThanOrEqual(50);
  });

  it.each([
    ['on a username', async () => (await signUp(service)).person.username],
    ['on an email', async () => (await signUp(service)).person.email],
    ['on an unknown username', async () => aPerson().username],
    ['on an unknown email', async () => aPerson().email],
  ])('%s has to wait a second, even if all guesses arrive at once', async (_what, register) => {
    const account = await register();
    const responses = await guess(service, account, FREE + 50);
    expect(tally(responses)).toEqual({ [INVALID]: FREE, [WAIT]: 50 });
    for (const response of responses.filter(({ status }) => status === 429)) expect(waitOf(response)).toBe('1');
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

  it('blocks neither open sessions nor a device that has logged in before, whose success resets only its own count', async () => {
    const { person, cookie } = await signUp(service);
    await guess(service, person.email, FREE);
    await logInAt(service, person.email, person.password).expect(429);
    const refreshed = heldFrom(await refreshWith(service, cookie).expect(200));
    const guessOnDevice = async () => tally(await guess(service, person.email, FREE - 1, { cookie: refreshed.cookie }));
    expect(await guessOnDevice()).toEqual({ [INVALID]: FREE - 1 });
    const loggedIn = heldFrom(
      await logInAt(service, person.email, person.password, { cookie: refreshed.cookie }).expect(200),
    );
    await refreshWith(service, loggedIn.cookie).expect(200);
    expect(await guessOnDevice()).toEqual({ [INVALID]: FREE - 1 });
    await logInAt(service, person.email, person.password).expect(429);
  });

  it('is not admitted for cookies that are older than the password', async () => {
    const { person, accessToken } = await signUp(service);
    const cookies = [];
    for (let device = 0; device < 5; device += 1) {
      cookies.push(heldFrom(await logInAt(service, person.email, person.password).expect(200)).cookie);
    }
    await service.http
      .put('/users/me/password')
      .set('Authorization', `Bearer ${accessToken}`)
      .send({ currentPassword: person.password, newPassword: 'another horse' })
      .expect(200);
    const responses = [];
    for (const cookie of cookies) responses.push(...(await guess(service, person.email, FREE, { cookie })));
    expect(tally(responses)).toEqual({ [INVALID]: FREE, [WAIT]: 4 * FREE });
  });

  it('has to wait on many devices together, while devices that did not guess need not wait', async () => {
    const { person } = await signUp(service);
    const cookies: string[] = [];
    for (let device = 0; device < 7; device += 1) {
      cookies.push(heldFrom(await logInAt(service, person.email, person.password).expect(200)).cookie);
    }
    const [mine, other, ...stolen] = cookies;
    await guess(service, person.email, FREE);
    const responses = [];
    for (const cookie of stolen) responses.push(...(await guess(service, person.email, FREE, { cookie })));
    expect(tally(responses)).toEqual({ [INVALID]: FREE + 4 * 3, [WAIT]: 4 * (FREE - 3) });
    for (const cookie of [mine, other]) {
      await logInAt(service, person.email, 'a typo', { cookie: cookie ?? '' }).expect(401);
      await logInAt(service, person.email, person.password, { cookie: cookie ?? '' }).expect(200);
    }
  });

  it('has to wait on a device with the token of another user, or a forged one', async () => {
    const { person, cookie } = await signUp(service);
    const other = await signUp(service);
    await guess(service, person.username, FREE);
    for (const shown of [other.cookie, `${cookie}x`, 'refresh_token=', `refresh_token=${other.accessToken}`]) {
      await logInAt(service, person.username, person.password, { cookie: shown }).expect(429);
    }
    await logInAt(service, person.username, person.password, { cookie: `${other.cookie}; ${cookie}` }).expect(200);
  });
});

describe('an attacker who continues to guess', () => {
  const { clock, attempts } = throttleWithFixedClock();
  let service: TestService;
  beforeAll(async () => {
    service = await start({ TRUST_PROXY: '1' }, () => ({ attempts }));
  });
  const ATTACKER = { network: '198.51.100.1' };

  it.each([
    ['a /48', 250, (index: number) => `2001:db8:1:${(97 * index).toString(16)}::1`, 0.85],
    ['all of a /24', 250, (index: number) => `198.51.100.${index}`, 0.85],
  ])('does not keep the owner out for long, with addresses in %s', async (_what, count, networkOf, part) => {
    const { person } = await signUp(service);
    await guess(service, person.username, FREE, ATTACKER);
    const failures = new Map<number, number>();
    let next = 0;
    /** Tries one network after another until one is admitted, at most ten times; at most three times from each in total. */
    const guessFromNextNetwork = async () => {
      for (let tries = 0; tries < 10; tries += 1) {
        const failed = failures.get(next) ?? 0;
        if (failed < 3) {
          const { status } = await logInAt(service, person.username, 'a guess', { network: networkOf(next) });
          if (status === 401) {
            failures.set(next, failed + 1);
            return;
          }
        }
        next = (next + 1) % count;
      }
    };
    let admitted = 0;
    for (let minute = 0; minute < 60; minute += 1) {
      clock.advance(30_000);
      await logInAt(service, person.username, 'a guess', ATTACKER);
      await guessFromNextNetwork();
      clock.advance(30_000);
      if (minute < 20) continue;
      const owner = await logInAt(service, person.username, person.password, { network: '203.0.113.1' });
      if (owner.status === 200) admitted += 1;
    }
    expect(admitted / 40).toBeGreaterThan(part);
  });
});
