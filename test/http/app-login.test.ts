// Proves app-1, app-2, app-3

import { describe, expect, it } from 'vitest';
import { codeAt } from '../support/authenticator-app.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { APP_LINK, anApp, codeFor, codeOnPage, nextUrlOf } from '../support/http/app-login.ts';
import { decode, refreshWith, servicesOverOneDatabase, tokensOf } from '../support/http/auth-http.ts';
import { addApp, requestsWith } from '../support/http/factors.ts';
import {
  locationIn,
  ORIGIN,
  pathOfPage,
  registeredVisitor,
  type Visitor,
  visitorOf,
} from '../support/http/page-visitor.ts';
import { cookiePair, refreshCookieOf } from '../support/http/service.ts';
import { joseDeviceKey } from '../support/jose-proofs.ts';
import { CLIENT, startProvider, walkToCallback } from '../support/oidc/provider.ts';

const CLAIMED = 'https://app.example.org/signed-in';
const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const provider = await startProvider();
const env = {
  ...{ BASE_URL: ORIGIN, ALLOWED_ORIGINS_DEV: 'https://app.example.org', APP_LINKS: `${APP_LINK},${CLAIMED}` },
  ...{ OIDC_PROVIDERS: 'acme', OIDC_ACME_ISSUER: provider.issuer },
  ...{ OIDC_ACME_CLIENT_ID: CLIENT.id, OIDC_ACME_CLIENT_SECRET: CLIENT.secret },
  JWT_AUTHENTICATION_CLAIMS: 'true',
};
const service = await start(env, () => ({ clock }));

const use = (body: object) => service.http.post('/auth/login/app').send(body);
const refused = async (body: object) => expect((await use(body).expect(401)).body.code).toBe('AUTH_CODE_INVALID');
const refresh = ({ jar }: Pick<Visitor, 'jar'>) => refreshWith(service, `refresh_token=${jar.get('refresh_token')}`);
const bearer = ({ body }: { readonly body: { readonly data: { readonly accessToken: string } } }) => ({
  Authorization: `Bearer ${body.data.accessToken}`,
});

describe('the log-in of an app', () => {
  it.each([APP_LINK, CLAIMED])(
    'leads over the log-in page and a click to %s, with a session of its own',
    async (link) => {
      const { person } = await registeredVisitor(service);
      const [browser, { to, verifier }] = [visitorOf(service), anApp(link)];
      await browser.open(pathOfPage('log-in', to));
      clock.advance(1_000);
      const loggedIn = await browser.submit('log-in.log-in', { account: person.username, password: person.password });
      expect(loggedIn.headers.location).toBe(`${pathOfPage('app', to)}&tandem=logged-in`);
      const since = clock.now();
      clock.advance(10_000);
      expect((await browser.follow()).text).toContain(person.username);
      const code = await codeOnPage(browser);
      expect(nextUrlOf(browser)).toBe(`${to}&code=${code}`);
      const app = await use({ code, verifier }).expect(200);
      expect(decode(app.body.data.accessToken).claims).toMatchObject({ amr: ['pwd'], auth_time: since / 1_000 });
      const sessions = (await service.http.get('/auth/sessions').set(bearer(app)).expect(200)).body.data;
      expect(sessions).toHaveLength(3);
      await refresh(browser).expect(200);
      await service.http
        .post('/auth/refresh-token')
        .set('Cookie', cookiePair(refreshCookieOf(app)))
        .expect(200);
    },
  );

  it('asks nobody who has just logged in again, and makes nothing without a click', async () => {
    const [browser, { to }] = [await registeredVisitor(service), anApp()];
    expect(locationIn(await browser.open(pathOfPage('log-in', to)))).toBe(pathOfPage('app', to));
    expect((await browser.follow()).text).not.toContain('code=');
    const path = `/auth/oidc/acme?${new URLSearchParams({ to })}`;
    expect((await browser.open(path, { 'Sec-Purpose': 'prefetch' })).status).toBe(400);
  });

  it('binds the session to the key of the app', async () => {
    const { to, verifier } = anApp();
    const code = await codeFor(await registeredVisitor(service), to);
    const proof = await (await joseDeviceKey()).proof({ htu: `${ORIGIN}/auth/login/app`, now: clock.now() });
    const app = await use({ code, verifier, proof }).expect(200);
    const sessions = (await service.http.get('/auth/sessions').set(bearer(app)).expect(200)).body.data;
    expect(sessions).toContainEqual(expect.objectContaining({ binding: 'device', current: true }));
  });

  it('asks for the second factor that this browser does without', async () => {
    const browser = await registeredVisitor(service);
    const { secret } = await addApp(requestsWith(tokensOf(await refresh(browser)).accessToken, service), clock);
    const { to, verifier } = anApp();
    const other = visitorOf(service);
    const logIn = async () => {
      await other.open(pathOfPage('log-in', to));
      await other.submit('log-in.log-in', { account: browser.person.username, password: browser.person.password });
      return other.follow();
    };
    await logIn();
    await other.submit('second-factor.second-factor', { code: codeAt(secret, clock.now()), remember: 'on' });
    other.jar.delete('refresh_token');
    expect((await logIn()).headers.location).toBe(pathOfPage('step-up', to));
    await other.follow();
    clock.advance(30_000);
    await other.submit('step-up.code', { code: codeAt(secret, clock.now()) });
    await other.follow();
    await use({ code: await codeOnPage(other), verifier }).expect(200);
  });
});

