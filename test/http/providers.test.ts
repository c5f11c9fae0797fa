// Proves ASVS 6.8.2, 7.1.3, 7.6.1, 7.6.2, 10.1.2, 10.2.1, 10.2.2, 10.5.1, 10.5.2, 10.5.3, 10.5.4; provider-1, provider-2, provider-3, provider-4, provider-5
import type { Response } from 'supertest';
import { beforeEach, describe, expect, it } from 'vitest';
import TEXTS from '../../src/adapters/http/pages/templates/en.json' with { type: 'json' };
import { NO_PASSWORD } from '../../src/domain/password.ts';
import { servicesOverOneDatabase, signUp, tokensOf } from '../support/http/auth-http.ts';
import { aPerson, cookiePair, hasher, refreshCookieOf, startService } from '../support/http/service.ts';
import { joseDeviceKey } from '../support/jose-proofs.ts';
import {
  BASIC_CLIENT,
  CLIENT,
  type ProviderSwitches,
  startProvider,
  type TestProvider,
  walkToCallback,
} from '../support/oidc/provider.ts';

const BASE_URL = 'http://127.0.0.1';
const APP = 'https://app.example.org';
const TO = `${APP}/notes?a=1`;
const ERROR_TO = `${APP}/log-in`;
const CALLBACK = '/auth/oidc/acme/callback';

const { start } = servicesOverOneDatabase();

const variables = ({ issuer }: Pick<TestProvider, 'issuer'>, name = 'ACME') => ({
  [`OIDC_${name}_ISSUER`]: issuer,
  [`OIDC_${name}_CLIENT_ID`]: CLIENT.id,
  [`OIDC_${name}_CLIENT_SECRET`]: CLIENT.secret,
});
const environment = () => ({ BASE_URL, ALLOWED_ORIGINS_DEV: APP, OIDC_PROVIDERS: 'acme', ...variables(provider) });

const provider = await startProvider();
const service = await start(environment());
beforeEach(() => provider.reset());

/** Somebody at the provider whom no test knows. */
const aStranger = () => {
  const { email } = aPerson();
  return { sub: `subject of ${email}`, email, email_verified: true };
};

const cookiesOf = (response: Response): string[] =>
  [response.headers['set-cookie'] ?? []].flat().map((line) => cookiePair(line));

const GOAL = { to: TO, errorTo: ERROR_TO };
const begin = (at = service, body: object = GOAL, name = 'acme') => at.http.post(`/auth/oidc/${name}`).send(body);

type Back = { readonly path: string; readonly cookies: readonly string[] };

/** What a browser asks for that the provider has sent back after a start. */
const backFrom = async (started: Response): Promise<Back> => {
  const { pathname, search } = await walkToCallback(started.body.data.url);
  return { path: pathname + search, cookies: cookiesOf(started) };
};
const walk = async (at = service, body?: object) => backFrom(await begin(at, body).expect(200));

