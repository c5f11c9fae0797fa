// Proves website-12, theft-11
import { describe, expect, it } from 'vitest';
import { removeFactorsAsOperator } from '../../../src/application/accounts/operate-accounts.ts';
import { OFFICE_LIFETIME } from '../../../src/application/login/office.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { authenticator } from '../../support/authenticator.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { eventsOf, invitedPerson } from '../../support/http/account.ts';
import { APP_LINK, anApp, codeFor, nextUrlOf } from '../../support/http/app-login.ts';
import { refreshWith, servicesOverOneDatabase, signUp, tokensOf } from '../../support/http/auth-http.ts';
import { ask, OFFICE, WITH_OFFICE, WRITER } from '../../support/http/back-office.ts';
import { ORIGIN, type Visitor, visitorOf } from '../../support/http/page-visitor.ts';
import { aPerson } from '../../support/http/service.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const OPERATOR = { roles: ['operator'] };
const env = {
  ...{ ...WITH_OFFICE, BASE_URL: ORIGIN, APP_LINKS: APP_LINK },
  ADMIN_USERS: 'roles:operator,roles:support=users:read',
};
const service = await start(env, () => ({ clock }));
const COOKIE = '__Host-Http-office_session';
const MINUTE = 60_000;
const REFUSED = /403.*is no operator/s;

const bearer = { type: 'bearer' } as const;
const newKey = () => authenticator({ rpId: 'auth.example.org', origin: ORIGIN });
type Key = ReturnType<typeof newKey>;
type Person = ReturnType<typeof aPerson>;

const addPasskey = async (accessToken: string, key: Key) => {
  const { body } = await service.http.post('/users/me/passkeys/options').auth(accessToken, bearer).expect(200);
  const credential = key.create(body.data);
  return service.http.post('/users/me/passkeys').auth(accessToken, bearer).send({ credential });
};

/** A browser that has just logged in with a passkey. */
const loggedIn = async (key: Key) => {
  const { body } = await service.http.post('/auth/passkey/options').expect(200);
  const { cookie, accessToken } = tokensOf(
    await service.http
      .post('/auth/passkey')
      .send({ credential: key.get(body.data) })
      .expect(200),
  );
  const browser = visitorOf(service);
  browser.jar.set('refresh_token', cookie.slice(cookie.indexOf('=') + 1));
  return { browser, accessToken };
};

const someone = async (attributes: object = OPERATOR) => {
  const [held, key] = [await signUp(service), newKey()];
  expect((await addPasskey(held.accessToken, key)).status).toBe(201);
  await service.ports.users.update(held.user.id, { attributes: { ...attributes }, now: clock.now() });
  return { ...held, key, ...(await loggedIn(key)), actor: `${held.person.username} ${held.user.id} (page)` };
};

const changePassword = (accessToken: string, { password: currentPassword }: Person) =>
  service.http
    .put('/users/me/password')
    .auth(accessToken, bearer)
    .send({ currentPassword, newPassword: 'another long phrase' })
    .expect(200);

const OF_OFFICE = { Host: new URL(OFFICE).host };
const officeBrowser = () => visitorOf({ http: service.office }, OF_OFFICE);
const send = (office: Visitor, path: string, fields = {}, headers = {}) =>
  office.post(path, fields, { Origin: OFFICE, ...headers });

/** Begins at a page of the back office. @returns where its log-in leads */
const begin = async (office: Visitor, path = '/office/users') => {
  const { status, headers } = await office.open(path);
  expect([path, status]).toEqual([path, 303]);
  return `${headers.location}`;
};
/** Goes through the page of the service, with a click. @returns where it leads */
const pass = async (browser: Visitor, location: string) => {
  await browser.open(location.slice(ORIGIN.length));
  await browser.submit('app.app');
  await browser.follow();
  return nextUrlOf(browser).slice(OFFICE.length);
};
const enter = async (browser: Visitor, path = '/office/users') => {
  const office = officeBrowser();
  const answer = await office.open(await pass(browser, await begin(office, path)));
  return { office, answer };
};

