// Proves mail-8
import { beforeAll, describe, expect, it } from 'vitest';
import { closedServices, sentLink, useLink } from '../support/http/account.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const start = closedServices();
let service: TestService;
beforeAll(async () => {
  service = await start();
});

describe("a stranger's account that is to have the address of a victim", () => {
  it('gets it from nobody who neither knows its password nor has a session of it', async () => {
    const [stranger, other] = [await signUp(service), await signUp(service)];
    const { email } = aPerson();
    const token = await sentLink(service, { userId: stranger.user.id, purpose: 'email-change', email });
    const confirm = () => useLink(service, '/auth/email-change/confirm', token);
    const shown = await useLink(service, '/auth/email-change/preview', token).expect(200);
    expect(shown.body.data).toMatchObject({ username: stranger.user.username, createdAt: stranger.user.createdAt });
    expect((await confirm().expect(400)).body.details).toMatchObject([{ field: 'password', code: 'required' }]);
    await confirm().set('Authorization', `Bearer ${other.accessToken}`).expect(400);
    await confirm().send({ token, password: 'a guess' }).expect(401);
    expect(await service.ports.users.findById(stranger.user.id)).toMatchObject({ email: stranger.user.email });
  });
});
