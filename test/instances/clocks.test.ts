import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { heldFrom, opened, tokenIn } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { CLOCKS_APART, canShare, twoInstances } from '../support/processes/instances.ts';
import { tally } from '../support/tally.ts';

const MINUTE = 60_000;
/** Milliseconds in which two instances agree: a round trip to a database of a busy machine. */
const AGREE = 10_000;

describe.runIf(canShare())('two instances over one database, one 5 min behind and the other 5 min ahead', () => {
  const { at } = twoInstances({ JWT_REFRESH_RACE_WINDOW: '1m', JWT_REFRESH_REPLAY_WINDOW: '0' }, CLOCKS_APART);

  const register = async (instance: number, person = aPerson()) =>
    heldFrom(await at(instance).http.post('/auth/register').send(person).expect(201));
  const refresh = (instance: number, cookie: string) =>
    at(instance).http.post('/auth/refresh-token').set('Cookie', cookie);
  const me = (instance: number, accessToken: string) =>
    at(instance).http.get('/users/me').set('Authorization', `Bearer ${accessToken}`);
  const each = [
    [0, 1],
    [1, 0],
  ] as const;

  it('really differ', () => {
    expect(at(1).startedAt() - at(0).startedAt()).toBeGreaterThan(9 * MINUTE);
  });

  it.each(each)('let two tabs race at both: first at %i, then at %i, and the session lives', async (first, second) => {
    const { cookie } = await register(first);
    const winner = heldFrom(await refresh(first, cookie).expect(200));
    await pause(200);
    await refresh(second, cookie).expect(401);
    const next = heldFrom(await refresh(second, winner.cookie).expect(200));
    await pause(200);
    await refresh(first, winner.cookie).expect(401);
    await refresh(first, next.cookie).expect(200);
  });

  it.each(each)('accept access tokens of each other: of %i at %i', async (first, second) => {
    const { accessToken } = await register(first);
    await me(second, accessToken).expect(200);
  });

  it('issue tokens with one time, which is that of their responses', async () => {
    const times = [];
    for (const instance of [0, 1]) {
      const response = await at(instance).http.post('/auth/register').send(aPerson()).expect(201);
      const { accessToken, cookie } = heldFrom(response);
      for (const token of [accessToken, tokenIn(cookie)]) times.push((opened(token).claims.iat ?? 0) * 1_000);
      times.push(Date.parse(response.body.timestamp), Date.parse(response.body.data.user.createdAt));
    }
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(AGREE);
  });

  it.each(each)(
    'refuse tokens from before a change of the password, and none after: changed at %i',
    async (first, second) => {
      const person = aPerson();
      const { accessToken, cookie } = await register(second, person);
      const changed = await at(first)
        .http.put('/users/me/password')
        .set('Authorization', `Bearer ${accessToken}`)
        .set('Cookie', cookie)
        .send({ currentPassword: person.password, newPassword: 'another horse battery' })
        .expect(200);
      await me(second, accessToken).expect(401);
      const now = heldFrom(changed);
      await me(second, now.accessToken).expect(200);
      await refresh(second, now.cookie).expect(200);
      const login = { account: person.email, password: 'another horse battery' };
      const responses = [];
      for (const instance of [0, 1]) responses.push(await at(instance).http.post('/auth/login').send(login));
      expect(tally(responses)).toEqual({ '200': 2 });
    },
  );
});
