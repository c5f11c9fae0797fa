import { beforeAll, describe, expect, it } from 'vitest';
import { closedServices, eventsOf, linksOf, messagesTo, sentLink, useLink } from '../support/http/account.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';
import { tally } from '../support/tally.ts';

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
const logIn = (account: string, password: string) => service.http.post('/auth/login').send({ account, password });
const storedUser = (id: string) => service.ports.users.findById(id);
const kindsOf = async (id: string) => (await messagesTo(service, id)).map(({ kind }) => kind);

/** A link for a new address, as the sender of mail makes it. */
const linkTo = (email: string, { user }: SignedUp) =>
  sentLink(service, { userId: user.id, purpose: 'email-change', email });

/** Uses the link with the password of a user. */
const confirm = ({ person }: SignedUp, token: string, at = service) =>
  at.http.post(CONFIRM).send({ token, password: person.password });

/** Changes the address, and makes the link that undoes it, as the sender of mail does. */
const changed = async (ada: SignedUp, email = aPerson().email) => {
  await confirm(ada, await linkTo(email, ada)).expect(200);
  const undo = await sentLink(service, { userId: ada.user.id, purpose: 'email-change-undo', email: ada.user.email });
  return { email, undo };
};

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

  it('needs an access token, and an address', async () => {
    expect((await service.http.put('/users/me/email').send({}).expect(401)).body.code).toBe('AUTH_TOKEN_MISSING');
    const { body } = await ask(await signUp(service), 'nobody').expect(400);
    expect(body.details).toMatchObject([{ field: 'email', code: 'invalid_format' }]);
  });
});

describe('POST /auth/email-change/confirm', () => {
  it('works once when it is used twenty times at once', async () => {
    const ada = await signUp(service);
    const token = await linkTo(aPerson().email, ada);
    const responses = await Promise.all(Array.from({ length: 20 }, () => confirm(ada, token)));
    expect(tally(responses)).toEqual({ '200': 1, '400 AUTH_LINK_INVALID': 19 });
    expect(await kindsOf(ada.user.id)).toEqual(['email-changed']);
  });

  it('gives an address to one of twenty users who confirm it at once', async () => {
    const { email } = aPerson();
    const users = await Promise.all(Array.from({ length: 20 }, () => signUp(service)));
    const responses = await Promise.all(users.map(async (user) => confirm(user, await linkTo(email, user))));
    expect(tally(responses)).toEqual({ '200': 1, '409 AUTH_USER_DUPLICATE': 19 });
  });
});

describe('an address that was given up', () => {
  it('is not taken by a registration at the moment of the change', async () => {
    for (let round = 0; round < 10; round += 1) {
      const ada = await signUp(service);
      const token = await linkTo(aPerson().email, ada);
      const register = () => service.http.post('/auth/register').send({ ...aPerson(), email: ada.user.email });
      const [confirmed, ...registered] = await Promise.all([
        confirm(ada, token),
        ...Array.from({ length: 6 }, register),
      ]);
      expect(confirmed.status).toBe(200);
      expect(tally(registered)).toEqual({ '409 AUTH_USER_DUPLICATE': 6 });
    }
  });

  it('is reserved where log-ins need a verified address, and the response does not say so', async () => {
    const strict = await start({ EMAIL_VERIFICATION: 'required' });
    const person = aPerson();
    await strict.http.post('/auth/register').send(person).expect(202);
    const { id: userId = '' } = (await strict.ports.users.findByEmail(person.email)) ?? {};
    const token = await sentLink(strict, { userId, purpose: 'email-change', email: aPerson().email });
    await useLink(strict, CONFIRM, token).send({ password: person.password }).expect(200);
    await strict.http
      .post('/auth/register')
      .send({ ...aPerson(), email: person.email })
      .expect(202);
    expect(await strict.ports.users.findByEmail(person.email)).toBeNull();
  });
});

describe('POST /auth/email-change/undo', () => {
  it('works once when it is used twenty times at once', async () => {
    const ada = await signUp(service);
    const { undo } = await changed(ada);
    const responses = await Promise.all(Array.from({ length: 20 }, () => useLink(service, UNDO, undo)));
    expect(tally(responses)).toEqual({ '200': 1, '400 AUTH_LINK_INVALID': 19 });
    expect(await kindsOf(ada.user.id)).toEqual(['email-change-undone', 'password-reset']);
  });

  it('and a second change at the same moment: the first address is restored in the end', async () => {
    for (let round = 0; round < 15; round += 1) {
      const ada = await signUp(service);
      const { undo } = await changed(ada);
      const second = await linkTo(aPerson().email, ada);
      const [undone, confirmed] = await Promise.all([useLink(service, UNDO, undo), confirm(ada, second)]);
      expect(undone.status).toBe(200);
      // 401: the undo has replaced the password meanwhile.
      expect([200, 400, 401]).toContain(confirmed.status);
      expect(await storedUser(ada.user.id)).toMatchObject({ email: ada.user.email });
      expect(await linksOf(service, ada.user.id)).toEqual([]);
      expect((await confirm(ada, second)).body.code).toBe('AUTH_LINK_INVALID');
    }
  });

  it('and a log-in at the same moment: no session stays open', async () => {
    for (let round = 0; round < 10; round += 1) {
      const ada = await signUp(service);
      const { email, undo } = await changed(ada);
      await Promise.all([useLink(service, UNDO, undo).expect(200), logIn(email, ada.person.password)]);
      expect(await service.ports.sessions.listByUser(ada.user.id, Date.now())).toEqual([]);
    }
  });
});
