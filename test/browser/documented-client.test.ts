import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { assertionSigner } from '../../examples/adoption/assertion.ts';
import { createFormerSystem } from '../../examples/adoption/former-system.ts';
import { privatePem, publicPem } from '../../src/infrastructure/keys.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { logInAtService, registerAtService } from '../support/browser/at-service.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { bindingIn, clientPage, restoredIn } from '../support/browser/client-page.ts';
import { addAuthenticator } from '../support/browser/passkey-page.ts';
import { PARTIES, startResourceServer } from '../support/browser/resource-server.ts';
import { openSite } from '../support/browser/site.ts';
import { CHROMIUM, openUserPages, type Visitor } from '../support/browser/user-pages.ts';
import { openWorld } from '../support/browser/world.ts';
import { codeBelow } from '../support/checkout/documented-code.ts';
import { signUp } from '../support/http/auth-http.ts';
import { addApp, requestsWith } from '../support/http/factors.ts';
import type { aPerson } from '../support/http/service.ts';
import { listenOnLoopback } from '../support/listen.ts';
import { CLIENT, startProvider } from '../support/oidc/provider.ts';

const [example = ''] = codeBelow('docs/start.md', 'From a browser', 'js');

describe.runIf(canBrowse())('the example in docs/start.md', () => {
  const { world, visit } = openWorld('localhost', {});

  it('has five lines', () => {
    expect(example.split('\n').filter(Boolean).length).toBeLessThanOrEqual(5);
  });

  it('logs in, restores the session when it runs again, and calls the service', async () => {
    const { open, person, post } = await visit();
    await post('/auth/register', { ...person, username: person.username, password: 'correct horse' });
    const code = example
      .replaceAll('http://localhost:3000', world().service)
      .replaceAll("'ada'", `'${person.username}'`);
    const html = `<script type="module">${code} globalThis.answer = response.status;</script>`;
    const tab = await open(world().app.publish(html));
    const { seen } = world().witness.watch();
    const answer = () =>
      tab.waitForFunction(() => (globalThis as { answer?: number }).answer).then((it) => it.jsonValue());
    expect(await answer()).toBe(200);
    await tab.reload();
    expect(await answer()).toBe(200);
    expect(seen().filter(({ path, method }) => path === '/auth/login' && method === 'POST').length).toBeLessThanOrEqual(
      1,
    );
  });
});

describe.runIf(canBrowse())('the application without a form in docs/browser.md', () => {
  const { world, visit } = openWorld('localhost', {}, {}, { hasPages: true });
  const [example = ''] = codeBelow('docs/browser.md', 'Pages of the service', 'html');

  it('has 15 lines', () => {
    expect(example.split('\n').filter((line) => line.trim()).length).toBeLessThanOrEqual(15);
  });

  it('has users who register, find their settings, log out and log in', async () => {
    const { open } = await visit();
    const page = world().app.publish(example.replaceAll('http://localhost:3000', world().service));
    const tab = await open(page);
    await tab.click('text="Log in"');
    const { username, password } = await registerAtService(tab);
    const settings = (await tab.getByRole('link', { name: 'Settings' }).getAttribute('href')) ?? '';
    expect(settings).toContain('/auth/account?to=');
    expect(tab.url()).toBe(page);
    await tab.goto(settings);
    expect(await tab.inputValue('[name=username]')).toBe(username);
    await tab.goto(page);
    await tab.click('text="Log out"');
    await tab.click('text="Log in"');
    await logInAtService(tab, { username, password });
    await tab.getByRole('link', { name: 'Settings' }).waitFor();
  });
});

const app = await openSite('localhost');
const provider = await startProvider();
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

