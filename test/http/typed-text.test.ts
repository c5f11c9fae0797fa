import { beforeAll, describe, expect, it } from 'vitest';
import { authenticator } from '../support/authenticator.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { closedServices } from '../support/http/account.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const start = closedServices();
let service: TestService;
beforeAll(async () => {
  service = await start({ BASE_URL: 'http://localhost:3000' }, { clock });
});

/** As a Japanese keyboard writes it. */
const wide = (text: string): string =>
  text.replaceAll(/[!-~]/g, (character) => String.fromCodePoint((character.codePointAt(0) ?? 0) + 0xfee0));
const grouped = (code: string): string => ` ${code.slice(0, 3)}\u00a0${code.slice(3)} `;

const user = async () => {
  const held = await signUp(service);
  const send = (method: 'get' | 'post' | 'put' | 'patch', path: string, body?: object) =>
    service.http[method](path).set('Authorization', `Bearer ${held.accessToken}`).send(body);
  return { ...held, send };
};

describe('the name of an account', () => {
  it('is meant without blanks around it when a user registers, logs in and changes it', async () => {
    const person = aPerson();
    const typed = { ...person, username: ` ${person.username}\t`, email: `\u3000${person.email}\u200b` };
    const { user: registered } = await signUp(service, typed);
    expect(registered).toMatchObject({ username: person.username, email: person.email });
    for (const account of [` ${person.username} `, `\u202a${person.email}\u202c `])
      await service.http.post('/auth/login').send({ account, password: person.password }).expect(200);
    const { send } = await user();
    const username = aPerson().username;
    expect(
      (await send('put', '/users/me/username', { username: ` ${username} ` }).expect(200)).body.data,
    ).toMatchObject({
      username,
    });
  });

  it('is meant without blanks around it when a link is asked for', async () => {
    const { person, user: of, send } = await user();
    const email = ` ${person.email}\u200e `;
    await service.http.post('/auth/password-reset').send({ email }).expect(202);
    await send('put', '/users/me/email', { email: ` new.${person.email} `, password: person.password }).expect(202);
    const links = (await service.ports.outbox.listByUser(of.id)).map(({ to }) => to);
    expect(links).toContain(`new.${person.email}`);
  });

  it('has its international domain in ASCII, whoever writes it how', async () => {
    const person = aPerson();
    const emailAt = (domain: string) => `${person.username}@${domain}`;
    const { user: registered } = await signUp(service, { ...person, email: emailAt('Bücher.example') });
    expect(registered.email).toBe(emailAt('xn--bcher-kva.example').toLowerCase());
    for (const domain of ['bücher.example', 'BU\u0308CHER.example', 'xn--bcher-kva.example']) {
      await service.http
        .post('/auth/login')
        .send({ account: emailAt(domain), password: person.password })
        .expect(200);
      const again = { ...aPerson(), email: emailAt(domain) };
      expect((await service.http.post('/auth/register').send(again)).body.code).toBe('AUTH_USER_DUPLICATE');
    }
    const foreign = { ...aPerson(), email: 'jö@bücher.example' };
    await service.http.post('/auth/register').send(foreign).expect(400);
  });

  it('is missing when there is nothing but blanks', async () => {
    const { body } = await service.http.post('/auth/login').send({ account: ' \u200b', password: 'x' }).expect(400);
    expect(body.details).toMatchObject([{ field: 'account', code: 'required' }]);
  });
});

describe('a password', () => {
  it('is never changed', async () => {
    const { person } = await signUp(service, { ...aPerson(), password: ' １２３ ４５６-\u200b ' });
    const logIn = (password: string) => service.http.post('/auth/login').send({ account: person.username, password });
    for (const other of [person.password.trim(), '123 456', person.password.normalize('NFKC')])
      await logIn(other).expect(401);
    await logIn(person.password).expect(200);
  });
});

describe('a code', () => {
  it('is meant without blanks and hyphens, and with the digits of any script, in every route', async () => {
    const { person, send } = await user();
    const { id, secret } = (await send('post', '/users/me/factors/totp').expect(201)).body.data;
    const code = () => codeAt(secret, clock.now());
    const confirmed = await send('post', '/users/me/factors/totp/confirm', { id, code: wide(grouped(code())) }).expect(
      200,
    );
    clock.advance(30_000);
    await send('post', '/auth/step-up', { code: code().replace(/(?<=^.{3})/, '-') }).expect(200);

    const pending = async () => {
      const { username, password } = person;
      const response = await service.http.post('/auth/login').send({ account: username, password }).expect(401);
      return response.get('Set-Cookie')?.[0]?.split(';')[0] ?? '';
    };
    const show = async (body: object) =>
      service.http
        .post('/auth/login/second-factor')
        .set('Cookie', await pending())
        .send(body);
    clock.advance(30_000);
    expect((await show({ code: grouped(code()) })).status).toBe(200);
    const [first = '', second = ''] = confirmed.body.data.recoveryCodes;
    expect((await show({ recoveryCode: ` ${wide(first.toLowerCase())} ` })).status).toBe(200);
    expect((await show({ recoveryCode: second.replaceAll('-', ' \u2013') })).status).toBe(200);
  });
});

describe('the name of a passkey', () => {
  it('may neither reorder nor hide anything', async () => {
    const { send } = await user();
    const { body: options } = await send('post', '/users/me/passkeys/options').expect(200);
    const credential = authenticator().create(options.data);
    const { body } = await send('post', '/users/me/passkeys', { credential, name: '\u202egnp.exe' }).expect(400);
    expect(body.details).toMatchObject([{ field: 'name', code: 'invalid_characters' }]);
  });
});
