import { describe, expect, it } from 'vitest';
import { storeImportedUser } from '../../src/application/accounts/import-user.ts';
import { BASE32 } from '../../src/domain/second-factor.ts';
import { MINUTE } from '../support/application.ts';
import { anId } from '../support/builders.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { eventsOf, invitedPerson, mailedCode, messagesTo, storeLink } from '../support/http/account.ts';
import { refreshWith, servicesOverOneDatabase, signUp, tokensOf } from '../support/http/auth-http.ts';
import { WITH_OFFICE } from '../support/http/back-office.ts';
import { registeredVisitor, visitorOf } from '../support/http/page-visitor.ts';
import { aPerson } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const mailer = memoryMailer();
const service = await start({ ...WITH_OFFICE, LOGIN_BY_CODE: 'on' }, () => ({ clock, mailer }));

it('an address that a stranger keeps is taken over with an open invitation, with its id and without what the stranger has', async () => {
  const { email, invitation, ...person } = await invitedPerson(service, { plan: 'gold' });
  const stranger = await signUp(service, { ...aPerson(), email, password: 'the horse of a stranger' });
  const { body } = await service.http
    .post('/auth/register')
    .send({ ...person, email, invitation })
    .expect(201);
  expect(body.data.user).toMatchObject({ id: stranger.user.id, username: person.username });
  expect(await service.ports.users.findByEmail(email)).toMatchObject({ attributes: { plan: 'gold' } });
  await refreshWith(service, stranger.cookie).expect(401);
  for (const [password, status] of [
    [stranger.person.password, 401],
    [person.password, 200],
  ] as const)
    await service.http
      .post('/auth/login')
      .send({ account: email, password: `${password}` })
      .expect(status);
});

describe('an imported user whose address nobody has proven', () => {
  const imported = async () => {
    const { email, password } = aPerson();
    const { ports } = service;
    const arrival = {
      ...{
        id: anId(),
        username: null,
        email,
        isEmailVerified: false,
        isDisabled: false,
        createdAt: null,
        locale: null,
      },
      ...{ passwordHash: await ports.hasher.hash(password), attributes: {}, identities: [], appSecrets: [BASE32] },
    };
    const deps = { ...ports, factorSecrets: ports.secrets.factors };
    return { ...(await ports.transactions.run((stores) => storeImportedUser(deps, stores, arrival))), password };
  };

  it('keeps the app when the address is proven by a reset', async () => {
    const { id: userId, email } = await imported();
    const token = await storeLink(service, { userId, purpose: 'password-reset', email });
    const newPassword = 'the battery of the owner';
    await service.http.post('/auth/password-reset/confirm').send({ token, newPassword }).expect(200);
    const { body } = await service.http.post('/auth/login').send({ account: email, password: newPassword }).expect(401);
    expect(body.code).toBe('AUTH_SECOND_FACTOR_REQUIRED');
  });

  it('keeps the password when a stranger registers with the address, and is not removed by who has the mailbox', async () => {
    const strict = await start({ EMAIL_VERIFICATION: 'required' }, () => ({ clock, mailer }));
    const { id: userId, email, passwordHash } = await imported();
    await strict.http
      .post('/auth/register')
      .send({ ...aPerson(), email })
      .expect(202);
    expect(await service.ports.users.findById(userId)).toMatchObject({ passwordHash, passwordChangedAt: 0 });
    const token = await storeLink(service, { userId, purpose: 'not-me', email });
    await service.http.post('/auth/email-verification/not-me').send({ token }).expect(400);
  });
});

it('who proves the address with a code in a session of the account loses nothing', async () => {
  const { person, cookie } = await signUp(service);
  const started = await service.http.post('/auth/login/code').send({ account: person.email }).expect(202);
  const pending = started.get('Set-Cookie')?.[0]?.split(';')[0];
  const code = await mailedCode(service, mailer, person.email);
  const confirming = service.http.post('/auth/login/code/confirm').set('Cookie', `${pending}; ${cookie}`);
  tokensOf(await confirming.send({ code }).expect(200));
  expect(await service.ports.users.findByEmail(person.email)).toMatchObject({ emailVerifiedAt: clock.now() });
  await service.http.post('/auth/login').send({ account: person.email, password: person.password }).expect(200);
});

describe('a copied refresh cookie at the pages', () => {
  const robbed = async () => {
    const owner = await registeredVisitor(service, { 'User-Agent': 'the owner' });
    const thief = visitorOf(service, { 'User-Agent': 'a thief' });
    for (const [name, value] of owner.jar) thief.jar.set(name, value);
    const [session = expect.unreachable()] = await service.ports.sessions.listByUser(owner.user.id, clock.now());
    return { owner, thief, stored: () => service.ports.sessions.find(session) };
  };

  it('is seen among the devices, as one that is refreshed', async () => {
    const { thief, stored } = await robbed();
    expect((await thief.open('/auth/account')).status).toBe(200);
    expect(await stored()).toMatchObject({ userAgent: 'a thief' });
  });

  it('exports nothing without a recent log-in, and not unseen with one', async () => {
    const { owner, thief } = await robbed();
    expect((await owner.open('/auth/account/export')).status).toBe(200);
    expect((await eventsOf(service, owner.user.id))[0]).toMatchObject({ kind: 'exported' });
    expect(await messagesTo(service, owner.user.id)).toContainEqual(expect.objectContaining({ kind: 'exported' }));
    clock.advance(6 * MINUTE);
    expect((await thief.open('/auth/account/export')).headers.location).toMatch(/^\/auth\/step-up/);
  });
});
