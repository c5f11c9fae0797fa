import { describe, expect, it } from 'vitest';
import { decode, tokenIn, tokensOf } from '../support/http/auth-http.ts';
import { answersThatDiffer, ORIGIN } from '../support/http/page-visitor.ts';
import { aPerson, currentUserOf } from '../support/http/service.ts';
import { CLOCKS_APART, canShare, twoInstances } from '../support/processes/instances.ts';

const MINUTE = 60_000;
/** Milliseconds in which two instances agree: a round trip to a database of a busy machine. */
const AGREE = 10_000;

describe.runIf(canShare())('two instances over one database, one 5 min behind and the other 5 min ahead', () => {
  const { at, whileShared } = twoInstances({ BASE_URL: ORIGIN, ACCOUNT_PAGES: 'on' }, CLOCKS_APART);

  const register = (instance: number, person: object) => at(instance).http.post('/auth/register').send(person);
  const refresh = (instance: number, cookie: string) =>
    at(instance).http.post('/auth/refresh-token').set('Cookie', cookie);
  const me = (instance: number, accessToken: string) =>
    at(instance).http.get('/users/me').set('Authorization', `Bearer ${accessToken}`);

  it('both start, although they find it empty at the same time', async () => {
    for (const instance of [0, 1]) {
      const { body } = await at(instance).http.get('/health/ready').expect(200);
      expect(body.data).toMatchObject({ checks: { database: 'up', redis: 'up' } });
    }
    expect(at(1).startedAt() - at(0).startedAt()).toBeGreaterThan(9 * MINUTE);
  });

  it('issue tokens with one time, which is that of their responses', async () => {
    const times = [];
    for (const instance of [0, 1]) {
      const response = await register(instance, aPerson()).expect(201);
      const { accessToken, cookie } = tokensOf(response);
      for (const token of [accessToken, tokenIn(cookie)]) times.push((decode(token).claims.iat ?? 0) * 1_000);
      times.push(Date.parse(response.body.timestamp), Date.parse(response.body.data.user.createdAt));
    }
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(AGREE);
  });

  it('share users and sessions, take each other’s tokens, and rotate each refresh token once', async () => {
    const person = aPerson();
    const registered = await register(0, person).expect(201);
    const first = tokensOf(registered);
    const { body } = await me(1, first.accessToken).expect(200);
    expect(body.data).toEqual(currentUserOf(registered.body.data.user));
    const login = { account: person.email, password: person.password };
    await at(1).http.post('/auth/login').send(login).expect(200);
    const second = tokensOf(await refresh(1, first.cookie).expect(200));
    await me(0, second.accessToken).expect(200);
    await refresh(0, first.cookie).expect(401);
    const third = tokensOf(await refresh(0, second.cookie).expect(200));
    await at(1).http.get('/auth/clear-cookie').set('Cookie', third.cookie).expect(200);
    await refresh(0, third.cookie).expect(401);
  });

  it('give a form that is sent to both one answer', async () => {
    expect(await whileShared(() => answersThatDiffer([at(0).url, at(1).url], 20))).toEqual([]);
  });
});
