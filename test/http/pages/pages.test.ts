// Proves ASVS 3.2.2, 7.4.4
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAccountClient } from '../../../client/src/account.ts';
import { createAuthClient } from '../../../client/src/index.ts';
import { PAGES as USER_PAGES } from '../../../src/adapters/http/forms/flow.ts';
import { CLIENT_CALLS } from '../../../src/adapters/http/pages/docs.ts';
import { DOCS_POLICY } from '../../../src/adapters/http/routes/service/pages.ts';
import { isDescribed } from '../../../src/adapters/http/routing/define-route.ts';
import { CATALOG } from '../../../src/domain/errors/catalog.ts';
import { VERSION } from '../../../src/infrastructure/version.ts';
import { ALL_ROUTES } from '../../support/http/all-routes.ts';
import { servicesOverOneDatabase } from '../../support/http/auth-http.ts';
import { pathOfPage, registeredVisitor } from '../../support/http/page-visitor.ts';

const { start } = servicesOverOneDatabase();
const service = await start({ LOGIN_BY_CODE: 'on', ADOPTION_PUBLIC_KEY: ALL_ROUTES.ADOPTION_PUBLIC_KEY });
const LISTED = 'https://app.example.org';
const strict = await start({ ALLOWED_ORIGINS_DEV: LISTED });
const pageOf = async (path: string, at = service) => (await at.http.get(path).set('Accept', 'text/html')).text;
/** What a reader sees. */
const wordsOf = (page: string) =>
  page
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, ' ');
const linksOf = (page: string) => [...page.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link);

it('every page for users who are logged in says who that is, and leads to the log-out; settings lead to the application', async () => {
  const named = { BRAND_NAME: 'Acme Notes', ALLOWED_ORIGINS_DEV: LISTED };
  for (const [env, application] of [
    [named, 'Acme Notes'],
    [{ ALLOWED_ORIGINS_DEV: LISTED }, 'app.example.org'],
  ] as const) {
    const member = await registeredVisitor(await start(env));
    const settings = ['account', 'factors', 'history', 'delete'] as const;
    for (const name of [...settings, 'step-up', 'new-passkey', 'recovery-codes'] as const) {
      const { text } = await member.open(pathOfPage(name));
      const [, header = ''] = /<header[^>]*>(.*?)<\/header>/s.exec(text) ?? [];
      expect(header).toContain(`<strong>${member.person.username}</strong>`);
      expect(header).toContain(' href="/auth/log-out"');
      expect(/href="([^"]*)">Back to ([^<]*)/.exec(header)?.slice(1) ?? [], name).toEqual(
        USER_PAGES[name].path.startsWith('/auth/account') ? [LISTED, application] : [],
      );
    }
  }
});

describe('GET /', () => {
  it('returns name, version and links to a program', async () => {
    const { body } = await service.http.get('/').expect(200);
    expect(body.data).toEqual({
      name: 'Tandem',
      version: VERSION,
      links: Object.fromEntries(
        Object.entries({
          ...{ documentation: '/docs', openapi: '/openapi.json', errors: '/errors', keys: '/.well-known/jwks.json' },
          ...{ client: '/client.js', logIn: '/auth/log-in', register: '/auth/register', forgot: '/auth/forgot' },
          ...{ account: '/auth/account', logOut: '/auth/log-out', console: '/console' },
        }).map(([name, path]) => [name, `https://auth.example.org${path}`]),
      ),
      origin: null,
    });
    for (const link of Object.values<string>(body.data.links)) {
      const { status } = await service.http.get(new URL(link).pathname);
      // The account is for those who are logged in.
      expect([link, status]).toEqual([link, link.endsWith('/account') ? 303 : 200]);
    }
  });

  it.each([
    ['no page for a forgotten password', {}, ['logIn', 'register', 'account', 'logOut']],
    ['with ACCOUNT_PAGES=off none', { ACCOUNT_PAGES: 'off' }, []],
  ])('lists the pages for users that there are: without mail, %s', async (_when, env, names) => {
    const { http } = await start(env, () => ({ mailer: null }));
    const { body } = await http.get('/').expect(200);
    const others = ['documentation', 'openapi', 'errors', 'keys', 'client', 'console'];
    expect(Object.keys(body.data.links).filter((name) => !others.includes(name))).toEqual(names);
  });
});

