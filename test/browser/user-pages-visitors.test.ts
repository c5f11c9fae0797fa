import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import DE from '../../src/adapters/http/pages/templates/de.json' with { type: 'json' };
import { canBrowse } from '../support/browser/chromium.ts';
import { CHROMIUM, codesOf, openUserPages, TEXTS } from '../support/browser/user-pages.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';

/** What a password manager fills in and saves, in this order. HTML standard, "Autofill". */
const FIELDS = {
  '/auth/log-in': { 'log-in.account': ['text username webauthn'] },
  '/auth/log-in?next=password': { 'log-in.log-in': ['text username', 'password current-password'] },
  '/auth/register': { 'register.register': ['text username', 'email email', 'password new-password'] },
  '/auth/link/password-reset': { 'password-reset.password-reset': ['text username', 'password new-password'] },
  '/auth/account': {
    'account.password': ['text username', 'password current-password', 'password new-password'],
    'account.email': ['text username', 'email email', 'password current-password'],
  },
  '/auth/account/delete': { 'delete.delete': ['text username', 'password current-password'] },
};

const fieldsOf = (form: Locator): Promise<readonly string[]> =>
  form
    .locator('input[autocomplete]:not([autocomplete=off])')
    .evaluateAll((all) => all.map((input) => `${input.getAttribute('type')} ${input.getAttribute('autocomplete')}`));

describe.runIf(canBrowse())('the pages for users', () => {
  const { service, visitor } = openUserPages();
  const logIn = async ({ submit }: Awaited<ReturnType<typeof visitor>>) => {
    const { person } = await signUp(service());
    await submit('log-in.log-in', { account: person.username, password: person.password });
  };

  it('have the fields that password managers look for, in forms that navigate', async () => {
    const own = await visitor(CHROMIUM);
    for (const [path, forms] of Object.entries(FIELDS)) {
      if (path === '/auth/account') {
        await own.open('/auth/log-in');
        await logIn(own);
      }
      if (path.endsWith('next=password')) await own.submit('log-in.account', { account: 'ada' });
      await own.open(path);
      for (const [name, fields] of Object.entries(forms))
        expect([name, ...(await fieldsOf(own.form(name)))]).toEqual([name, ...fields]);
    }
  });

  it('are in the language of the browser', async () => {
    const { page, open } = await visitor(CHROMIUM, { locale: 'de-AT' });
    await open('/auth/log-in');
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    expect(await page.locator('h1').textContent()).toBe(DE.pages['log-in'].title);
  });

  it('take forms behind a proxy that adds `Referrer-Policy: no-referrer`', async () => {
    const own = await visitor(CHROMIUM);
    await own.context.route('**/auth/log-in*', async (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const response = await route.fetch();
      return route.fulfill({ response, headers: { ...response.headers(), 'referrer-policy': 'no-referrer' } });
    });
    await own.open('/auth/log-in');
    await logIn(own);
    await own.isAt('/auth/account');
    const [sent] = own.posts();
    expect((await sent?.allHeaders())?.origin).toBe('null');
  });

  it('tell somebody whose browser refuses cookies', async () => {
    const own = await visitor({ ...CHROMIUM, own: { as: 'full', cookies: 'blocked' } });
    await own.open('/auth/log-in');
    await logIn(own);
    expect(own.at()).toMatch(/^\/auth\/log-in/);
    expect(await own.page.getByRole('status').textContent()).toContain(TEXTS.notices['no-cookie']);
    expect(await own.context.cookies()).toEqual([]);
  });

  it('ask for a second factor before an export, and save no page as its file', async () => {
    const { page, open, submit, follow, at, isAt } = await visitor(CHROMIUM);
    const { username, email, password } = aPerson();
    const logInAgain = async () => {
      await open('/auth/log-out');
      await submit('log-out.log-out');
      await submit('log-in.log-in', { account: username, password });
    };
    await open('/auth/register');
    await submit('register.register', { username, email, password });
    await open('/auth/account/factors');
    await submit('factors.start-app');
    const code = codesOf((await page.locator('main code').first().textContent()) ?? '');
    await submit('factors.app', { code: code(Date.now()) });
    await logInAgain();
    await submit('second-factor.second-factor', { code: code(Date.now()), remember: true });
    await logInAgain();
    await isAt('/auth/account');
    await follow('/auth/account/export');
    expect(at()).toBe('/auth/step-up?to=%2Fauth%2Faccount');
  });
});
