// Proves app-3

import { describe, expect, it } from 'vitest';
import { eventsOf } from '../../src/application/storage/events.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { addAuthenticator } from '../support/browser/passkey-page.ts';
import { CHROMIUM, codesOf, openUserPages, TEXTS } from '../support/browser/user-pages.ts';
import { APP_LINK, anApp } from '../support/http/app-login.ts';
import { pathOfPage } from '../support/http/page-visitor.ts';
import { aPerson } from '../support/http/service.ts';

const MINUTE = 60_000;

describe.runIf(canBrowse())('the pages for users', () => {
  const { service, application, address, pass, visitor } = openUserPages({ APP_LINKS: APP_LINK });
  const now = () => service().ports.clock.now();
  /** Somebody who has registered, at the account. */
  const registered = async () => {
    const person = aPerson();
    const own = await visitor(CHROMIUM);
    await own.open('/auth/register');
    await own.submit('register.register', person);
    return { ...person, ...own };
  };

  it('make a passkey, log in with it by the button and by autofill, and take it as a second factor and at a step-up', async () => {
    const { username, password, page, form, open, submit, follow, isAt, faults } = await registered();
    const authenticator = await addAuthenticator(page);
    await follow('/auth/account/factors');
    await submit('factors.passkey');
    await isAt('/auth/account/factors', 'passkey');
    // Its name is asked for, without a press that opens the form.
    await form('factors.rename-passkey').locator('[name=name]').fill('Laptop');
    await submit('factors.rename-passkey');
    await isAt('/auth/account/factors', 'saved');
    expect(await page.locator('main strong').allTextContents()).toContain('Laptop');
    expect(await authenticator.ids()).toHaveLength(1);
    const logOut = async () => {
      await open('/auth/log-out');
      await submit('log-out.log-out');
    };

    // The authenticator answers the request that waits in the field of the name.
    await logOut();
    await page.waitForURL('**/auth/account');
    // From here on, it answers the buttons alone.
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
    await logOut();
    await submit('log-in.passkey');
    await isAt('/auth/account');

    pass(6 * MINUTE);
    await open('/auth/account/factors');
    await isAt('/auth/step-up?to=%2Fauth%2Faccount%2Ffactors');
    await submit('step-up.passkey');
    await isAt('/auth/account/factors');
    await submit('factors.start-app');
    const code = codesOf((await page.locator('main p > code').textContent()) ?? '');
    await submit('factors.app', { code: code(now()) });
    await isAt('/auth/recovery-codes');

    await logOut();
    await submit('log-in.log-in', { account: username, password });
    await isAt('/auth/second-factor?to=%2Fauth%2Fnew-passkey');
    expect(await form('second-factor.passkey').isVisible()).toBe(true);
    await submit('second-factor.passkey');
    await isAt('/auth/account');
    expect(faults).toEqual([]);
  });

  it('say that no passkey came, and why in the console', async () => {
    const { page, form, follow, open, submit, faults } = await registered();
    await page.addInitScript(`
      const refuse = () => Promise.reject(new DOMException('the domain is another one', 'SecurityError'));
      Object.assign(navigator.credentials, { create: refuse, get: refuse });
      PublicKeyCredential.isConditionalMediationAvailable = async () => false;`);
    const says = async (name: string) => {
      await form(name).locator('button').click();
      await page.getByRole('alert').waitFor();
      expect(await page.locator('main > .notice').allTextContents()).toEqual([TEXTS.errors['no-passkey']]);
    };
    await follow('/auth/account/factors');
    await says('factors.passkey');
    await says('factors.passkey');
    await open('/auth/log-out');
    await submit('log-out.log-out');
    await says('log-in.passkey');
    expect(faults).toEqual(Array(3).fill(expect.stringContaining('SecurityError')));
  });

  it('have the browser forget a passkey that was removed', async () => {
    const { page, follow, submit, isAt } = await registered();
    const authenticator = await addAuthenticator(page);
    await follow('/auth/account/factors');
    await submit('factors.passkey');
    expect(await authenticator.ids()).toHaveLength(1);
    await submit('factors.remove-passkey');
    await isAt('/auth/account/factors', 'removed');
    await expect.poll(authenticator.ids).toEqual([]);
  });

  it('know a session that is bound to its device again, once it has proven its key, without a word', async () => {
    const { page, context, form, open, submit, isAt, faults, requests } = await registered();
    expect(await page.locator('main').textContent()).toContain(TEXTS.common.bound);
    await context.clearCookies({ name: 'page_visitor' });
    await open('/auth/account');
    await page.waitForURL('**/auth/account');
    await isAt('/auth/account');
    expect(requests.filter((sent) => sent.url().includes('/auth/prove?to=%2Fauth%2Faccount'))).toHaveLength(1);
    await submit('account.language', { locale: 'de' });
    expect(await form('account.language').locator('[name=locale]').inputValue()).toBe('de');
    await open(pathOfPage('app', anApp().to));
    await submit('app.app');
    expect(await page.locator('meta[http-equiv=refresh]').getAttribute('content')).toContain('&code=');
    expect(faults).toEqual([]);
  });

  describe('in a browser that keeps the key elsewhere', () => {
    /** Somebody whose session has a key that these pages do not have. */
    const apart = async () => {
      const own = await registered();
      await own.page.addInitScript("Object.defineProperty(navigator, 'vendor', { value: 'Apple Computer, Inc.' })");
      await own.context.clearCookies({ name: 'page_visitor' });
      const alarms = async () => {
        const user = await service().ports.users.findByUsername(own.username);
        const events = await eventsOf(service().ports.records, { userId: user?.id ?? '', before: null, limit: 20 });
        return [await own.page.getByRole('alert').count(), ...events.map(({ kind }) => kind)];
      };
      return { ...own, alarms };
    };
    const LOG_IN = '**/auth/log-in?to=%2Fauth%2Faccount';

    it.each([
      ['/auth/account', 'without an application'],
      ['/auth/prove?to=%2Fauth%2Faccount#proof=a.b.c', 'with a proof that nobody has asked for'],
    ])('ask for a log-in, without an alarm: %s, %s', async (path) => {
      const { open, page, alarms } = await apart();
      await open(path);
      await page.waitForURL(LOG_IN);
      expect(await alarms()).toEqual([0, 'registered']);
    });

    it('ask the application once, which does not answer, and then for a log-in', async () => {
      const { open, page, alarms } = await apart();
      const to = application().publish('an application without the client');
      const settings = address(`/auth/account?to=${encodeURIComponent(to)}`);
      await open(settings);
      await page.waitForURL(`${to}?tandem=%2Fauth%2Faccount`);
      await open(settings);
      await page.waitForURL(`${LOG_IN}%3Fto%3D*`);
      expect(await alarms()).toEqual([0, 'registered']);
    });
  });

  it('cannot be used with the cookies of another device alone', async () => {
    const { context } = await registered();
    const thief = await visitor(CHROMIUM);
    await context.clearCookies({ name: 'page_visitor' });
    await thief.context.addCookies(await context.cookies());
    await thief.open('/auth/account');
    await thief.page.getByRole('alert').waitFor();
    expect(thief.at()).toMatch(/^\/auth\/log-in/);
    expect(await thief.page.locator('form[data-form^="account"]').count()).toBe(0);
  });
});