describe('an operator', () => {
  it('logs in with a passkey, for the page that was opened, and acts under their name', async () => {
    const [{ browser, actor }, { user, cookie }] = [await someone(), await signUp(service)];
    const page = `/office/users/${user.id}`;
    const { office, answer } = await enter(browser, `${page}?before=${user.id}`);
    expect([answer.status, answer.headers.location]).toEqual([303, `${page}?before=${user.id}`]);
    const attributes = 'Path=/; Expires=[^;]*; HttpOnly; Secure; SameSite=Lax$';
    expect(answer.get('Set-Cookie')?.find((line) => line.startsWith(COOKIE))).toMatch(
      RegExp(`Max-Age=3600; ${attributes}`),
    );
    expect((await office.open(page)).text).toContain(`Logged in as <strong>${actor}</strong>`);
    await send(office, `${page}/end-sessions`, { reason: 'A leak.' });
    await refreshWith(service, cookie).expect(401);
    expect(await eventsOf(service, user.id)).toContainEqual(
      expect.objectContaining({ kind: 'session-ended', note: 'A leak.', actor }),
    );
    const line = { msg: 'back office', actor, call: 'office-user' };
    expect(service.logs).toContainEqual(expect.objectContaining(line));
  });

  it('logs in again after an hour, whatever they did, also where a form was sent', async () => {
    const [{ browser }, { user }] = [await someone(), await signUp(service)];
    const { office } = await enter(browser);
    clock.advance(OFFICE_LIFETIME - 1);
    expect((await office.open('/office/users')).status).toBe(200);
    clock.advance(1);
    const { status, headers } = await send(office, `/office/users/${user.id}/disable-user`);
    expect([status, headers.location]).toEqual([303, expect.stringMatching(`^${ORIGIN}/auth/app\\?`)]);
    expect(await service.ports.users.findById(user.id)).toMatchObject({ disabledAt: null });
    expect((await begin(office)).startsWith(`${ORIGIN}/auth/app?`)).toBe(true);
  });

  it('logs out at the service, so that another log-in takes the passkey again', async () => {
    const { browser } = await someone();
    const { office } = await enter(browser);
    expect((await office.open('/office/users')).text).toContain(`<a href="${ORIGIN}/auth/log-out">`);
    await browser.open('/auth/log-out');
    await browser.submit('log-out.log-out');
    await browser.open((await begin(office)).slice(ORIGIN.length));
    expect(browser.answers.at(-1)?.headers.location).toMatch(/^\/auth\/log-in\?/);
  });

  it('of users:read looks, and changes nothing', async () => {
    const [{ browser }, { user }] = [await someone({ roles: ['support'] }), await signUp(service)];
    const { office } = await enter(browser);
    const page = await office.open(`/office/users/${user.id}`);
    expect([page.status, page.text.includes('disable-user')]).toEqual([200, false]);
    const { status, text } = await send(office, `/office/users/${user.id}/disable-user`);
    expect([status, text]).toEqual([403, expect.stringContaining('users:write')]);
    expect(await service.ports.users.findById(user.id)).toMatchObject({ disabledAt: null });
  });

  it.each<[string, (operator: Awaited<ReturnType<typeof someone>>) => Promise<unknown>, number]>([
    ['the session ends', ({ user }) => ask(service, 'delete', `/users/${user.id}/sessions`), 303],
    ['the account is disabled', ({ user }) => ask(service, 'post', `/users/${user.id}/disable`), 303],
    ['the account is gone', ({ user }) => service.ports.users.remove(user.id), 303],
    ['the attribute is gone', ({ user }) => service.ports.users.update(user.id, { attributes: {}, now: 1 }), 403],
    ['the factors are gone', ({ user }) => removeFactorsAsOperator(service.deps)(user.id, NO_ORIGIN), 403],
    ['the password is another', ({ accessToken, person }) => changePassword(accessToken, person), 303],
  ])('is out as soon as %s', async (_why, happens, status) => {
    const operator = await someone();
    const { office } = await enter(operator.browser);
    await happens(operator);
    expect((await office.open('/office/users')).status).toBe(status);
    expect((await send(office, `/office/users/${operator.user.id}/end-sessions`)).status).toBe(status);
  });
});

