import { beforeAll, describe, expect, it } from 'vitest';
import { closedServices, eventsOf, messagesTo } from '../support/http/account.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const start = closedServices();
let service: TestService;
beforeAll(async () => {
  service = await start();
});

const change = ({ accessToken }: { accessToken: string }, username: unknown) =>
  service.http.put('/users/me/username').set('Authorization', `Bearer ${accessToken}`).send({ username });

describe('PUT /users/me/username', () => {
  it('changes the username, and frees the former one at once', async () => {
    const ada = await signUp(service);
    const { username } = aPerson();
    const { body } = await change(ada, username).expect(200);
    expect(body.data).toEqual({ ...ada.user, username, updatedAt: expect.any(String) });
    expect((await eventsOf(service, ada.user.id))[0]?.kind).toBe('username-changed');
    expect((await messagesTo(service, ada.user.id)).at(-1)).toMatchObject({
      kind: 'username-changed',
      to: ada.user.email,
    });
    const login = { account: username.toUpperCase(), password: ada.person.password };
    await service.http.post('/auth/login').send(login).expect(200);
    await signUp(service, { ...aPerson(), username: ada.user.username });
  });

  it('refuses one that is taken, in any letter case, and changes nothing', async () => {
    const [ada, other] = [await signUp(service), await signUp(service)];
    const { body } = await change(ada, other.user.username.toUpperCase()).expect(409);
    expect(body.code).toBe('AUTH_USER_DUPLICATE');
    expect(await service.ports.users.findById(ada.user.id)).toMatchObject({ username: ada.user.username });
    expect((await eventsOf(service, ada.user.id)).map(({ kind }) => kind)).toEqual(['registered']);
  });
});
