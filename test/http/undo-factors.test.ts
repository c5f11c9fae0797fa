import { beforeAll, describe, expect, it } from 'vitest';
import { aPasskey } from '../support/builders.ts';
import { closedServices, eventsOf, messagesTo, sentLink, useLink } from '../support/http/account.ts';
import { refreshWith, signUp } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';

const UNDO = '/auth/factors/undo';
const start = closedServices();
let service: TestService;
beforeAll(async () => {
  service = await start();
});

/** A user whose account has a passkey that somebody else has added, and the link in the mail about it. */
const robbed = async () => {
  const ada = await signUp(service);
  const { id: userId, email } = ada.user;
  await service.ports.passkeys.add(aPasskey({ userId, createdAt: Date.now() }));
  return { ...ada, token: await sentLink(service, { userId, purpose: 'factors-undo', email }) };
};

describe('POST /auth/factors/undo', () => {
  it('removes what was added, ends all sessions, and has a link for a new password sent', async () => {
    const { user, person, cookie, token } = await robbed();
    await useLink(service, UNDO, token).expect(200);
    expect(await service.ports.passkeys.listByUser(user.id)).toEqual([]);
    expect((await refreshWith(service, cookie).expect(401)).body.code).toBe('AUTH_FAILED');
    const logIn = service.http.post('/auth/login').send({ account: person.username, password: person.password });
    expect((await logIn.expect(401)).body.code).toBe('AUTH_CREDENTIALS_INVALID');
    expect(await messagesTo(service, user.id)).toEqual([
      { kind: 'factors-undone', to: user.email, email: null },
      { kind: 'password-reset', to: user.email, email: null },
    ]);
    const kinds = (await eventsOf(service, user.id)).map(({ kind, reason }) => reason ?? kind);
    for (const kind of ['passkey-removed', 'factors-undone']) expect(kinds).toContain(kind);
  });

  it('refuses a link that was used, and the link of another purpose', async () => {
    const { user, token } = await robbed();
    const other = await sentLink(service, { userId: user.id, purpose: 'email-change-undo', email: user.email });
    for (const wrong of [other, 'x'])
      expect((await useLink(service, UNDO, wrong).expect(400)).body.code).toBe('AUTH_LINK_INVALID');
    await useLink(service, UNDO, token).expect(200);
    expect((await useLink(service, UNDO, token).expect(400)).body.code).toBe('AUTH_LINK_INVALID');
  });
});
