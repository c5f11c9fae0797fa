// Proves SPEC 9.9, 11.6, 20.4; ASVS 6.2.8, 16.3.3; network-8
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../src/adapters/limits/login-attempts.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { head, openSocket, readToEnd } from '../support/http/raw-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const { start } = servicesOverOneDatabase();
const service = await start({}, () => ({ clock: fixedClock(NOW) }));
const ada = await signUp(service);

const logIn = (account: unknown, password: unknown = ada.person.password) =>
  service.http.post('/auth/login').send({ account, password });

describe('invalid credentials', () => {
  it('get a response that differs in id and time only, byte by byte, whether the password is wrong or the account unknown', async () => {
    const rawResponseTo = async (account: string) => {
      const body = JSON.stringify({ account, password: 'not the password' });
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(body)),
        Connection: 'close',
      };
      const socket = openSocket(service.url);
      socket.write(head('POST /auth/login', headers) + body);
      const answer = await readToEnd(socket);
      const { requestId } = JSON.parse(answer.slice(answer.indexOf('{'))).context;
      return answer.replaceAll(requestId, '<id>').replace(/^Date: .*$/m, 'Date: …');
    };
    const wrong = await rawResponseTo(ada.person.username);
    expect(wrong).toContain('AUTH_CREDENTIALS_INVALID');
    expect(wrong.match(/<id>/g)).toHaveLength(2);
    for (const account of ['nobody.at.all', 'nobody@example.org', ada.person.email, 'x', "' or 1=1 --", 'ada\0']) {
      expect(await rawResponseTo(account)).toBe(wrong);
    }
  });

  it('include a password that differs in letter case, blanks or form: it is never changed', async () => {
    const { person } = await signUp(service, { ...aPerson(), password: ' １２３ ４５６ a-\u200b ' });
    for (const other of ['toUpperCase', 'trim', 'normalize'] as const)
      await logIn(
        person.username,
        other === 'normalize' ? person.password.normalize('NFKC') : person.password[other](),
      ).expect(401);
    await logIn(person.username, person.password).expect(200);
  });
});

it('a malformed log-in has an account of more than 254 characters, and is no wrong password', async () => {
  await logIn('n'.repeat(254)).expect(401);
  const { body } = await logIn('n'.repeat(255)).expect(400);
  expect(body).toMatchObject({ code: 'CLIENT_PARAMS_VALIDATION_FAILED' });
  expect(body.details).toStrictEqual([{ field: 'account', message: expect.any(String), code: 'too_long' }]);
});

const logInAt = ({ http }: TestService, account: string, password: string) =>
  http.post('/auth/login').send({ account, password });

const guess = (service: TestService, account: string, times: number): Promise<Response[]> =>
  Promise.all(Array.from({ length: times }, () => logInAt(service, account, 'a guess')));

describe('a guess after fifty failed ones', () => {
  it('has to wait in the service as main.js composes it', async () => {
    const composed = await start();
    const responses = await guess(composed, aPerson().username, 100);
    const refused = responses.filter(({ status }) => status === 429);
    // On a slow machine a second may have passed, which admits one more.
    expect(refused.length).toBeGreaterThan(40);
    expect(refused.length).toBeLessThanOrEqual(50);
  });

  it('is logged at warn, without the account and the password', async () => {
    const clock = fixedClock(0);
    const own = await start({}, () => ({ attempts: countAttempts(memoryCounts({ now: clock.now }), clock) }));
    const { person } = await signUp(own);
    await guess(own, person.username, 50);
    const before = own.logs.length;
    await logInAt(own, person.username, person.password).expect(429);
    const lines = own.logs.slice(before);
    const line = { level: 'warn', code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED' };
    expect(lines).toContainEqual(expect.objectContaining({ ...line, reason: expect.stringContaining('too many') }));
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${person.username}|${person.password}`, 'i'));
  });
});