describe('the back office lets nobody in', () => {
  const isOut = async (office: Visitor) => expect((await office.open('/office/users')).status).toBe(303);
  /** Opens the address that a log-in leads to. */
  const opens = async (office: Visitor, path: string) => {
    const { status, text } = await office.open(path);
    await isOut(office);
    return { status, text };
  };

  it('without the attribute', async () => {
    const { browser } = await someone({ roles: ['operators'], operator: 'roles' });
    const { office, answer } = await enter(browser);
    expect(`${answer.status} ${answer.text}`).toMatch(REFUSED);
    await isOut(office);
  });

  it('without a second factor, which it asks for, nor with one that the session has not shown', async () => {
    const { user, cookie, accessToken } = await signUp(service);
    await service.ports.users.update(user.id, { attributes: OPERATOR, now: clock.now() });
    const browser = visitorOf(service);
    browser.jar.set('refresh_token', cookie.slice(cookie.indexOf('=') + 1));
    const REASON = 'need a passkey or a second factor';
    const { office, answer } = await enter(browser);
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining(REASON)]);
    const path = await pass(browser, await begin(office));
    expect((await addPasskey(accessToken, newKey())).status).toBe(201);
    expect(await opens(office, path)).toEqual({ status: 403, text: expect.stringContaining(REASON) });
  });

  it('with a password alone, nor with a passkey of long ago, as who has copied a cookie', async () => {
    const { browser, person } = await someone();
    const location = await begin(officeBrowser());
    clock.advance(5 * MINUTE);
    const copied = await browser.open(location.slice(ORIGIN.length));
    expect(copied.headers.location).toMatch(/^\/auth\/step-up\?/);
    await browser.follow();
    await browser.submit('step-up.step-up', { password: person.password });
    await browser.follow();
    const { headers } = await browser.submit('app.app');
    expect(headers.location).toMatch(/^\/auth\/step-up\?/);
  });

  it('who has the mailbox of an operator, and adds a passkey of their own', async () => {
    const { person } = await someone();
    const login = { account: person.email, password: person.password };
    const { accessToken } = tokensOf(await service.http.post('/auth/login').send(login).expect(200));
    const { status, body } = await addPasskey(accessToken, newKey());
    expect([status, body.code]).toEqual([401, 'AUTH_STEP_UP_REQUIRED']);
  });

  it('with a code of another browser, of another log-in, or that was used', async () => {
    const { browser } = await someone();
    const [office, other] = [officeBrowser(), officeBrowser()];
    const [path, begun] = [await pass(browser, await begin(office)), await begin(other)];
    expect((await opens(other, path)).status).toBe(401);
    const ofOther = new URL(new URL(begun).searchParams.get('to') ?? '').searchParams.get('code_challenge');
    expect((await opens(other, path.replace(/(?<=code_challenge=)[^&]+/, `${ofOther}`))).status).toBe(401);
    const kept = new Map(office.jar);
    expect((await office.open(path)).status).toBe(303);
    const thief = officeBrowser();
    for (const [name, value] of kept) thief.jar.set(name, value);
    expect((await opens(thief, path)).status).toBe(401);
  });

  it('with a code that an app has got, whose verifier it has', async () => {
    const { browser } = await someone();
    const office = officeBrowser();
    const location = await begin(office);
    const challenge = new URL(new URL(location).searchParams.get('to') ?? '').searchParams.get('code_challenge');
    const code = await codeFor(browser, `${APP_LINK}?code_challenge=${challenge}`);
    expect(
      (await opens(office, `/office/signed-in?${new URLSearchParams({ code, code_challenge: `${challenge}` })}`))
        .status,
    ).toBe(401);
    const { to, verifier } = anApp(`${OFFICE}/office/signed-in`);
    const body = { code: await codeFor(browser, to), verifier };
    expect((await service.http.post('/auth/login/app').send(body).expect(401)).body.code).toBe('AUTH_CODE_INVALID');
  });

  it('with cookies of the service, or under another name; and the service has none of it', async () => {
    const { browser } = await someone();
    const { office } = await enter(browser);
    const stranger = officeBrowser();
    for (const [name, value] of browser.jar) stranger.jar.set(COOKIE, value).set(name, value);
    await isOut(stranger);
    for (const host of ['rebound.example', '127.0.0.1', 'localhost:9470']) {
      expect((await office.open('/office/users', { Host: host })).status).toBe(403);
      expect((await office.open('/office/signed-in?code=a&code_challenge=b', { Host: host })).status).toBe(403);
    }
    const visitor = visitorOf(service);
    for (const [name, value] of office.jar) visitor.jar.set(name, value);
    for (const path of ['/office/users', '/office/signed-in?code=a&code_challenge=b'])
      expect((await visitor.open(path)).status).toBe(404);
    expect((await visitor.open('/auth/account')).headers.location).toMatch(/^\/auth\/log-in/);
  });

  it.each([{ Origin: 'https://attacker.example' }, { Origin: 'null' }, { Origin: '' }, { Origin: ORIGIN }])(
    'by a form of %j',
    async (headers) => {
      const [{ browser }, { user }] = [await someone(), await signUp(service)];
      const { office } = await enter(browser);
      expect((await send(office, `/office/users/${user.id}/disable-user`, {}, headers)).status).toBe(403);
      expect(await service.ports.users.findById(user.id)).toMatchObject({ disabledAt: null });
    },
  );

  it('to another address than its own', async () => {
    const { browser } = await someone();
    for (const path of ['/office/users?to=https://attacker.example', `/office/users?contains=${'a'.repeat(2_000)}`]) {
      const { answer } = await enter(browser, path);
      expect(answer.headers.location).toMatch(/^\/office(?:$|\/users\?to=)/);
    }
    const to = `https://attacker.example/office/signed-in?code_challenge=${'a'.repeat(43)}`;
    expect((await browser.open(`/auth/app?${new URLSearchParams({ to })}`)).status).toBe(400);
  });
});

