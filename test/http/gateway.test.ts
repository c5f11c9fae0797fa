import { expect, it } from 'vitest';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';

const { start } = servicesOverOneDatabase();
const service = await start();

const asked = (token?: string) => {
  const request = service.http.get('/auth/gateway');
  return token === undefined ? request : request.set('Authorization', `Bearer ${token}`);
};

it('GET /auth/gateway names the user and the session of a valid token', async () => {
  const { user, accessToken } = await signUp(service);
  const { headers } = await asked(accessToken).expect(200);
  const [session] = await service.ports.sessions.listByUser(user.id, service.ports.clock.now());
  expect(headers).toMatchObject({ 'x-user-id': user.id, 'x-session-id': session?.id });
});