/** As a browser does that comes from another site. */
const comeBack = ({ path, cookies }: Back, at = service) =>
  at.http
    .get(path)
    .set({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', Accept: 'text/html' })
    .set('Cookie', cookies.join('; '));

/** The user whom a callback has logged in. */
const userOf = async (response: Response, at = service) => {
  const cookie = cookiePair(refreshCookieOf(response));
  const refreshed = await at.http.post('/auth/refresh-token').set('Cookie', cookie).expect(200);
  const { accessToken } = refreshed.body.data;
  const me = await at.http.get('/users/me').set('Authorization', `Bearer ${accessToken}`).expect(200);
  return { ...me.body.data, accessToken };
};

const errorIn = (response: Response): string | null =>
  new URL(response.get('Location') ?? expect.unreachable(response.text)).searchParams.get('error');

describe('a log-in at a provider', () => {
  it('registers a user whose address the provider vouches for, and then logs the same one in', async () => {
    provider.switches.account = aStranger();
    const first = await comeBack(await walk()).expect(303);
    expect(first.get('Location')).toBe(`${TO}&tandem=logged-in`);
    const { id, ...user } = await userOf(first);
    expect(user).toMatchObject({ email: provider.switches.account.email, emailVerified: true });
    provider.switches.account = { ...provider.switches.account, email: 'another@example.org' };
    expect(await userOf(await comeBack(await walk()).expect(303))).toMatchObject({ id, email: user.email });
  });

  it('asks a browser that was logged in to log in anew, and takes none of long ago for one of the last minutes', async () => {
    provider.switches.account = aStranger();
    const maxAge = (started: Response) => new URL(started.body.data.url).searchParams.get('max_age');
    const factorsAfter = async (started: Response) => {
      const { accessToken } = await userOf(await comeBack(await backFrom(started)).expect(303));
      return service.http.get('/users/me/factors').auth(accessToken, { type: 'bearer' });
    };
    const first = await comeBack(await walk()).expect(303);
    const usual = await begin().expect(200);
    expect(maxAge(usual)).toBeNull();
    // The provider says nothing about it.
    provider.switches.idToken = ({ auth_time: _time, ...claims }) => claims;
    await factorsAfter(usual).then(({ status }) => expect(status).toBe(200));
    const again = () =>
      begin()
        .set('Cookie', cookiePair(refreshCookieOf(first)))
        .expect(200);
    const asked = await again();
    expect(maxAge(asked)).toBe('300');
    provider.switches.idToken = (claims) => ({ ...claims, auth_time: Math.floor(Date.now() / 1000) - 301 });
    expect((await factorsAfter(asked)).body).toMatchObject({ code: 'AUTH_STEP_UP_REQUIRED' });
    provider.switches.idToken = (claims) => ({ ...claims, auth_time: Math.floor(Date.now() / 1000) });
    expect((await factorsAfter(await again())).status).toBe(200);
  });

  it('finds an address with an international domain, however the provider writes it', async () => {
    const { username } = aPerson();
    provider.switches.account = { ...aStranger(), email: `${username}@Bücher.example` };
    const user = await userOf(await comeBack(await walk()).expect(303));
    expect(user.email).toBe(`${username}@xn--bcher-kva.example`.toLowerCase());
  });

  it('hands a code to an application that asks for one, which binds the session to its key', async () => {
    provider.switches.account = aStranger();
    const back = await comeBack(await walk(service, { ...GOAL, to: `${APP}/?tandem_code=` })).expect(303);
    const [, bindingCode] = /\?tandem_code=(.+)&tandem=logged-in$/.exec(back.get('Location') ?? '') ?? [];
    const proof = await (await joseDeviceKey()).proof({ htu: `${BASE_URL}/auth/refresh-token`, now: Date.now() });
    const cookie = cookiePair(refreshCookieOf(back));
    const bound = await service.http.post('/auth/refresh-token').set('Cookie', cookie).send({ proof, bindingCode });
    expect([bound.status, bound.body.context.deviceKey]).toEqual([200, true]);
  });

  it.each<[string, object, string]>([
    ['fails', { faults: { '/me': 'error' } }, 'SYS_PROVIDER_UNAVAILABLE'],
    ['is of another subject', { userInfo: () => ({ sub: 'another' }) }, 'AUTH_IDENTITY_UNPROVEN'],
  ])('needs no address of a user who is linked: UserInfo %s', async (_name, switches, code) => {
    const account = aStranger();
    const identitiesOf = async (response: Response) => {
      const { accessToken } = await userOf(response);
      const bearer = { Authorization: `Bearer ${accessToken}` };
      return (await service.http.get('/users/me/identities').set(bearer).expect(200)).body.data;
    };
    provider.switches.account = account;
    const [{ id }] = await identitiesOf(await comeBack(await walk()).expect(303));
    Object.assign(provider.switches, switches);
    const again = await comeBack(await walk()).expect(303);
    expect(await identitiesOf(again)).toMatchObject([{ id, email: account.email }]);
    provider.switches.account = aStranger();
    expect(errorIn(await comeBack(await walk()).expect(303))).toBe(code);
  });

  it('begins with a form, too, of a page of an allowed origin', async () => {
    // An application may cache its page, and so give several visitors one number.
    const form = { ...GOAL, once: 'x'.repeat(43) };
    const post = (origin: string) => service.http.post('/auth/oidc/acme').type('form').set('Origin', origin).send(form);
    const started = await post(APP).expect(303);
    expect(cookiesOf(await post(APP).expect(303))).not.toEqual(cookiesOf(started));
    const url = started.get('Location') ?? '';
    expect(url).toMatch(`${provider.issuer}/auth?`);
    provider.switches.account = aStranger();
    const { pathname, search } = await walkToCallback(url);
    await userOf(await comeBack({ path: pathname + search, cookies: cookiesOf(started) }).expect(303));
    await post('https://attacker.example').expect(403);
  });

  it('hands the browser a cookie for ten minutes, which comes back from another site, and the provider no secret', async () => {
    const started = await begin().expect(200);
    const [line] = started.headers['set-cookie'] ?? [];
    expect(line).toMatch(/^sign_in_[\w-]{22}=[^;]+; Max-Age=600; Path=\/auth; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
    const strict = await begin(await start({ ...environment(), JWT_REFRESH_COOKIE_SAME_SITE: 'strict' })).expect(200);
    expect(strict.headers['set-cookie']?.[0]).toContain('SameSite=Lax');
    const { searchParams } = new URL(started.body.data.url);
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ client_id: CLIENT.id, response_type: 'code', scope: 'openid email', code_challenge_method: 'S256' },
      redirect_uri: `${BASE_URL}${CALLBACK}`,
      ...{ state: expect.any(String), nonce: expect.any(String), code_challenge: expect.any(String) },
    });
  });

  it('keeps five starts of a browser, and forgets the oldest', async () => {
    const cookies: string[] = [];
    for (let count = 0; count < 5; count += 1) cookies.push(...cookiesOf(await begin().expect(200)));
    const sixth = await begin().set('Cookie', cookies.join('; ')).expect(200);
    const [oldest = ''] = cookies;
    expect(cookiesOf(sixth)).toEqual([`${oldest.split('=')[0]}=`, expect.stringMatching(/^sign_in_[\w-]{22}=./)]);
  });

  it('refuses a start whose cookie a browser would drop', async () => {
    const extra = { captcha: 'x'.repeat(3_000) };
    const refused = await begin(service, { ...GOAL, extra }).expect(400);
    expect(refused.body.details).toMatchObject([{ field: 'body', code: 'too_long' }]);
  });

  it.each([
    ['another origin', { to: 'https://attacker.example/' }, 'to'],
    ['another origin for errors', { ...GOAL, errorTo: 'https://attacker.example/' }, 'errorTo'],
    ['a route of the service', { to: `${BASE_URL}/auth/clear-cookie` }, 'to'],
  ])('never leads to %s', async (_name, body, field) => {
    expect((await begin(service, body).expect(400)).body.details).toMatchObject([{ field }]);
  });

  it('knows no provider that is not configured', async () => {
    await begin(service, GOAL, 'constructor').expect(404);
  });

  it('works in two tabs at once, in either order', async () => {
    const [one, two] = [await begin().expect(200), await begin().expect(200)];
    const cookies = [one, two].flatMap(cookiesOf);
    for (const started of [two, one]) {
      provider.switches.account = aStranger();
      const ended = await comeBack({ ...(await backFrom(started)), cookies }).expect(303);
      expect(await userOf(ended)).toMatchObject({ email: provider.switches.account.email });
    }
  });

  it('is not ended by a request that nobody has asked for', async () => {
    provider.switches.account = aStranger();
    const back = await walk();
    for (const headers of [{ 'Sec-Purpose': 'prefetch' }, { 'Sec-Fetch-Dest': 'iframe' }])
      expect((await comeBack(back).set(headers).expect(400)).get('Set-Cookie')).toBeUndefined();
    await userOf(await comeBack(back).expect(303));
  });

  it('asks for a second factor, as after a password', async () => {
    provider.switches.account = aStranger();
    const { id } = await userOf(await comeBack(await walk()).expect(303));
    await service.ports.users.update(id, { secondFactorAt: 1, now: 1 });
    const ended = await comeBack(await walk()).expect(303);
    expect(errorIn(ended)).toBe('AUTH_SECOND_FACTOR_REQUIRED');
    const pending = cookiesOf(ended).find((pair) => pair.startsWith('login_pending=')) ?? '';
    await service.http.get('/auth/login/pending').set('Cookie', pending).expect(200);
    expect(refreshCookieOf(ended)).toBeUndefined();
  });

  it.each<[string, readonly string[] | undefined]>([
    ['names client_secret_basic alone', ['client_secret_basic', 'private_key_jwt']],
    ['names no method', undefined],
  ])('sends the client secret as the document says, which %s', async (_name, methods) => {
    const own = await start({
      ...environment(),
      OIDC_ACME_CLIENT_ID: BASIC_CLIENT.id,
      OIDC_ACME_CLIENT_SECRET: BASIC_CLIENT.secret,
    });
    provider.switches.discovery = (document) => ({ ...document, token_endpoint_auth_methods_supported: methods });
    provider.switches.account = aStranger();
    await userOf(await comeBack(await walk(own), own).expect(303), own);
  });

  it('leads to pages of the service, which show what went wrong', async () => {
    provider.switches.answer = 'cancel';
    const failed = await comeBack(await walk(service, { to: TO })).expect(303);
    expect(failed.get('Location')).toBe(`/auth/log-in?to=${encodeURIComponent(TO)}`);
    const page = await service.http.get('/auth/log-in').set('Cookie', cookiesOf(failed).join('; '));
    expect(page.status).toBe(401);
    provider.switches.answer = 'log-in';
    provider.switches.account = aStranger();
    expect((await comeBack(await walk(service, {})).expect(303)).get('Location')).toMatch(/^\/auth\/account\?/);
  });
});