describe('who is an operator', () => {
  const REFUSAL = 'It is about an operator of ADMIN_USERS.';

  it('no page and no program decides', async () => {
    const [{ browser }, colleague, { user }] = [
      await someone(),
      await someone({ roles: 'support' }),
      await signUp(service),
    ];
    const [at, own] = [`/users/${user.id}`, `/users/${colleague.user.id}`];
    const calls: [Parameters<typeof ask>[1], string, object?][] = [
      ['put', `${at}/attributes`, { attributes: OPERATOR }],
      ['post', '/users', { email: 'new@example.org', attributes: { roles: 'support' } }],
      ['post', '/invitations', { email: 'new@example.org', attributes: OPERATOR }],
      ['put', `${own}/attributes`, { attributes: {} }],
      ['put', `${own}/email`, { email: 'thief@example.org', final: true }],
      ['post', `${own}/email/verify`],
      ['post', `${own}/reset-link`, { handOver: true }],
      ['post', `${own}/enable`],
      ['delete', `${own}/factors`],
      ['delete', own],
    ];
    for (const [method, path, body] of calls) {
      const answer = await ask(service, method, path, body, WRITER);
      expect({ path, status: answer.status, message: answer.body.message }).toMatchObject({
        ...{ path, status: 403, message: expect.stringContaining(REFUSAL) },
      });
    }
    await ask(service, 'put', `${at}/attributes`, { attributes: { roles: ['author'] } }).then(({ status }) =>
      expect(status).toBe(200),
    );
    const { office } = await enter(browser);
    const { headers } = await send(office, `/office${own}/reset-link`, { handOver: 'on' });
    expect((await office.open(`${headers.location}`)).text).toContain(REFUSAL);
    expect((await ask(service, 'post', `${own}/unlock`)).status).toBe(200);
    await send(office, `/office${own}/disable-user`);
    expect((await service.ports.users.findById(colleague.user.id))?.disabledAt).not.toBeNull();
  });

  it('no hook of registrations decides, unless an invitation of a command says so', async () => {
    const beforeRegister = () => ({ decision: 'allow', attributes: OPERATOR }) as const;
    const hooked = await start(env, () => ({ clock, hooks: { beforeRegister } }));
    const { status, body } = await hooked.http.post('/auth/register').send(aPerson());
    expect([status, body.code]).toEqual([503, 'SYS_HOOK_UNAVAILABLE']);
    await hooked.http
      .post('/auth/register')
      .send(await invitedPerson(hooked, OPERATOR))
      .expect(201);
  });
});
