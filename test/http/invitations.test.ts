import { describe, expect, it } from 'vitest';
import { invitedPerson } from '../support/http/account.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { visitorOf } from '../support/http/page-visitor.ts';
import { aPerson, cookiePair, type TestService } from '../support/http/service.ts';

const REFUSED = [403, 'AUTH_REGISTRATION_REFUSED'];
const CLOSED = [403, 'AUTH_REGISTRATION_CLOSED'];
const INVITED = { REGISTRATION: 'invited' };
const { start } = servicesOverOneDatabase();
const service = await start({ ...INVITED, EMAIL_VERIFICATION: 'required' });

const register = async ({ http }: TestService, body: object) => {
  const response = await http.post('/auth/register').send(body);
  return { response, outcome: [response.status, response.body.code] };
};

describe.each([
  ['a session', {}],
  ['a verified address', { EMAIL_VERIFICATION: 'required' }],
] as const)('an invitation, where registration opens with %s', (_what, env) => {
  it('is needed with REGISTRATION=invited, and opens a session of a user whose address is proven', async () => {
    const invited = await start({ ...INVITED, ...env });
    const person = await invitedPerson(invited, { roles: ['admin'] });
    const { invitation: _, ...without } = person;
    expect((await register(invited, without)).outcome).toEqual(CLOSED);
    const { response } = await register(invited, { ...person, email: person.email.toUpperCase() });
    expect(response.status).toBe(201);
    const me = await invited.http.get('/users/me').set('Authorization', `Bearer ${response.body.data.accessToken}`);
    expect(me.body.data).toMatchObject({ emailVerified: true, attributes: { roles: ['admin'] } });
    expect(cookiePair(response.get('Set-Cookie')?.[0])).toMatch(/^refresh_token=./);
    expect((await register(invited, { ...person, username: aPerson().username })).outcome).toEqual(REFUSED);
  });
});

describe('an invitation', () => {
  it('is not used up by a wrong address or password, a taken username, or the refusal of a hook', async () => {
    const open = await start();
    const { person: other } = await signUp(open);
    const picky = await start(INVITED, () => ({
      hooks: { beforeRegister: ({ username }) => ({ decision: username?.startsWith('Bad') ? 'refuse' : 'allow' }) },
    }));
    const person = await invitedPerson(picky);
    const wrong: readonly (readonly [object, readonly unknown[]])[] = [
      [{ email: aPerson().email }, REFUSED],
      [{ email: other.email }, REFUSED],
      [{ password: 'short' }, [400, 'CLIENT_PARAMS_VALIDATION_FAILED']],
      [{ username: other.username }, [409, 'AUTH_USER_DUPLICATE']],
      [{ username: `Bad${person.username}` }, REFUSED],
    ];
    for (const [change, outcome] of wrong)
      expect((await register(picky, { ...person, ...change })).outcome, JSON.stringify(change)).toEqual(outcome);
    expect((await register(picky, person)).response.status).toBe(201);
  });

  it('waits for the second factor where all users need one', async () => {
    for (const env of [{}, { EMAIL_VERIFICATION: 'required' }]) {
      const strict = await start({ ...INVITED, ...env, SECOND_FACTOR: 'required' });
      const person = await invitedPerson(strict);
      const { response } = await register(strict, person);
      expect([response.status, response.body.data]).toEqual([202, null]);
      const cookie = cookiePair(response.get('Set-Cookie')?.[0]);
      await strict.http.get('/auth/login/pending').set('Cookie', cookie).expect(200);
      expect((await strict.ports.users.findByEmail(person.email))?.emailVerifiedAt).not.toBeNull();
    }
  });
});

describe('the pages, with REGISTRATION=invited', () => {
  it('say so in place of the form, and have no links to it', async () => {
    const visitor = visitorOf(service);
    const page = await visitor.open('/auth/register');
    expect([page.status, visitor.shown('register.register')]).toEqual([200, []]);
    expect(page.text).toContain('Registration is by invitation');
    expect((await visitor.open('/auth/log-in')).text).not.toContain('/auth/register');
    const { body } = await service.http.get('/').expect(200);
    expect(body.data.links).not.toHaveProperty('register');
  });

  it('register with a link, which a scanner that opens it does not use up', async () => {
    const { invitation, ...person } = await invitedPerson(service);
    const visitor = visitorOf(service);
    for (let time = 0; time < 2; time += 1) expect((await visitor.open('/auth/link/invitation')).status).toBe(200);
    // Without a script, the link is pasted.
    const link = `https://auth.example.org/auth/link/invitation#token=${invitation}&email=x%40y.example`;
    await visitor.submit('invitation.invitation', { ...person, email: aPerson().email, invitation: link });
    const failed = await visitor.follow();
    expect(failed.status).toBe(403);
    expect(failed.text).toMatch(/<p role="alert"[^>]*>This was not accepted\. [^<]* or it has expired\.</);
    expect(visitor.shown('invitation.invitation')[0]?.fields).toMatchObject({ invitation: link });
    await visitor.submit('invitation.invitation', { ...person });
    const done = await visitor.follow();
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('Your account is made.')]);
    expect((await visitor.open('/auth/account')).text).toContain(person.username);
  });
});