it('a provider may send the browser back by POST, which comes again by GET with its cookie', async () => {
  const { config } = service;
  const providers = config.providers.map((each) => ({ ...each, formPost: true }));
  const own = await startService(environment(), { hasher }, { providers });
  const started = await begin(own).expect(200);
  const url = new URL(started.body.data.url);
  expect(url.searchParams.get('response_mode')).toBe('form_post');
  url.searchParams.delete('response_mode');
  provider.switches.account = aStranger();
  const { searchParams } = await walkToCallback(url.href);
  const post = (path: string, fields: object) =>
    own.http.post(path).type('form').set('Origin', 'https://appleid.apple.com').send(fields);
  const posted = await post(CALLBACK, { ...Object.fromEntries(searchParams), user: '{"name":"Ada"}' }).expect(303);
  expect(posted.get('Location')).toBe(`${BASE_URL}${CALLBACK}?${searchParams}`);
  expect(posted.headers).not.toHaveProperty('access-control-allow-origin');
  expect(posted.headers).not.toHaveProperty('set-cookie');
  await userOf(await comeBack({ path: `${CALLBACK}?${searchParams}`, cookies: cookiesOf(started) }, own), own);
  await post('/auth/oidc/acme', GOAL).expect(403);
  await post(CALLBACK, {}).type('json').expect(415);
});

