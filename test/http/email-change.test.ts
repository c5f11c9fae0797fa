// Proves ASVS 7.5.1; theft-8
import { beforeAll, describe, expect, it } from 'vitest';
import { closedServices, eventsOf, messagesTo, sentLink, useLink } from '../support/http/account.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const CONFIRM = '/auth/email-change/confirm';
const UNDO = '/auth/email-change/undo';
const start = closedServices();
let service: TestService;
beforeAll(async () => {
  service = await start();
});

type SignedUp = Awaited<ReturnType<typeof signUp>>;

const ask = (
  { accessToken, person }: SignedUp,
  email: unknown,
  password: unknown = person.password,
  { http } = service,
) => http.put('/users/me/email').set('Authorization', `Bearer ${accessToken}`).send({ email, password });
const storedUser = (id: string) => service.ports.users.findById(id);
const kindsOf = async (id: string) => (await messagesTo(service, id)).map(({ kind }) => kind);

/** A link for a new address, as the sender of mail makes it. */
const linkTo = (email: string, { user }: SignedUp) =>
  sentLink(service, { userId: user.id, purpose: 'email-change', email });

/** Uses the link with the password of a user. */
const confirm = ({ person }: SignedUp, token: string, at = service) =>
  at.http.post(CONFIRM).send({ token, password: person.password });

describe('PUT /users/me/email', () => {
  it('has a link sent to the new address, and changes nothing yet', async () => {
    const ada = await signUp(service);
    const { email } = aPerson();
    const { body } = await ask(ada, ` ${email.toUpperCase()}`).expect(202);
    expect(body.data).toBeNull();
    expect(await messagesTo(service, ada.user.id)).toContainEqual({ kind: 'email-change', to: email, email: null });
    expect(await storedUser(ada.user.id)).toMatchObject({ email: ada.user.email });
    expect((await eventsOf(service, ada.user.id))[0]?.kind).toBe('email-change-requested');
  });

  it('refuses a wrong password, also for the address that the user has', async () => {
    const ada = await signUp(service);
    for (const email of [aPerson().email, ada.user.email]) {
      expect((await ask(ada, email, 'not the password').expect(401)).body.code).toBe('AUTH_CREDENTIALS_INVALID');
    }
    expect(await kindsOf(ada.user.id)).toEqual(['email-verification']);
  });
});

describe('POST /auth/email-change/confirm, and /undo', () => {
  it('change the address, there and back, each with a link that works once', async () => {
    const ada = await signUp(service);
    const { email } = aPerson();
    const token = await linkTo(email, ada);
    await confirm(ada, token).expect(200);
    expect(await storedUser(ada.user.id)).toMatchObject({ email });
    expect((await confirm(ada, token).expect(400)).body.code).toBe('AUTH_LINK_INVALID');
    const undo = await sentLink(service, { userId: ada.user.id, purpose: 'email-change-undo', email: ada.user.email });
    await useLink(service, UNDO, undo).expect(200);
    expect(await storedUser(ada.user.id)).toMatchObject({ email: ada.user.email });
    expect((await useLink(service, UNDO, undo).expect(400)).body.code).toBe('AUTH_LINK_INVALID');
  });

  it('refuse an address that somebody has meanwhile', async () => {
    const [ada, other] = [await signUp(service), await signUp(service)];
    const refused = await confirm(ada, await linkTo(other.user.email, ada)).expect(409);
    expect(refused.body.code).toBe('AUTH_USER_DUPLICATE');
  });
});
