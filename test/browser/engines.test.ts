import { beforeAll, describe, expect, it } from 'vitest';
import { clientPage } from '../support/browser/client-page.ts';
import { ENGINES, openWindow, type Window } from '../support/browser/engines.ts';
import { openSite, type Site } from '../support/browser/site.ts';
import { aPerson, hasher, startService, type TestService } from '../support/http/service.ts';
import { freePort } from '../support/servers/free-port.ts';

const MINUTE = 60_000;

/** What the page of the application says. */
const USER = 'page.auth.ready.then((user) => user?.username ?? null)';
const SESSIONS = 'page.auth.sessions.list().then((all) => all.map(({ binding }) => binding))';

describe.runIf(ENGINES.length > 0).each(ENGINES)('in %s', (engine) => {
  let service: TestService;
  let ahead = 0;
  let site: Site;
  beforeAll(async () => {
    site = await openSite('localhost');
    const port = `${await freePort()}`;
    // With several applications, WebKit has no key.
    const env = { PORT: port, BASE_URL: `http://localhost:${port}`, ALLOWED_ORIGINS_DEV: site.origin };
    service = await startService(env, { hasher, clock: { now: () => Date.now() + ahead } });
  });
  const baseUrl = () => service.config.baseUrl;
  const application = () => `${site.publish(clientPage(baseUrl()))}?tab=1#top`;

  /** Waits until the window is at an address that begins so, and the page is loaded. */
  const arrives = ({ run }: Window, address: string) =>
    expect.poll(() => run(`document.readyState === 'complete' ? location.href : ''`).catch(String)).toContain(address);
  const loaded = async (window: Window, address: string): Promise<unknown> => {
    await arrives(window, address);
    await expect.poll(() => window.run('typeof page').catch(String)).toBe('object');
    return window.run(USER);
  };
  const submit = ({ run }: Window, form: string, fields: object) =>
    run(`(() => {
      const form = document.querySelector('form[data-form="${form}"]');
      for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements[name].value = value;
      setTimeout(() => form.querySelector('button:not([type])').click());
    })()`);
  const openSettings = async (window: Window) => {
    await window.run(`void setTimeout(() => location.assign(page.auth.linkTo('account')))`);
    await arrives(window, `${baseUrl()}/auth/account`);
    expect(await window.run(`document.querySelector('[role=alert]')`)).toBeNull();
  };

  it('an own form: the user stays after a reload, and reaches the settings, which know the device', async () => {
    const [window, person, at] = [await openWindow(engine), aPerson(), application()];
    await window.open(at);
    await loaded(window, at);
    await window.run(`page.auth.register(${JSON.stringify(person)})`);
    expect(await window.run(SESSIONS)).toEqual(['device']);
    await window.open(at.replace('tab=1', 'tab=2'));
    expect(await loaded(window, 'tab=2')).toBe(person.username);
    for (const passed of [0, 11 * MINUTE]) {
      ahead += passed;
      await openSettings(window);
      await window.open(at);
      expect(await loaded(window, at)).toBe(person.username);
    }
    expect(await window.run(SESSIONS)).toEqual(['device']);
    expect(await window.run(`page.auth.fetch('${baseUrl()}/users/me/events').then((all) => all.text())`)).not.toContain(
      'device-unproven',
    );
  });

  it('the pages: a session is bound to the key of the application, which reaches the settings', async () => {
    const [window, person, at] = [await openWindow(engine), aPerson(), application()];
    await window.open(at);
    await loaded(window, at);
    await window.run('void setTimeout(() => page.auth.logInAt())');
    await arrives(window, `${baseUrl()}/auth/log-in`);
    const canUsePasskeys = await window.run(`!!globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON`);
    expect(await window.run(`document.querySelector('[data-form="log-in.passkey"]').hidden`)).toBe(!canUsePasskeys);
    await submit(window, 'log-in.account', { account: 'ada' });
    await arrives(window, 'next=password');
    await window.run(`void setTimeout(() => history.back())`);
    await expect
      .poll(() => window.run(`document.readyState === 'complete' ? location.search : 'next='`).catch(() => 'next='))
      .not.toContain('next=');
    expect(await window.run(`document.querySelector('[name=account]').value`)).toBe('ada');
    await window.run(`void setTimeout(() => document.querySelector('a[href*="/auth/register"]').click())`);
    await arrives(window, '/auth/register');
    await submit(window, 'register.register', person);
    expect(await loaded(window, at)).toBe(person.username);
    expect(await window.run('page.auth.binding')).toBe('device');
    expect(await window.run(SESSIONS)).toEqual(['device']);
    expect(await window.run('page.auth.refresh().then((user) => user.username)')).toBe(person.username);
    await openSettings(window);
  });

  it('the pages: the session is bound also after the offer of a passkey, which takes minutes', async () => {
    const [window, person, at] = [await openWindow(engine), aPerson(), application()];
    await window.open(at);
    await loaded(window, at);
    await window.run(`void setTimeout(() => location.assign(page.auth.linkTo('register')))`);
    await arrives(window, '/auth/register');
    // As on a device that makes passkeys.
    await window.run(`(() => {
      const form = document.querySelector('form[data-form="register.register"]');
      form.elements.to.value = form.dataset.offers;
    })()`);
    await submit(window, 'register.register', person);
    await arrives(window, '/auth/new-passkey');
    ahead += 2 * MINUTE;
    await window.run(`void setTimeout(() => document.querySelector('.more a').click())`);
    expect(await loaded(window, at)).toBe(person.username);
    expect(await window.run(SESSIONS)).toEqual(['device']);
  });
});