describe('an address that has an account', () => {
  /** A user whose address is proven. */
  const taken = async (password: 'set' | 'none' = 'set') => {
    const { user, person } = await signUp(service);
    await service.ports.users.update(user.id, { emailVerifiedAt: 1, now: 1 });
    const none = { passwordHash: NO_PASSWORD, isOfNewPassword: false, now: 1 };
    if (password === 'none') await service.ports.users.setPasswordHash(user.id, none);
    return { id: user.id, email: user.email, password: person.password };
  };

  it.each([
    [true, null],
    ['true', null],
    [false, 'AUTH_IDENTITY_CONFLICT'],
    ['false', 'AUTH_IDENTITY_CONFLICT'],
    [1, 'AUTH_IDENTITY_CONFLICT'],
    [undefined, 'AUTH_IDENTITY_CONFLICT'],
  ] as const)(
    'without a password is linked with email_verified %j at the provider, or refused',
    async (verified, code) => {
      const { id, email } = await taken('none');
      provider.switches.account = { sub: `subject of ${email}`, email, email_verified: verified };
      const ended = await comeBack(await walk()).expect(303);
      expect(errorIn(ended)).toBe(code);
      if (code === null) expect(await userOf(ended)).toMatchObject({ id });
    },
  );

  it('and a password gets the identity by the next log-in in the same browser, if that is to this account', async () => {
    const [owner, other] = [await taken(), await taken()];
    provider.switches.account = { sub: `subject of ${owner.email}`, email: owner.email, email_verified: true };
    /** The cookies of a browser to which the sign-in was refused. */
    const refused = async () => {
      const ended = await comeBack(await walk()).expect(303);
      expect([errorIn(ended), refreshCookieOf(ended)]).toEqual(['AUTH_IDENTITY_CONFLICT', undefined]);
      return cookiesOf(ended);
    };
    /** What an account is linked with after a log-in with these cookies, which the browser then forgets. */
    const afterLogIn = async ({ email: account, password }: typeof owner, cookies: readonly string[]) => {
      const logIn = service.http.post('/auth/login').set('Cookie', cookies.join('; ')).send({ account, password });
      const response = await logIn.expect(200);
      const kept = cookies.filter((pair) => /^sign_in_[\w-]{22}=./.test(pair));
      expect(cookiesOf(response)).toEqual(expect.arrayContaining(kept.map((pair) => pair.replace(/=.*/, '='))));
      const bearer = { Authorization: `Bearer ${response.body.data.accessToken}` };
      const { body } = await service.http.get('/users/me/identities').set(bearer).expect(200);
      return { kept: kept.length, identities: body.data };
    };
    expect(await afterLogIn(other, await refused())).toEqual({ kept: 1, identities: [] });
    expect(await afterLogIn(owner, [])).toEqual({ kept: 0, identities: [] });
    const identities = [expect.objectContaining({ provider: 'acme', email: owner.email })];
    expect(await afterLogIn(owner, await refused())).toEqual({ kept: 1, identities });
    expect(await userOf(await comeBack(await walk()).expect(303))).toMatchObject({ id: owner.id });
  });

  it('and a password sets no cookie if the link outlasts the time of the log-in', async () => {
    let reached = false;
    const answered = Promise.withResolvers<void>();
    const slow = await start({ ...environment(), REQUEST_TIMEOUT_MS: '5000' }, ({ records }) => ({
      records: {
        ...records,
        insert: async (table, row) => {
          reached ||= table === 'identities';
          if (table === 'identities') await answered.promise;
          return records.insert(table, row);
        },
      },
    }));
    const { email, password } = await taken();
    provider.switches.account = { sub: `subject of ${email}`, email, email_verified: true };
    const cookies = cookiesOf(await comeBack(await walk()).expect(303));
    const logIn = slow.http.post('/auth/login').set('Cookie', cookies.join('; ')).send({ account: email, password });
    const response = await logIn.expect(503);
    answered.resolve();
    expect([reached, refreshCookieOf(response)]).toEqual([true, undefined]);
    await slow.close();
  });
});

