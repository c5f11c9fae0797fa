// Proves SPEC 8.3, 8.5, 13.6, 17.3, 17.4, 17.9, 17.12
import { describe, expect, it } from 'vitest';
import { DAY } from '../support/application.ts';
import { aPasskey } from '../support/builders.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { currentUserOf } from '../support/http/service.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const service = await start({}, () => ({ clock }));

const me = (authorization?: string) => {
  const request = service.http.get('/users/me');
  return authorization === undefined ? request : request.set('Authorization', authorization);
};

describe('GET /users/me', () => {
  it('returns the user', async () => {
    const { user, accessToken } = await signUp(service);
    expect((await me(`Bearer ${accessToken}`).expect(200)).body.data).toEqual(currentUserOf(user));
  });

  it('says whether a second factor is on and how many passkeys there are, however long ago the log-in was', async () => {
    const { user, accessToken, cookie } = await signUp(service);
    await service.ports.users.update(user.id, { secondFactorAt: clock.now(), now: clock.now() });
    for (const id of ['01M805M084GXA5E2JTR4FKH6W1', '01M805M084GXA5E2JTR4FKH6W2'])
      await service.ports.records.insert(
        'passkeys',
        aPasskey({ id, userId: user.id, credentialId: `${user.id} ${id}` }),
      );
    const { body } = await me(`Bearer ${accessToken}`).expect(200);
    expect(body.data).toMatchObject({ id: user.id, secondFactor: true, passkeys: 2 });
    clock.advance(DAY);
    const renewed = await service.http.post('/auth/refresh-token').set('Cookie', cookie).expect(200);
    const later = await me(`Bearer ${renewed.body.data.accessToken}`).expect(200);
    expect(later.body.data).toMatchObject({ secondFactor: true, passkeys: 2 });
    const patched = await service.http
      .patch('/users/me')
      .set('Authorization', `Bearer ${renewed.body.data.accessToken}`)
      .send({ locale: 'de' })
      .expect(200);
    expect(patched.body.data).toMatchObject({ locale: 'de', secondFactor: true, passkeys: 2 });
  });
});

it('GET /auth/session returns the user of the token, without the database', async () => {
  const down = () => Promise.reject(new Error('down'));
  const users = {
    ...{ add: down, findById: down, findByUsername: down, findByEmail: down },
    ...{ setPasswordHash: down, update: down, lock: down, remove: down },
  };
  const { accessToken, user } = await signUp(service);
  const without = await start({}, () => ({ clock, users }));
  const response = await without.http.get('/auth/session').set('Authorization', `Bearer ${accessToken}`);
  expect(response.body.data).toStrictEqual({ authenticated: true, user });
});
