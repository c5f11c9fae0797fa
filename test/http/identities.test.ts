import { beforeAll, describe, expect, it } from 'vitest';
import { fixedClock } from '../support/fixed-clock.ts';
import { eventsOf, linked, messagesTo } from '../support/http/account.ts';
import { heldFrom, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const { start } = servicesOverOneDatabase();
const clock = fixedClock(NOW);
let service: TestService;
beforeAll(async () => {
  service = await start({ LOGIN_BY_CODE: 'on', PASSWORDS: 'optional' }, () => ({ clock }));
});

const PATH = '/users/me/identities';
type Held = { readonly accessToken: string };
const as = ({ accessToken }: Held, method: 'get' | 'delete', path = PATH) =>
  service.http[method](path).set('Authorization', `Bearer ${accessToken}`);
const unlink = (held: Held, id: string) => as(held, 'delete', `${PATH}/${id}`);
const registered = async () => {
  const response = await service.http.post('/auth/register').send({ email: aPerson().email }).expect(201);
  return { user: response.body.data.user, ...heldFrom(response) };
};

describe('GET /users/me/identities', () => {
  it('lists those of the user, the oldest first, without what the provider calls them', async () => {
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
});

describe('DELETE /users/me/identities/:id', () => {
  it('removes the identity of the user, once, and tells them', async () => {
    const ada = await signUp(service);
    const [{ id }, other] = [await linked(service, ada.user), await linked(service, (await signUp(service)).user)];
    await unlink(ada, other.id).expect(404);
    await unlink(ada, id).expect(200);
    await unlink(ada, id).expect(404);
    expect((await as(ada, 'get')).body.data).toEqual([]);
    expect((await eventsOf(service, ada.user.id))[0]).toMatchObject({ kind: 'identity-unlinked' });
    expect(await messagesTo(service, ada.user.id)).toContainEqual(
      expect.objectContaining({ kind: 'identity-unlinked' }),
    );
  });

  it('leaves the last way in, which codes by mail are when the address is proven', async () => {
    const ada = await registered();
    const { id } = await linked(service, ada.user);
    const { body } = await unlink(ada, id).expect(409);
    expect(body).toMatchObject({ code: 'AUTH_IDENTITY_CONFLICT', message: expect.stringContaining('passkey') });
    await service.ports.users.update(ada.user.id, { emailVerifiedAt: NOW, now: NOW });
    await unlink(ada, id).expect(200);
  });
});