describe('what is no log-in', () => {
  const claim = (changed: object): Partial<ProviderSwitches> => ({ idToken: (claims) => ({ ...claims, ...changed }) });
  const answered = (change: (parameters: URLSearchParams) => void): Partial<ProviderSwitches> => ({
    callback: ({ searchParams }) => change(searchParams),
  });
  const ago = (seconds: number) => Math.floor(Date.now() / 1_000) - seconds;

  it.each<[string, Partial<ProviderSwitches>]>([
    ['was cancelled', { answer: 'cancel' }],
    ['has another nonce', claim({ nonce: 'another' })],
    ['has another issuer', claim({ iss: 'https://attacker.example' })],
    ['is for another client', claim({ aud: 'another' })],
    ['is of another subject than UserInfo', claim({ sub: 'another' })],
    ['has expired', claim({ exp: ago(50) })],
    ['has another signature', { forges: true }],
    ['has another code', answered((parameters) => parameters.set('code', 'x'))],
    ['has two codes', answered((parameters) => parameters.append('code', 'x'))],
    ['has an error beside the code', answered((parameters) => parameters.set('error', 'server_error'))],
    ['does not name the provider', answered((parameters) => parameters.delete('iss'))],
    ['is of another provider', answered((parameters) => parameters.set('iss', 'https://attacker.example'))],
    ['has a subject that is too long', { account: { ...aStranger(), sub: 's'.repeat(256) } }],
    ['has a subject that is no ASCII', { account: { ...aStranger(), sub: 'ä' } }],
  ])('%s', async (_name, switches) => {
    Object.assign(provider.switches, { account: aStranger(), ...switches });
    const ended = await comeBack(await walk()).expect(303);
    expect(ended.get('Location')).toBe(`${ERROR_TO}?error=AUTH_IDENTITY_UNPROVEN`);
    expect(refreshCookieOf(ended)).toBeUndefined();
  });

  it('has expired within the tolerance for clocks, which is a log-in', async () => {
    Object.assign(provider.switches, { account: aStranger(), ...claim({ exp: ago(15) }) });
    await userOf(await comeBack(await walk()).expect(303));
  });

  it('was begun by another browser, at another provider, or not at all', async () => {
    const { path, cookies } = await walk();
    for (const back of [
      { path, cookies: [] },
      { path: CALLBACK, cookies },
      { path: path.replace(/state=[^&]+/, 'state=another'), cookies },
      { path, cookies: cookies.map((pair) => `${pair}x`) },
      { path: path.replace('acme', 'other'), cookies },
    ]) {
      const page = await comeBack(back).expect(401).expect('Content-Type', /html/);
      expect(page.get('Location')).toBeUndefined();
    }
    const json = await service.http.get(path).expect(401);
    expect(json.body.code).toBe('AUTH_IDENTITY_UNPROVEN');
  });

  it('comes back twice, which has one answer, or has come back before: the provider is asked once', async () => {
    provider.switches.account = aStranger();
    const back = await walk();
    provider.hits.length = 0;
    const [first, second] = await Promise.all([comeBack(back).expect(303), comeBack(back).expect(303)]);
    expect([first, second, await comeBack(back)].map(errorIn)).toEqual([null, null, null]);
    expect(second.get('Set-Cookie')).toEqual(first.get('Set-Cookie'));
    expect(cookiesOf(first)).toContainEqual(expect.stringMatching(/^sign_in_[\w-]{22}=$/));
    await userOf(second);
    const other = { ...back, path: `${back.path}&another=answer` };
    expect(errorIn(await comeBack(other).expect(303))).toBe('AUTH_IDENTITY_UNPROVEN');
    expect(provider.hits.filter((path) => path === '/token')).toHaveLength(1);
    // Nobody else gets the answer.
    await comeBack({ ...back, cookies: [] }).expect(401);
  });

  it('has logged in, and goes back: to the account, which says so', async () => {
    provider.switches.account = aStranger();
    const { path, cookies } = await walk();
    const jar = cookiesOf(await comeBack({ path, cookies }).expect(303)).filter((pair) => !pair.endsWith('='));
    const late = await comeBack({ path, cookies: jar }).expect(303);
    expect(late.get('Location')).toBe('/auth/account');
    const page = await service.http.get('/auth/account').set('Cookie', [...jar, ...cookiesOf(late)].join('; '));
    expect(page.text).toContain(TEXTS.notices['sign-in-over']);
    await service.http.get('/auth/clear-cookie').set('Cookie', jar.join('; ')).expect(200);
    await comeBack({ path, cookies: jar }).expect(401);
    const own = await start({ ...environment(), ACCOUNT_PAGES: 'off' });
    const { cookie } = tokensOf(await own.http.post('/auth/register').send(aPerson()).expect(201));
    await comeBack({ path, cookies: [cookie] }, own).expect(401);
  });
});