describe('who has copied cookies', () => {
  const thiefOf = ({ jar }: Visitor) => {
    const thief = visitorOf(service);
    for (const [name, value] of jar) thief.jar.set(name, value);
    return thief;
  };

  it('gets no code without the password, which the owner shows again after five minutes', async () => {
    const browser = await registeredVisitor(service);
    const [thief, { to, verifier }] = [thiefOf(browser), anApp()];
    await browser.open(pathOfPage('app', to));
    clock.advance(5 * 60_000);
    expect((await thief.open(pathOfPage('app', to))).headers.location).toBe(pathOfPage('step-up', to));
    expect((await thief.post('/auth/app', { to })).headers.location).toBe(pathOfPage('step-up', to));
    expect((await browser.submit('app.app')).headers.location).toBe(pathOfPage('step-up', to));
    await browser.follow();
    expect(locationIn(await browser.submit('step-up.step-up', { password: browser.person.password }))).toBe(
      pathOfPage('app', to),
    );
    await browser.follow();
    await use({ code: await codeOnPage(browser), verifier }).expect(200);
  });

  it('gets none without the key of the session, which the page proves once for each code', async () => {
    const { person, user } = await registeredVisitor(service);
    const [owner, key, { to, verifier }] = [visitorOf(service), await joseDeviceKey(), anApp()];
    const proof = (path: string, of = key) => of.proof({ htu: ORIGIN + path, now: clock.now() });
    await owner.open(pathOfPage('log-in', to));
    const fields = { account: person.username, password: person.password, proof: await proof('/auth/log-in') };
    await owner.submit('log-in.log-in', fields);
    const thief = thiefOf(owner);
    for (const shown of [{}, { proof: await proof('/auth/app', await joseDeviceKey()) }]) {
      await thief.open(pathOfPage('app', to));
      expect(locationIn(await thief.submit('app.app', shown))).toBe(pathOfPage('log-in', to));
      // Where the page cannot have the key: not back to the app, where the same would come again.
      expect((await thief.follow()).status).toBe(401);
      expect(thief.shown('log-in.account')).toHaveLength(1);
    }
    expect((await owner.follow()).text).toContain('data-proves');
    const used = await proof('/auth/app');
    await owner.submit('app.app', { proof: used });
    await owner.follow();
    const code = new URL(nextUrlOf(owner)).searchParams.get('code');
    await thief.open(pathOfPage('app', to));
    expect(locationIn(await thief.submit('app.app', { proof: used }))).toBe(pathOfPage('app', to));
    await use({ code, verifier }).expect(200);
    const sessions = await service.ports.sessions.listByUser(user.id, clock.now());
    expect(sessions.map(({ deviceKey }) => deviceKey)).toEqual([null, key.thumbprint, null]);
  });
});

describe('the code of an app', () => {
  const made = async () => {
    const [browser, { to, verifier }] = [await registeredVisitor(service), anApp()];
    return { browser, code: await codeFor(browser, to), verifier };
  };

  it('is worth nothing to another app that catches it; works once, and a second use ends what the first one has opened', async () => {
    const { browser, ...shown } = await made();
    await refused({ ...shown, verifier: anApp().verifier });
    const first = await use(shown).expect(200);
    await refused(shown);
    await service.http
      .post('/auth/refresh-token')
      .set('Cookie', cookiePair(refreshCookieOf(first)))
      .expect(401);
    await refresh(browser).expect(200);
  });

  it('works for a minute, and ends with the session of the browser', async () => {
    const [{ browser: _, ...late }, { browser, ...over }] = [await made(), await made()];
    await browser.open('/auth/log-out');
    await browser.submit('log-out.log-out');
    await refused(over);
    clock.advance(60_000);
    await refused(late);
  });

  it('is made by a form of the service alone: neither with an access token nor by a form of an application', async () => {
    const browser = await registeredVisitor(service);
    const [{ to }, app] = [anApp(), await refresh(browser)];
    await service.http.post('/auth/app').set(bearer(app)).send({ to }).expect(403);
    await service.http
      .post('/auth/app')
      .set({ ...bearer(app), Origin: ORIGIN })
      .type('form')
      .send({ to })
      .expect(303, '');
    expect((await browser.post('/auth/app', { to }, { Origin: 'https://app.example.org' })).status).toBe(403);
  });
});

describe('a link to an app', () => {
  it('is needed for the page, and is all that a start at a provider takes from its address', async () => {
    const [browser, { to }] = [await registeredVisitor(service), anApp()];
    expect((await browser.open('/auth/app')).headers.location).toBe('/auth/account');
    const others = { provider: 'other', caller: 'x', extra: 'x', invitation: 'x', locale: 'x\0' };
    const start = `/auth/oidc/acme?${new URLSearchParams({ to, errorTo: 'https://evil.test/', ...others })}`;
    const visitor = visitorOf(service);
    const back = async () => {
      const { pathname, search } = await walkToCallback(`${(await visitor.open(start)).headers.location}`);
      return locationIn(await visitor.open(pathname + search));
    };
    expect(await back()).toBe(pathOfPage('app', to));
    provider.switches.answer = 'cancel';
    expect(await back()).toBe(pathOfPage('log-in', to));
  });

  it('keeps what the app has added', async () => {
    const { to } = anApp();
    const browser = await registeredVisitor(service);
    const code = await codeFor(browser, `${to}&state=a%20b`);
    expect(nextUrlOf(browser)).toBe(`${to}&state=a%20b&code=${code}`);
  });
});
