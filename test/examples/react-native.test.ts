// Proves app-2
import { hash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { openAuth, type Platform } from '../../examples/react-native/auth.ts';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { serviceStarter } from '../support/http/account.ts';
import { APP_LINK, nextUrlOf } from '../support/http/app-login.ts';
import { visitorOf } from '../support/http/page-visitor.ts';
import { aPerson } from '../support/http/service.ts';
import { CLIENT, startProvider, walkToCallback } from '../support/oidc/provider.ts';

const start = serviceStarter();
const provider = await startProvider();

const withCookies =
  (jar: Map<string, string>): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    request.headers.set('Cookie', [...jar].map((each) => each.join('=')).join('; '));
    const response = await fetch(request);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    return response;
  };

const openWorld = async () => {
  const env = { OIDC_PROVIDERS: 'acme', OIDC_ACME_ISSUER: provider.issuer, OIDC_ACME_CLIENT_ID: CLIENT.id };
  const service = await start(
    { ...env, OIDC_ACME_CLIENT_SECRET: CLIENT.secret, APP_LINKS: APP_LINK },
    { storage: memoryStorage() },
  );
  const person = aPerson();
  await service.http.post('/auth/register').send(person).expect(201);
  const jar = new Map<string, string>();
  const system = visitorOf(service);
  /** What somebody does in the browser of the system, which has opened a page of the service. */
  const browsing = { act: async (): Promise<string | null> => null };
  const browse = async (url: string) => {
    const { pathname, search } = new URL(url);
    await system.open(pathname + search);
    return browsing.act();
  };
  const platform: Platform = {
    ...{ fetch: withCookies(jar), browse, random: () => randomBytes(32).toString('base64url') },
    hash: async (text: string) => hash('sha256', text, 'base64url'),
  };
  /** The page of the app, and a click. */
  const goOn = async () => {
    await system.follow();
    await system.submit('app.app');
    await system.follow();
    return nextUrlOf(system);
  };
  /** The app, started anew. */
  const app = () => openAuth({ baseUrl: service.url, link: APP_LINK, platform });
  return { person, jar, system, browsing, goOn, app };
};

it('logs in with a form of the app, renews, and has the session when it is started again', async () => {
  const { app, person, jar } = await openWorld();
  const { auth } = app();
  expect(await auth.ready).toBeNull();
  await auth.login({ account: person.username, password: person.password });
  const cookie = jar.get('refresh_token');
  expect(await auth.refresh()).toMatchObject({ username: person.username });
  expect(jar.get('refresh_token')).not.toBe(cookie);
  const later = app().auth;
  expect(await later.ready).toMatchObject({ username: person.username });
  await later.logout();
  expect(await app().auth.ready).toBeNull();
});

it('logs in at the pages in the browser of the system', async () => {
  const { app, person, system, browsing, goOn } = await openWorld();
  browsing.act = async () => {
    await system.submit('log-in.log-in', { account: person.username, password: person.password });
    return goOn();
  };
  expect(await app().logInAtPages()).toMatchObject({ username: person.username });
  expect(await app().auth.ready).toMatchObject({ username: person.username });
});

it('logs in with a provider in the browser of the system', async () => {
  const { app, system, browsing, goOn } = await openWorld();
  const { email } = aPerson();
  provider.switches.account = { sub: email, email, email_verified: true };
  browsing.act = async () => {
    const { pathname, search } = await walkToCallback(system.answers.at(-1)?.get('Location') ?? '');
    await system.open(pathname + search, { 'Sec-Fetch-Site': 'cross-site' });
    return goOn();
  };
  const { auth, logInWith } = app();
  expect(await logInWith('acme')).toMatchObject({ email });
  expect(await auth.refresh()).toMatchObject({ email });
});

it('is nobody when the user closes the browser, and for a link that another log-in has made', async () => {
  const { app, person, system, browsing, goOn } = await openWorld();
  expect(await app().logInAtPages()).toBeNull();
  await system.submit('log-in.log-in', { account: person.username, password: person.password });
  const foreign = await goOn();
  browsing.act = async () => foreign;
  const { auth, logInAtPages } = app();
  expect(await logInAtPages()).toBeNull();
  expect(await auth.ready).toBeNull();
});
