// Proves ASVS 16.3.3
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../src/adapters/limits/login-attempts.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const FREE = 50;
const { start } = servicesOverOneDatabase();

const logInAt = ({ http }: TestService, account: string, password: string) =>
  http.post('/auth/login').send({ account, password });

const guess = (service: TestService, account: string, times: number): Promise<Response[]> =>
  Promise.all(Array.from({ length: times }, () => logInAt(service, account, 'a guess')));

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
    const clock = fixedClock(0);
    const own = await start({}, () => ({ attempts: countAttempts(memoryCounts({ now: clock.now }), clock) }));
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
});
