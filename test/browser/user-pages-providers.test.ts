import { beforeEach, describe, expect, it } from 'vitest';
import { axeFaultsOf } from '../support/browser/faults.ts';
import {
  CHROMIUM,
  codesOf,
  KINDS,
  openUserPages,
  type Tab,
  TEXTS,
  type Visitor,
} from '../support/browser/user-pages.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { CLIENT, startProvider } from '../support/oidc/provider.ts';

const MINUTE = 60_000;
const { errors } = TEXTS;
const provider = await startProvider();
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
  const { service, application, address, pass, visitor } = openUserPages(ACME);
  const logInPath = () => `/auth/log-in?${new URLSearchParams({ to: application().publish('') })}`;
  const toAccount = ({ page }: Tab) => page.waitForURL(`${address('/auth/account')}*`);
  /** A user who has registered with the provider, at the settings of factors. */
  const registered = async (own: Visitor) => {
    await own.open('/auth/register');
    await press(own, 'register.provider');
    await toAccount(own);
    await own.follow('/auth/account/factors');
  };

  describe.each(KINDS.filter(({ browser }) => browser === 'chromium'))('with script: $script', (kind) => {
    it('lead to the provider, and to what the visitor came for; Back does nothing again', async () => {
      const own = await visitor(kind);
      await own.open(logInPath());
      if (kind === CHROMIUM) expect(await axeFaultsOf(own.page)).toEqual([]);
      await press(own, 'log-in.provider');
      await own.page.waitForURL(`${application().origin}/**`);
      expect(own.page.url()).toMatch(/\?tandem=logged-in$/);
      await own.open('/auth/account');
      await own.isAt('/auth/account');
      const email = own.form('account.email').locator('[name=email]');
      expect(await email.inputValue()).toBe(switches.account.email);
      expect(own.faults).toEqual([]);
      const asked = tokenRequests();
      await own.page.goBack({ waitUntil: 'commit' });
      // The page is of another site, so of another process: until it answers, Chromium refuses to go on.
      await own.page.locator('body').waitFor({ state: 'attached' });
      await own.page.goBack({ waitUntil: 'commit' });
      expect(own.page.url()).toContain(issuer);
      expect(tokenRequests()).toBe(asked);
    });

    if (!kind.script) return;

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
      if (kind === CHROMIUM) expect(await axeFaultsOf(own.page)).toEqual([]);
      await own.submit('factors.unlink');
      await own.isAt('/auth/account/factors', 'removed');
      expect(own.faults).toEqual([]);
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
