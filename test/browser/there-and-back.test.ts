import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openApplications } from '../support/browser/applications.ts';
import { logInAtService, logOutAtService, registerAtService } from '../support/browser/at-service.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { bindingIn, changesIn, importing, refreshIn, restoredIn, sessionsIn } from '../support/browser/client-page.ts';

/** The application has the address that it had, and that user. */
const backAt = async (tab: Page, home: string, username: string | undefined): Promise<void> => {
  await tab.waitForURL(({ origin }) => home.startsWith(origin));
  expect(await restoredIn(tab)).toBe(username);
  expect(tab.url()).toBe(home);
};

describe.runIf(canBrowse())('an application without a page of its own', () => {
  const { world } = openApplications();

  /** Tabs of the application, which have no hint of a session. */
  const start = async () => {
    const { browser, apps, service } = world();
    await browser.clearCookies();
    const address = apps[0].publish(importing(service));
    return async (): Promise<Page> => {
      const tab = await browser.newPage();
      onTestFinished(() => tab.close());
      await tab.goto(`${address}?tab=1#top`);
      await tab.evaluate((name) => localStorage.removeItem(name), `tandem:${service}`);
      await tab.reload();
      expect(await restoredIn(tab)).toBeUndefined();
      return tab;
    };
  };
  const registerIn = async (tab: Page) => {
    const home = tab.url();
    await tab.evaluate(() => globalThis.page?.auth.logInAt());
    const person = await registerAtService(tab);
    await backAt(tab, home, person.username);
    return person;
  };

  it('gets its users from the pages of the service, and finds the key of their device', async () => {
    const open = await start();
    const [tab, other] = [await open(), await open()];
    const { username, password } = await registerIn(tab);
    expect(await bindingIn(tab)).toBe('device');
    expect(await refreshIn(tab)).toBe(username);
    expect(await sessionsIn(tab)).toMatchObject([{ binding: 'device' }]);
    await other.waitForFunction((name) => globalThis.page?.auth.user?.username === name, username);
    expect((await changesIn(other))[0]).toBe('login');

    const home = tab.url();
    await tab.goto((await tab.evaluate(() => globalThis.page?.auth.linkTo('log-out'))) ?? '');
    await logOutAtService(tab);
    await backAt(tab, home, undefined);
    await other.waitForFunction(() => globalThis.page?.auth.user === null);

    await tab.evaluate(() => globalThis.page?.auth.logInAt());
    await logInAtService(tab, { username, password });
    await backAt(tab, home, username);
    expect(await bindingIn(tab)).toBe('device');
  });
});