describe('GET / of a visitor', () => {
  const from = async (headers: Record<string, string>) => {
    const asJson = await strict.http.get('/').set(headers).expect(200);
    const page = await strict.http.get('/').set(headers).set('Accept', 'text/html').expect(200);
    return { origin: asJson.body.data.origin, words: wordsOf(page.text), page };
  };

  it.each([
    ['an address of a page', { Referer: `${LISTED}/a/page?token=secret` }],
    ['an origin alone, as browsers send it', { Referer: `${LISTED}/` }],
    ['the header of a script', { Origin: LISTED }],
    ['both', { Origin: LISTED, Referer: 'https://other.example/' }],
  ])('says that its origin is allowed, by %s', async (_what, headers) => {
    const { origin, words, page } = await from(headers);
    expect(origin).toEqual({ name: LISTED, allowed: true });
    expect(words).toContain(`You come from ${LISTED}, which is on the allow-list`);
    expect(page.text).not.toContain('secret');
    expect(page.headers.vary).toBe('Origin, Referer, Accept');
  });

  it('says that its origin is not allowed, and where to list it', async () => {
    const { origin, words } = await from({ Referer: 'http://localhost:5173/' });
    expect(origin).toEqual({ name: 'http://localhost:5173', allowed: false });
    expect(words).toContain('You come from http://localhost:5173, which is not on the allow-list');
    expect(words).toContain('add it to ALLOWED_ORIGINS_DEV');
  });

  it.each([
    ['nothing', {}],
    ['the service', { Referer: 'https://auth.example.org/docs' }],
    ['the service under another name', { Host: 'other.example:3000', Referer: 'http://other.example:3000/docs' }],
    ['no URL', { Referer: 'nonsense' }],
    ['another scheme', { Referer: 'file:///home/ada/index.html' }],
    ['an app', { Referer: 'android-app://com.example' }],
    ['a very long name', { Referer: `https://${'a'.repeat(2_000)}.example/` }],
  ])('says nothing of %s', async (_what, headers) => {
    const { origin, words } = await from(headers);
    expect(origin).toBeNull();
    expect(words).not.toContain('You come from');
  });

  it('shows no markup of an address', async () => {
    const { page } = await from({ Referer: `https://a.example:443/"><script>alert(1)</script>` });
    expect(page.text).not.toContain('<script');
    const { origin } = await from({ Referer: 'https://a"<b>.example/' });
    expect(origin).toBeNull();
  });
});

describe('GET /errors/:code', () => {
  it('says of each what it means and what to do, and is linked from the list', async () => {
    const links = linksOf(await pageOf('/errors'));
    for (const [code, { status, message, description, published }] of Object.entries(CATALOG)) {
      const words = wordsOf(await pageOf(`/errors/${code}`));
      const shown = code === 'SYS_HTTP_UNEXPECTED_ERROR' ? 503 : status;
      for (const part of [code, String(shown), message, description.replaceAll('`', ''), 'What to do'])
        expect(words, code).toContain(part);
      if (published) expect(links).toContain(`/errors/${code}`);
    }
  });
});

