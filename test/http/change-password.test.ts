// Proves ASVS 6.2.2, 6.2.3, 6.2.4, 7.4.3, 7.5.1; script-2, theft-1
import { beforeAll, describe, expect, it } from 'vitest';
import { isCommonPassword } from '../../src/adapters/crypto/common-passwords.ts';
import { heldFrom, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';

const NEW_PASSWORD = 'a new correct horse';
const { start } = servicesOverOneDatabase();
let service: TestService;
beforeAll(async () => {
  service = await start();
});

type SignedUp = Awaited<ReturnType<typeof signUp>>;

const change = ({ accessToken, person }: SignedUp, body: object = {}, { http } = service) =>
  http
    .put('/users/me/password')
    .set('Authorization', `Bearer ${accessToken}`)
    .send({ currentPassword: person.password, newPassword: NEW_PASSWORD, ...body });
const logIn = ({ person }: SignedUp, password: string) =>
  service.http.post('/auth/login').send({ account: person.username, password });

describe('PUT /users/me/password', () => {
  it('changes the password', async () => {
    const ada = await signUp(service);
    const { body } = await change(ada).expect(200);
    expect(body).toMatchObject({ success: true, context: { user: { id: ada.user.id } } });
    expect((await logIn(ada, ada.person.password).expect(401)).body.code).toBe('AUTH_CREDENTIALS_INVALID');
    await logIn(ada, NEW_PASSWORD).expect(200);
  });

  it.each(['not the password', NEW_PASSWORD, 'x'.repeat(73)])(
    'answers AUTH_CREDENTIALS_INVALID to a wrong current password, and changes nothing: %.20s',
    async (currentPassword) => {
      const ada = await signUp(service);
      const { body } = await change(ada, { currentPassword }).expect(401);
      expect(body).toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID', details: null });
      await logIn(ada, ada.person.password).expect(200);
    },
  );

  it('refuses a common password when the blocklist is on', async () => {
    const strict = await start({}, () => ({ isCommonPassword }));
    const ada = await signUp(strict);
    const { body } = await change(ada, { newPassword: 'password123' }, strict).expect(400);
    expect(body.details).toMatchObject([{ field: 'newPassword', code: 'too_common' }]);
  });

  it('logs neither password', async () => {
    const ada = await signUp(service);
    const response = await change(ada, { newPassword: 'peculiar new horse' }).expect(200);
    const changed = { ...ada, ...heldFrom(response) };
    await change(changed, { currentPassword: 'peculiar old horse' }).expect(401);
    expect(response.text + JSON.stringify(service.logs)).not.toMatch(/peculiar/);
  });
});
