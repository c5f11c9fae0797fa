// Proves SPEC 17.3, 17.4, 17.12
import { expect, it } from 'vitest';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';

const { start } = servicesOverOneDatabase();

it('GET /auth/session returns the user of the token, without the database', async () => {
  const down = () => Promise.reject(new Error('down'));
  const users = {
    add: down,
    findById: down,
    findByUsername: down,
    findByEmail: down,
    setPasswordHash: down,
    update: down,
    lock: down,
    remove: down,
  };
  const { accessToken, user } = await signUp(await start());
  const without = await start({}, () => ({ users }));
  const response = await without.http.get('/auth/session').set('Authorization', `Bearer ${accessToken}`);
  expect(response.body.data).toStrictEqual({ authenticated: true, user });
});