describe('GET /docs', () => {
  it('describes every route, and has its own media type, policy and ETag', async () => {
    const { text, headers } = await service.http.get('/docs').expect(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': DOCS_POLICY,
      'cache-control': 'public, max-age=300',
    });
    const words = wordsOf(text);
    for (const { method, path, summary } of service.routes.filter(isDescribed)) {
      expect(words).toContain(`${method} ${path}`);
      expect(words).toContain(`${summary}.`);
    }
    await service.http.get('/docs').set('If-None-Match', String(headers.etag)).expect(304);
  });

  it('has the codes of all errors, the examples, and a curl command for every route', async () => {
    const words = wordsOf(await pageOf('/docs'));
    // Only services that require verified addresses, or that have page servers or providers, respond with these.
    const others = ['AUTH_EMAIL_UNVERIFIED', 'AUTH_PAGE_SERVER_UNKNOWN', 'AUTH_IDENTITY_UNPROVEN'];
    const codes = Object.keys(CATALOG).filter((code) => ![...others, 'SYS_PROVIDER_UNAVAILABLE'].includes(code));
    for (const code of codes) expect(words).toContain(code);
    for (const part of [
      'currentPassword',
      '"accessToken": "eyJ',
      'refresh cookie',
      `curl -X POST \\ -c "$JAR" \\ -H 'Content-Type: application/json'`,
      'curl -X DELETE \\ -H "Authorization: Bearer $TOKEN" \\ -b "$JAR" \\ -c "$JAR" \\',
      'curl https://auth.example.org/errors/CODE',
    ]) {
      expect(words).toContain(part);
    }
    expect(words.split('curl ')).toHaveLength(service.routes.filter(isDescribed).length + 1);
  });

  it('has the call of the browser client where there is one, which the client has', async () => {
    const words = wordsOf(await pageOf('/docs'));
    const options = { baseUrl: 'https://auth.example.org', fetch: () => new Promise<Response>(() => undefined) };
    const [auth, account] = [createAuthClient(options), createAccountClient(options)];
    onTestFinished(() => auth.dispose());
    for (const [name, call] of Object.entries(CLIENT_CALLS)) {
      expect(service.routes.map((route) => route.name)).toContain(name);
      expect(words).toContain(call);
      const path = call.replace(/\(.*$/, '').split('.').slice(1);
      const client: unknown = call.startsWith('auth.') ? auth : account;
      const called = path.reduce<unknown>((object, member) => Reflect.get(object as object, member), client);
      expect(typeof called, call).toBe(call.includes('(') ? 'function' : 'object');
    }
  });

  it('has no two elements of one id, and no link to an id that is not there', async () => {
    const page = await pageOf('/docs');
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const link of linksOf(page).filter((each) => each.startsWith('#'))) expect(ids).toContain(link.slice(1));
  });
});

const PAGES = ['/', '/errors', '/errors/AUTH_USER_DUPLICATE', '/errors/SYS_HTTP_UNEXPECTED_ERROR', '/docs', '/nowhere'];

describe.each(PAGES)('the page %s', (path) => {
  it('has no script but the filter of the routes, no inline style and nothing of another host', async () => {
    const page = await pageOf(path);
    const scripts = path === '/docs' ? ['<script defer src="/docs-filter.js"></script>'] : [];
    expect(page.match(/<script.*<\/script>/g) ?? []).toEqual(scripts);
    expect(page).not.toMatch(/<style| style=| on[a-z]+=|javascript:/i);
    const outside = linksOf(page).filter((link) => !/^[/#]/.test(link) || link.startsWith('//'));
    expect(outside).toEqual([]);
  });

  it('has only links that lead somewhere, also below a path that a proxy removes', async () => {
    const below = await start({ BASE_URL: 'https://example.org/auth-service' });
    for (const [at, prefix] of [
      [service, ''],
      [below, '/auth-service'],
    ] as const) {
      const links = linksOf(await pageOf(path, at)).filter((link) => !link.startsWith('#'));
      expect(links.length).toBeGreaterThan(3);
      for (const link of new Set(links)) {
        expect(link.startsWith(`${prefix}/`)).toBe(true);
        await at.http.get(link.slice(prefix.length)).set('Accept', 'text/html').expect(200);
      }
    }
  });
});

describe('a page of an error', () => {
  it.each([
    '/<script>alert(1)</script>',
    '/%3Cscript%3Ealert(1)%3C/script%3E',
    '/errors/%3Cscript%3Ealert(1)%3C%2Fscript%3E',
    '/auth/session?%3Cscript%3Ealert(1)=1',
    '/"onload="alert(1)',
  ])('shows nothing of the address: %s', async (path) => {
    const { text, status } = await service.http.get(path).set({ Accept: 'text/html', 'Sec-Fetch-Dest': 'document' });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).not.toMatch(/alert/);
  });

  it('escapes the request id, which the client may choose', async () => {
    const id = `"><img src=x onerror='alert(1)'>`;
    const { text, headers } = await service.http.get('/nowhere').set({ Accept: 'text/html', 'svc-request-id': id });
    expect(headers['svc-request-id']).toBe(id);
    expect(text).not.toContain('<img');
    expect(wordsOf(text)).toContain(id);
  });
});

it.each([
  ['/pages.css', 'text/css; charset=utf-8'],
  ['/user-pages.css', 'text/css; charset=utf-8'],
  ['/icon.svg', 'image/svg+xml'],
])('GET %s returns the file, with an ETag', async (path, type) => {
  const { headers } = await service.http.get(path).expect(200);
  expect(headers).toMatchObject({ 'content-type': type, 'cache-control': 'public, max-age=300' });
  await service.http.get(path).set('If-None-Match', String(headers.etag)).expect(304);
});
