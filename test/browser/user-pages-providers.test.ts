import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { axeFaultsOf } from '../support/browser/faults.ts';
import { codesOf, KINDS, openUserPages, type Tab, TEXTS, type Visitor } from '../support/browser/user-pages.ts';
import { linked } from '../support/http/account.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { CLIENT, startProvider } from '../support/oidc/provider.ts';

const MINUTE = 60_000;
const { errors, pages } = TEXTS;
const provider = await startProvider();
afterAll(provider.close);
const { switches, issuer } = provider;

/** Somebody at the provider, and the address that it states. */
const atProvider = (email = aPerson().email, given = {}) => {
  switches.account = { sub: `subject of ${email}`, email, email_verified: true, ...given };
  return switches.account;
};
const tokenRequests = () => provider.hits.filter((path) => path === '/token').length;
beforeEach(() => {
  provider.reset();
  switches.answer = 'page';
  atProvider();
});

const ACME = {
  OIDC_PROVIDERS: 'acme',
  OIDC_ACME_ISSUER: issuer,
  OIDC_ACME_CLIENT_ID: CLIENT.id,
  OIDC_ACME_CLIENT_SECRET: CLIENT.secret,
};
const press = async ({ page, submit }: Tab, form: string, button: '#log-in' | '#cancel' = '#log-in') => {
  await submit(form);
  await page.locator(button).click();
};
const says = ({ page }: Tab, text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor();

describe.runIf(KINDS.length > 0)('the pages for users, with a provider', () => {
  const { service, application, address, pass, visitor, tab } = openUserPages(ACME);
  const logInPath = () => `/auth/log-in?${new URLSearchParams({ to: application().publish('') })}`;
  const toAccount = ({ page }: Tab) => page.waitForURL(`${address('/auth/account')}*`);
  /** A user who has registered with the provider, at the settings of factors. */
  const registered = async (own: Visitor) => {
    await own.open('/auth/register');
    await press(own, 'register.provider');
    await toAccount(own);
    await own.follow('/auth/account/factors');
  };

  describe.each(KINDS)('in $browser with script: $script', (kind) => {
    it('lead to the provider, and to what the visitor came for; Back does nothing again', async () => {
      const own = await visitor(kind);
      await own.open(logInPath());
      if (kind.script) expect(await axeFaultsOf(own.page)).toEqual([]);
      await press(own, 'log-in.provider');
      await own.page.waitForURL(`${application().origin}/**`);
      expect(own.page.url()).toMatch(/\?tandem=logged-in$/);
      await own.open('/auth/account');
      await own.isAt('/auth/account');
      const email = own.form('account.email').locator('[name=email]');
      expect(await email.inputValue()).toBe(switches.account.email);
      expect(own.faults).toEqual([]);
      // Playwright does not notice what Firefox takes from its back/forward cache.
      if (kind.browser === 'firefox') return;
      const asked = tokenRequests();
      await own.page.goBack({ waitUntil: 'commit' });
      // The page is of another site, so of another process: until it answers, Chromium refuses to go on.
      await own.page.locator('body').waitFor({ state: 'attached' });
      await own.page.goBack({ waitUntil: 'commit' });
      expect(own.page.url()).toContain(issuer);
      expect(tokenRequests()).toBe(asked);
    });

    it('say that the visitor has cancelled, and keep what they came for', async () => {
      const own = await visitor(kind);
      await own.open(logInPath());
      await press(own, 'log-in.provider', '#cancel');
      await says(own, errors.AUTH_IDENTITY_UNPROVEN);
      await press(own, 'log-in.provider');
      await own.page.waitForURL(`${application().origin}/**`);
    });

    it('say that the provider does not answer, and register when it does', async () => {
      switches.faults = { '/token': 'error' };
      const own = await visitor(kind);
      await own.open('/auth/register');
      await press(own, 'register.provider');
      await says(own, errors.SYS_PROVIDER_UNAVAILABLE);
      expect(own.at()).toBe('/auth/register');
      switches.faults = {};
      await press(own, 'register.provider');
      await toAccount(own);
    });

    it('say what to do when the address has an account that is not linked', async () => {
      const { person } = await signUp(service());
      atProvider(person.email, { email_verified: false });
      const own = await visitor(kind);
      await own.open('/auth/log-in');
      await press(own, 'log-in.provider');
      await says(own, errors.AUTH_IDENTITY_CONFLICT);
      await own.submit('log-in.log-in', { account: person.username, password: person.password });
      await own.follow('/auth/account/factors');
      await press(own, 'factors.link');
      await own.page.getByText(`${switches.account.email} `).waitFor();
      await own.isAt('/auth/account/factors');
      if (kind.script) expect(await axeFaultsOf(own.page)).toEqual([]);
      await own.submit('factors.unlink');
      await own.isAt('/auth/account/factors', 'removed');
      expect(own.faults).toEqual([]);
    });

    it('do not unlink the last way in, nor link what is linked to another account', async () => {
      const own = await visitor(kind);
      await registered(own);
      await own.submit('factors.unlink');
      await says(own, pages.factors.AUTH_IDENTITY_CONFLICT);
      expect(await own.form('factors.unlink').count()).toBe(1);
      const { sub: subject } = atProvider();
      await linked(service(), (await signUp(service())).user, { issuer, subject });
      await press(own, 'factors.link');
      await says(own, pages.factors.AUTH_IDENTITY_CONFLICT);
      expect(await own.form('factors.unlink').count()).toBe(1);
    });

    it('ask for a second factor after the provider, and take the provider for a step-up', async () => {
      const own = await visitor(kind);
      await registered(own);
      await own.submit('factors.start-app');
      const code = codesOf((await own.page.locator('main p > code').textContent()) ?? '');
      const now = () => service().ports.clock.now();
      await own.submit('factors.app', { code: code(now()) });
      await own.open('/auth/log-out');
      await own.submit('log-out.log-out');
      await own.open(logInPath());
      await press(own, 'log-in.provider');
      await own.page.waitForURL('**/auth/second-factor*');
      await own.submit('second-factor.second-factor', { code: code(now()) });
      expect(own.page.url()).toContain(`${application().origin}/auth/page-`);
      pass(6 * MINUTE);
      await own.open('/auth/account/factors');
      await press(own, 'step-up.provider');
      await own.page.waitForURL('**/auth/second-factor*');
      await own.submit('second-factor.second-factor', { code: code(now()) });
      await own.isAt('/auth/account/factors');
      pass(-6 * MINUTE);
    });

    it('let two tabs sign in, and end each sign-in once, in the browser that has begun it', async () => {
      const own = await visitor(kind);
      const other = await tab(own);
      for (const each of [own, other]) {
        await each.open('/auth/log-in');
        await each.submit('log-in.provider');
        await each.page.locator('#log-in').waitFor();
      }
      let callback = '';
      switches.callback = (url) => {
        callback = url.href;
      };
      for (const each of [own, other]) {
        await each.page.locator('#log-in').click();
        await toAccount(each);
      }
      await own.open('/auth/log-out');
      await own.submit('log-out.log-out');
      const stranger = await visitor(kind);
      for (const each of [own, stranger]) {
        await each.open(callback);
        await each.page.getByText(pages.failed.AUTH_IDENTITY_UNPROVEN).waitFor();
        await each.open('/auth/account');
        expect(each.at()).toBe('/auth/log-in?to=%2Fauth%2Faccount');
      }
    });

    it('end a sign-in once when two tabs come back at once', async () => {
      const own = await visitor(kind);
      await own.open('/auth/log-in');
      await own.submit('log-in.provider');
      let callback = '';
      switches.callback = (url) => {
        callback = url.href;
        url.search = '';
      };
      await own.page.locator('#log-in').click();
      await own.page.getByText(pages.failed.AUTH_IDENTITY_UNPROVEN).waitFor();
      const other = await tab(own);
      const asked = tokenRequests();
      // The one that comes second is refused, and led to the log-in, which knows by then who is there, or says so.
      await Promise.all([own, other].map((each) => each.page.goto(callback)));
      expect(tokenRequests()).toBe(asked + 1);
      await other.open('/auth/account');
      await other.isAt('/auth/account');
    });
  });
});

describe.runIf(KINDS.length > 0)(
  'with cookies that browsers send to no page after a redirect from another site',
  () => {
    const { address, visitor } = openUserPages({ ...ACME, JWT_REFRESH_COOKIE_SAME_SITE: 'strict' });
    it.each(KINDS)(
      'the pages know who has logged in at the provider, in $browser with script: $script',
      async (kind) => {
        const own = await visitor(kind);
        await own.open('/auth/log-in?to=%2Fauth%2Faccount%2Fhistory');
        await press(own, 'log-in.provider', '#cancel');
        await says(own, errors.AUTH_IDENTITY_UNPROVEN);
        await press(own, 'log-in.provider');
        await own.page.waitForURL(`${address('/auth/account/history')}*`);
      },
    );
  },
);
