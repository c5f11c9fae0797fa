import type { Response } from 'supertest';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixedClock } from '../../src/adapters/clock/fixed.ts';
import { memoryLoginAttempts } from '../../src/adapters/login-attempts/memory.ts';
import { heldFrom, refreshWith, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';
import { tally } from '../support/tally.ts';

const FREE = 50;
const INVALID = '401 AUTH_CREDENTIALS_INVALID';
const WAIT = '429 CLIENT_REQUEST_RATE_LIMIT_EXCEEDED';
const { start } = servicesOverOneDatabase();

type From = { readonly cookie?: string; readonly network?: string };

const logInAt = ({ http }: TestService, account: string, password: string, { cookie, network }: From = {}) => {
  const request = http.post('/auth/login');
  if (cookie !== undefined) request.set('Cookie', cookie);
  if (network !== undefined) request.set('X-Forwarded-For', network);
  return request.send({ account, password });
};

const guess = (service: TestService, account: string, times: number, from?: From): Promise<Response[]> =>
  Promise.all(Array.from({ length: times }, () => logInAt(service, account, 'a guess', from)));

const waitOf = ({ headers }: Response): string | undefined => headers['retry-after'];

/** Attempts at a time that stands still unless it is moved. */
const timeless = () => {
  const clock = fixedClock(0);
  return { clock, attempts: memoryLoginAttempts({ now: clock.now }) };
};

describe('the fifty-first guess', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start({}, () => ({ attempts: timeless().attempts }));
  });

  it('has to wait in the service as it is composed', async () => {
    const composed = await start();
    const answers = await guess(composed, aPerson().username, FREE + 50);
    const refused = answers.filter(({ status }) => status === 429);
    // On a slow machine a second may have passed meanwhile, which lets one more through.
    expect(refused.length).toBeGreaterThan(40);
    expect(refused.length).toBeLessThanOrEqual(50);
  });

  // Proves: rate-13
  it.each([
    ['at an account', async () => (await signUp(service)).person.username],
    ['at its email', async () => (await signUp(service)).person.email],
    ['at a username of nobody', async () => aPerson().username],
    ['at an email of nobody', async () => aPerson().email],
  ])('%s has to wait a second, though all of them come at once', async (_what, register) => {
    const account = await register();
    const answers = await guess(service, account, FREE + 50);
    expect(tally(answers)).toEqual({ [INVALID]: FREE, [WAIT]: 50 });
    for (const answer of answers.filter(({ status }) => status === 429)) expect(waitOf(answer)).toBe('1');
  });

  // Proves: asvs-16.3.3
  it('is logged at warn, and neither the account nor the password with it', async () => {
    // One of its own: so many were refused above that no more such lines are logged in this minute.
    const own = await start({}, () => ({ attempts: timeless().attempts }));
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

  // Proves: network-8
  it('is answered alike, whether there is such an account or not, and whether the password is right or not', async () => {
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

  // Proves: rate-13
  it('keeps out neither open sessions nor a device that has logged in before, which clears its own count alone', async () => {
    const { person, cookie } = await signUp(service);
    await guess(service, person.email, FREE);
    await logInAt(service, person.email, person.password).expect(429);
    const refreshed = heldFrom(await refreshWith(service, cookie).expect(200));
    await logInAt(service, person.email, 'a typo', { cookie: refreshed.cookie }).expect(401);
    const loggedIn = heldFrom(
      await logInAt(service, person.email, person.password, { cookie: refreshed.cookie }).expect(200),
    );
    await refreshWith(service, loggedIn.cookie).expect(200);
    await logInAt(service, person.email, person.password).expect(429);
  });

  it('is not let through for cookies that are older than the password', async () => {
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
    const answers = [];
    for (const cookie of cookies) answers.push(...(await guess(service, person.email, FREE, { cookie })));
    expect(tally(answers)).toEqual({ [INVALID]: FREE, [WAIT]: 4 * FREE });
  });

  it('on many devices has to wait, and those that did not guess do not', async () => {
    const { person } = await signUp(service);
    const cookies: string[] = [];
    for (let device = 0; device < 7; device += 1) {
      cookies.push(heldFrom(await logInAt(service, person.email, person.password).expect(200)).cookie);
    }
    const [mine, other, ...stolen] = cookies;
    await guess(service, person.email, FREE);
    const answers = [];
    for (const cookie of stolen) answers.push(...(await guess(service, person.email, FREE, { cookie })));
    expect(tally(answers)).toEqual({ [INVALID]: FREE + 4 * 3, [WAIT]: 4 * (FREE - 3) });
    for (const cookie of [mine, other]) {
      await logInAt(service, person.email, 'a typo', { cookie: cookie ?? '' }).expect(401);
      await logInAt(service, person.email, person.password, { cookie: cookie ?? '' }).expect(200);
    }
  });

  it('is held against a device that shows the token of somebody else, or a forged one', async () => {
    const { person, cookie } = await signUp(service);
    const other = await signUp(service);
    await guess(service, person.username, FREE);
    for (const shown of [other.cookie, `${cookie}x`, 'refresh_token=', `refresh_token=${other.accessToken}`]) {
      await logInAt(service, person.username, person.password, { cookie: shown }).expect(429);
    }
    await logInAt(service, person.username, person.password, { cookie: `${other.cookie}; ${cookie}` }).expect(200);
  });
});

describe('who guesses on', () => {
  const { clock, attempts } = timeless();
  let service: TestService;
  beforeAll(async () => {
    service = await start({ TRUST_PROXY: '1' }, () => ({ attempts }));
  });
  const STRANGER = { network: '198.51.100.1' };

  // Proves: rate-13
  it('waits longer each time, up to a minute, and not the longer for asking meanwhile', async () => {
    const { person } = await signUp(service);
    await guess(service, person.username, FREE, STRANGER);
    const waits: unknown[] = [];
    for (let round = 0; round < 8; round += 1) {
      const refused = await guess(service, person.username, 3, STRANGER);
      waits.push(...new Set(refused.map(waitOf)));
      clock.advance(60_000);
      await logInAt(service, person.username, 'a guess', STRANGER).expect(401);
    }
    expect(waits).toEqual(['1', '2', '4', '8', '16', '32', '60', '60']);
  });

  // Proves: rate-13
  it('keeps nobody on another network out, with whatever device', async () => {
    const { person } = await signUp(service);
    for (let second = 0; second < FREE + 60; second += 1) {
      await logInAt(service, person.username, 'a guess', { network: `2001:db8:0:1::${second}` });
      clock.advance(1_000);
    }
    const wait = await logInAt(service, person.username, person.password, { network: '2001:db8:0:1::ffff' }).expect(
      429,
    );
    expect(Number(waitOf(wait))).toBeGreaterThan(1);
    await logInAt(service, person.username, person.password, { network: '2001:db8:0:2::1' }).expect(200);
  });

  it.each([
    ['all of a /56', 250, (index: number) => `2001:db8:0:${index.toString(16)}::1`, 0.85],
    ['a /48', 250, (index: number) => `2001:db8:1:${(97 * index).toString(16)}::1`, 0.85],
    ['all of a /24', 250, (index: number) => `198.51.100.${index}`, 0.85],
    ['ten unrelated networks', 10, (index: number) => `198.${index}.100.1`, 0.4],
  ])('leaves the owner most of the time, or some of it: who has %s', async (_what, count, networkOf, part) => {
    const { person } = await signUp(service);
    await guess(service, person.username, FREE, STRANGER);
    const failures = new Map<number, number>();
    let next = 0;
    /** Tries from one network after the other until one is let through, ten times at most; from each three times in all. */
    const takeTheTurn = async () => {
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
    let letIn = 0;
    for (let minute = 0; minute < 60; minute += 1) {
      clock.advance(30_000);
      await logInAt(service, person.username, 'a guess', STRANGER);
      await takeTheTurn();
      clock.advance(30_000);
      if (minute < 20) continue;
      const owner = await logInAt(service, person.username, person.password, { network: '203.0.113.1' });
      if (owner.status === 200) letIn += 1;
    }
    expect(letIn / 40).toBeGreaterThan(part);
  });
});