describe.runIf(canBrowse())('the lines for a page of one’s own', () => {
  const { service, address, linkFor, pass, visitor } = openUserPages({
    ...{ ALLOWED_ORIGINS_DEV: app.origin, ...PARTIES, ADOPTION_PUBLIC_KEY: publicPem([publicKey]) },
    ...{ OIDC_PROVIDERS: 'acme', OIDC_ACME_ISSUER: provider.issuer },
    ...{ OIDC_ACME_CLIENT_ID: CLIENT.id, OIDC_ACME_CLIENT_SECRET: CLIENT.secret },
  });
  type More = {
    readonly own?: Visitor;
    readonly html?: string;
    /** At the end of the address. */
    readonly end?: string;
    readonly change?: (lines: string) => string;
  };
  /** A window at a page with lines of the documentation, below those that they rely on. `globalThis.done` is what they end with. */
  const opened = async (lines = '', before = '', { own, html = '', end = '', change = (same) => same }: More = {}) => {
    const client = address('/client.js');
    const script = `
      ${/import .*createAuthClient/.test(lines) ? '' : `import { createAuthClient } from '${client}';`}
      ${/const auth = /.test(lines) ? '' : `const auth = createAuthClient({ baseUrl: '${address()}' });`}
      ${before}
      ${change(lines).replaceAll('http://localhost:3000', address()).replace("'tandem-client'", `'${client}'`)}
      Object.assign(globalThis, { auth, done: true });`;
    const window = own ?? (await visitor(CHROMIUM));
    await window.open(`${app.publish(`${html}<script type="module">${script}</script>`)}${end}`);
    return window;
  };
  const ran = async (...given: Parameters<typeof opened>) => {
    const own = await opened(...given);
    await own.page.waitForFunction('globalThis.done');
    return own;
  };
  const below = (page: string, heading: string, language = 'js') => codeBelow(page, heading, language)[0];
  /** Lines in front of others: a user has logged in. */
  const asUser = ({ username, password }: ReturnType<typeof aPerson>) =>
    `const credentials = ${JSON.stringify({ account: username, password })}; await auth.login(credentials);`;

  it('restore a session, send a token to the API, and log out (client/README.md)', async () => {
    const { person } = await signUp(service());
    const api = await startResourceServer(address(), app.origin);
    const own = await ran('', asUser(person));
    const { page } = await ran(
      below('client/README.md', 'tandem-client', 'ts'),
      'globalThis.rendered = []; const render = (user) => rendered.push(user?.username ?? null);',
      {
        own,
        // It would leave the page.
        change: (lines) =>
          lines
            .replace(/^auth.logInAt.*$/m, '')
            .replace('https://auth.example.com', address())
            .replaceAll(/https:..api.example.com(.notes)?/g, api.url),
      },
    );
    expect(await page.evaluate('rendered')).toEqual([person.username, person.username, null]);
  });

  it('call an API of one’s own (docs/browser.md)', async () => {
    const { person } = await signUp(service());
    const api = await startResourceServer(address(), app.origin);
    const [making, asking = ''] = below('docs/browser.md', 'Your own API')?.split(/(?<=;)\n/) ?? [];
    const { page } = await ran(`${making}\n${asUser(person)}\n${asking} Object.assign(globalThis, { response });`, '', {
      change: (lines) => lines.replaceAll(/http:..localhost:4000(.notes)?/g, api.url),
    });
    expect(await page.evaluate('response.status')).toBe(200);
  });

  it('change the username (docs/own-forms.md)', async () => {
    const { person } = await signUp(service());
    const { page } = await ran(below('docs/own-forms.md', 'The account'), asUser(person));
    expect(await page.evaluate('auth.user.username')).toBe('ada.lovelace');
  });

  it('finish a log-in with a code of the app (docs/own-forms.md)', async () => {
    const { person, accessToken } = await signUp(service());
    const { now } = service().ports.clock;
    const { secret } = await addApp(requestsWith(accessToken, service()), {
      now,
      set: () => undefined,
      advance: () => undefined,
    });
    // Each code is another one, and two are accepted.
    const code = codeAt(secret, now() + 30_000);
    const before = `const askForCode = async () => '${code}'; const credentials = ${JSON.stringify({ account: person.username, password: person.password })};`;
    const { page } = await ran(below('docs/own-forms.md', 'A second factor'), before);
    expect(await page.evaluate('auth.user.username')).toBe(person.username);
  });

  it('log in at a provider, by the client (docs/own-forms.md) and without it (docs/oauth.md)', async () => {
    const button = { html: '<button id="acme">', change: (lines: string) => lines.replaceAll('google', 'acme') };
    const first = await opened(below('docs/own-forms.md', 'Providers'), 'const showError = console.error;', button);
    await first.page.click('#acme');
    await first.page.waitForURL(`${app.origin}/notes*`);
    const service = `const service = '${address()}';`;
    const second = await opened(below('docs/oauth.md', 'In a front end of your own'), service, button);
    await second.page.waitForURL(`${app.origin}/?tandem=logged-in`);
    for (const [{ page, open }, binding] of [[first, 'device'] as const, [second, 'none'] as const]) {
      await open(app.publish(clientPage(address())) + new URL(page.url()).search);
      expect(await restoredIn(page)).toMatch(/./);
      expect([await bindingIn(page), new URL(page.url()).search]).toEqual([binding, '']);
    }
  });

  it('verify an address (docs/mail-and-pages.md)', async () => {
    const { person } = await signUp(service());
    const link = await linkFor(person.email, 'email-verification');
    const { page } = await ran(below('docs/mail-and-pages.md', 'Pages of your own'), '', {
      html: '<button>',
      end: link.replace(/.*#/, '#'),
    });
    expect(page.url()).not.toContain('token');
    const verified = page.waitForResponse('**/auth/email-verification/**');
    await page.click('button');
    expect((await verified).status()).toBe(200);
  });

  it('take over a session of the former system (docs/moving)', async () => {
    const { user } = await signUp(service());
    const sign = assertionSigner(privatePem(privateKey), address());
    const former = createFormerSystem({ idOf: () => user.id, sign, frontEnd: app.origin });
    const { port } = await listenOnLoopback(createServer(former.callback()));
    const there = `http://localhost:${port}`;
    const before = `await fetch('${there}/log-in?user=old', { method: 'POST', credentials: 'include' });`;
    const { page } = await ran(below('docs/moving/README.md', 'Sessions of the former system'), before, {
      change: (lines) => lines.replace('https://old.example.com', there),
    });
    expect(await page.evaluate('auth.user.id')).toBe(user.id);
  });

  it('go on after a log-in, and to no other site (docs/server-rendering.md)', async () => {
    const lines = below('docs/server-rendering.md', 'What it does');
    for (const [to, end] of [
      ['/notes?a=b', '/notes?a=b'],
      ['https://evil.example/', '/'],
    ]) {
      const { page } = await opened(lines, '', { end: `?to=${encodeURIComponent(to ?? '')}` });
      await page.waitForURL(`${app.origin}${end}`);
    }
  });

  it('make a passkey, and log in with it (docs/own-forms.md)', async () => {
    const { person } = await signUp(service());
    const own = await visitor(CHROMIUM);
    await addAuthenticator(own.page);
    await ran('', asUser(person), { own });
    const lines = below('docs/own-forms.md', 'Passkeys');
    const page = {
      own,
      html: '<input autocomplete="username webauthn">',
      change: (lines: string) => `${lines} globalThis.added = name;`,
    };
    await ran(lines, '', page);
    expect(await own.page.evaluate('added')).toMatch(/./);
    await own.page.evaluate('auth.logout()');
    await opened(lines, 'globalThis.auth = auth;', page);
    await own.page.waitForFunction(`globalThis.auth?.user?.username === '${person.username}'`);
  });

  it('show the password again (docs/browser.md)', async () => {
    const { person } = await signUp(service());
    const before = `const askForPassword = async () => '${person.password}';`;
    const { page } = await ran(below('docs/browser.md', 'Step-up'), before);
    await page.evaluate(`auth.login(${JSON.stringify({ account: person.username, password: person.password })})`);
    pass(600_000);
    expect(await page.evaluate(`auth.sessions.endOthers().then(() => auth.user.username)`)).toBe(person.username);
  });
});
