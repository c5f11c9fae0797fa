// Proves flood-12
import { expect, it } from 'vitest';
import { closedServices } from '../support/http/account.ts';
import { signUp } from '../support/http/auth-http.ts';

const start = closedServices();

it('GET /users/me/export is limited for each user, whatever the address, and in another count than that of the clients', async () => {
  const limited = await start({ TRUST_PROXY: '1' });
  const [ada, bob] = [await signUp(limited), await signUp(limited)];
  const ask = ({ accessToken }: { readonly accessToken: string }, host: number) =>
    limited.http
      .get('/users/me/export')
      .set({ Authorization: `Bearer ${accessToken}`, 'X-Forwarded-For': `192.0.2.${host}` });
  for (let host = 0; host < 5; host += 1) await ask(ada, host).expect(200);
  const refused = await ask(ada, 5).expect(429);
  expect(refused.body.code).toBe('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  for (let count = 0; count < 5; count += 1) await ask(bob, 5).expect(200);
});
