import { describe, expect, it } from 'vitest';
import { eventsOf, storeLink } from '../support/http/account.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { visitorOf } from '../support/http/page-visitor.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const REFUSED = [403, 'AUTH_REGISTRATION_REFUSED'];
const CLOSED = [403, 'AUTH_REGISTRATION_CLOSED'];
const DOMAINS = { REGISTRATION_DOMAINS: 'example.com' };
const { start } = servicesOverOneDatabase();
const open = await start();

/** Somebody at the allowed domain, or at another one. */
const personAt = (domain: string) => {
  const person = aPerson();
  return { ...person, email: `${person.username.toLowerCase()}@${domain}` };
};
const register = async ({ http }: TestService, person: object) => {
  const { status, body } = await http.post('/auth/register').send(person);
  return [status, body.code];
};

/** The three forms that registration has (ADR 0009, ADR 0010). */
const FORMS = [
  ['a session', {}, 201],
  ['a verified address', { EMAIL_VERIFICATION: 'required' }, 202],
  ['a second factor', { SECOND_FACTOR: 'required' }, 202],
] as const;

describe.each(FORMS)('registration that opens with %s', (_what, env, accepted) => {
  it('is refused outside of REGISTRATION_DOMAINS, whether or not the address has an account', async () => {
    const service = await start({ ...env, ...DOMAINS });
    const { person } = await signUp(open, personAt('example.net'));
    expect(await register(service, { ...person, username: aPerson().username })).toEqual(REFUSED);
    const stranger = personAt('example.net');
    expect(await register(service, stranger)).toEqual(REFUSED);
    expect(await service.ports.users.findByUsername(stranger.username)).toBeNull();
    expect(await register(service, personAt('example.com'))).toEqual([accepted, undefined]);
  });

  it('is closed for everybody with REGISTRATION=closed, and users log in as before', async () => {
    const service = await start({ ...env, REGISTRATION: 'closed' });
    const { person } = await signUp(open);
    expect(await register(service, person)).toEqual(CLOSED);
    expect(await register(service, aPerson())).toEqual(CLOSED);
    const { username: account, password } = person;
    const { body } = await service.http.post('/auth/login').send({ account, password });
    expect(body.code).not.toBe('AUTH_REGISTRATION_CLOSED');
  });
});

describe('a change of the email', () => {
  it('cannot leave the domains, nor be confirmed when they are newer than its link', async () => {
    const service = await start(DOMAINS);
    const { accessToken, person, user } = await signUp(service, personAt('example.com'));
    const change = (email: string) =>
      service.http
        .put('/users/me/email')
        .set('Authorization', `Bearer ${accessToken}`)
        .send({ email, password: person.password });
    const { status, body } = await change(personAt('example.net').email);
    expect([status, body.code]).toEqual(REFUSED);
    expect((await eventsOf(service, user.id)).map(({ kind }) => kind)).not.toContain('email-change-requested');
    await change(personAt('example.com').email).expect(202);

    const outside = personAt('example.net').email;
    const token = await storeLink(service, { userId: user.id, purpose: 'email-change', email: outside });
    const confirmation = { token, password: person.password };
    const late = await service.http.post('/auth/email-change/confirm').send(confirmation);
    expect([late.status, late.body.code]).toEqual(REFUSED);
    expect(await service.ports.users.findById(user.id)).toMatchObject({ email: person.email });
  });

  it('can be undone by the owner of a former address outside of them', async () => {
    const { person, user } = await signUp(open, personAt('example.net'));
    const email = personAt('example.com').email;
    const token = await storeLink(open, { userId: user.id, purpose: 'email-change', email });
    await open.http.post('/auth/email-change/confirm').send({ token, password: person.password }).expect(200);
    const undo = { userId: user.id, purpose: 'email-change-undo', email: person.email } as const;
    const body = { token: await storeLink(open, undo) };
    await (await start(DOMAINS)).http.post('/auth/email-change/undo').send(body).expect(200);
    expect(await open.ports.users.findById(user.id)).toMatchObject({ email: person.email });
  });
});

it('the pages, with REGISTRATION=closed say so after a form that was open before', async () => {
  const [before, service] = [visitorOf(open), await start({ REGISTRATION: 'closed' })];
  expect((await before.open('/auth/log-in')).text).toContain('href="/auth/register"');
  const visitor = visitorOf(service);
  expect((await visitor.open('/auth/register')).text).toContain('class="notice fact"');
  const { username, email, password } = aPerson();
  const { status } = await visitor.post('/auth/register', { username, email, password, once: 'x'.repeat(43) });
  expect(status).toBe(303);
  const page = await visitor.follow();
  expect(page.status).toBe(403);
  expect(page.text).toContain('role="alert"');
  expect(page.text).toContain('Registration is closed.');
  expect(await service.ports.users.findByUsername(username)).toBeNull();
});
