import { expect, it } from 'vitest';
import { fixedClock } from '../support/fixed-clock.ts';
import { linked } from '../support/http/account.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const { start } = servicesOverOneDatabase();
const clock = fixedClock(NOW);
const service = await start({ LOGIN_BY_CODE: 'on', PASSWORDS: 'optional' }, () => ({ clock }));

const PATH = '/users/me/identities';
type Held = { readonly accessToken: string };
const as = ({ accessToken }: Held, method: 'get' | 'delete', path = PATH) =>
  service.http[method](path).set('Authorization', `Bearer ${accessToken}`);

it('GET /users/me/identities lists those of the user, the oldest first, without what the provider calls them', async () => {
  const ada = await signUp(service);
  const [first, second] = [await linked(service, ada.user), await linked(service, ada.user, { email: null })];
  await linked(service, (await signUp(service)).user);
  const { body } = await as(ada, 'get').expect(200);
  expect(body.data).toStrictEqual(
    [first, second].map(({ id, provider, email }) => ({
      ...{ id, provider, email, lastUsedAt: null },
      createdAt: new Date(first.createdAt).toISOString(),
    })),
  );
});