describe('a provider that does not answer', () => {
  it.each<[string, ProviderSwitches['faults']]>([
    ['is too slow', { '/token': 8_000 }],
    ['has no end', { '/token': 'endless' }],
    ['has an error', { '/me': 'error' }],
  ])('when the user comes back: its answer %s', async (_name, faults) => {
    Object.assign(provider.switches, { account: aStranger(), faults });
    const ended = await comeBack(await walk()).expect(303);
    expect(errorIn(ended)).toBe('SYS_PROVIDER_UNAVAILABLE');
  });

  it('when a log-in begins: it is asked again at the next one', async () => {
    const own = await start(environment());
    for (const fault of ['endless', 'error'] as const) {
      provider.switches.faults = { '/.well-known/openid-configuration': fault };
      const refused = await begin(own).expect(503);
      expect(refused.body.code).toBe('SYS_PROVIDER_UNAVAILABLE');
      expect(refused.get('Retry-After')).toBe('5');
    }
    provider.switches.faults = {};
    for (const changed of [
      { issuer: 'https://attacker.example' },
      { authorization_endpoint: 'javascript:alert(1)' },
      { authorization_endpoint: undefined },
    ]) {
      provider.switches.discovery = (document) => ({ ...document, ...changed });
      expect((await begin(own).expect(503)).body.code).toBe('SYS_PROVIDER_UNAVAILABLE');
    }
    provider.reset();
    await Promise.all([begin(own).expect(200), begin(own).expect(200)]);
    expect(provider.hits.filter((path) => path === '/.well-known/openid-configuration')).not.toHaveLength(0);
  });

  it.each([['client_secret_post'], ['client_secret_basic']])(
    'is named in the log with the way of a client secret that is wrong: %s',
    async (method) => {
      const own = await start({ ...environment(), OIDC_ACME_CLIENT_SECRET: 'wrong' });
      provider.switches.discovery = (document) => ({ ...document, token_endpoint_auth_methods_supported: [method] });
      expect(errorIn(await comeBack(await walk(own), own).expect(303))).toBe('AUTH_IDENTITY_UNPROVEN');
      expect(JSON.stringify(own.logs)).toContain(`invalid_client (the client secret was sent by ${method})`);
    },
  );

  it('is named in the log, without what it or anybody with a link has written', async () => {
    const own = await start(environment());
    Object.assign(provider.switches, {
      answer: 'cancel',
      callback: ({ searchParams }: URL) => searchParams.set('error_description', 'a text of a stranger'),
    });
    await comeBack(await walk(own), own).expect(303);
    const text = JSON.stringify(own.logs);
    expect(text).toContain('the provider has not said who the user is: access_denied');
    expect(text).not.toContain('stranger');
  });
});

describe('linking', () => {
  const link = (accessToken: string, goal: object = GOAL) =>
    service.http.post('/auth/oidc/acme/link').set('Authorization', `Bearer ${accessToken}`).send(goal);

  it('adds what the user of a session has at the provider, whatever its address', async () => {
    const { user, accessToken } = await signUp(service);
    provider.switches.account = aStranger();
    const ended = await comeBack(await backFrom(await link(accessToken).expect(200))).expect(303);
    expect(ended.get('Location')).toBe(TO);
    expect(refreshCookieOf(ended)).toBeUndefined();
    expect(await userOf(await comeBack(await walk()).expect(303))).toMatchObject({ id: user.id, email: user.email });
    const other = await signUp(service);
    const again = await comeBack(await backFrom(await link(other.accessToken).expect(200))).expect(303);
    expect(errorIn(again)).toBe('AUTH_IDENTITY_CONFLICT');
  });

  it('needs a session, which is still there when the user comes back', async () => {
    await service.http.post('/auth/oidc/acme/link').send(GOAL).expect(401);
    const { accessToken, cookie } = await signUp(service);
    provider.switches.account = aStranger();
    const back = await backFrom(await link(accessToken).expect(200));
    await service.http.get('/auth/clear-cookie').set('Cookie', cookie).expect(200);
    expect(errorIn(await comeBack(back).expect(303))).toBe('AUTH_TOKEN_INVALID');
  });
});

// Last: the others have the keys of before.
it('keys that the provider has replaced are read by services that have read none, and refused for a minute by the others', async () => {
  const own = await start(environment());
  provider.switches.account = aStranger();
  await comeBack(await walk(own), own).expect(303);
  await provider.replaceKeys();
  const again = await start(environment());
  await userOf(await comeBack(await walk(again), again).expect(303), again);
  expect(errorIn(await comeBack(await walk(own), own).expect(303))).toBe('AUTH_IDENTITY_UNPROVEN');
});
