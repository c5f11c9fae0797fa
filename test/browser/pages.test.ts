// Proves ASVS 3.4.3, 14.2.3
import type { BrowserContext } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { canBrowse, openBrowser } from '../support/browser/chromium.ts';
import { axeFaultsOf, watchFaults } from '../support/browser/faults.ts';
import { startService, type TestService } from '../support/http/service.ts';

const PAGES = [
  ['/', 200],
  ['/docs', 200],
  ['/errors', 200],
  ['/errors/AUTH_USER_DUPLICATE', 200],
  ['/nowhere/at/all', 404],
] as const;
const SCHEMES = ['light', 'dark'] as const;
/** The second one differs in colours. */
const LOOKS = [
  ['light', 320, undefined],
  ['dark', 1280, ['color-contrast']],
] as const;

describe.runIf(canBrowse())('the pages in a browser', () => {
  let service: TestService;
  let browser: BrowserContext;
  beforeAll(async () => {
    ({ browser } = await openBrowser());
    service = await startService();
  });

  /** Opens a tab that notes what is wrong with the pages in it. */
  const open = async () => {
    const tab = await browser.newPage();
    onTestFinished(() => tab.close());
    const faults = await watchFaults(tab);
    const requested: string[] = [];
    tab.on('console', (message) => {
      // Chromium also reports the status of a page that is an error.
      if (message.location().url !== tab.url()) faults.push(`${message.type()}: ${message.text()}`);
    });
    tab.on('requestfailed', (request) => faults.push(`failed: ${request.url()}`));
    tab.on('request', (request) => requested.push(request.url()));
    return { tab, faults, requested };
  };

  it.each(PAGES)(
    '%s violates no policy, runs no foreign script, loads nothing from elsewhere, and has no fault that axe finds',
    async (path, status) => {
      const { tab, faults, requested } = await open();
      const response = await tab.goto(service.url + path);
      expect(response?.status()).toBe(status);
      expect(await response?.headerValue('content-type')).toBe('text/html; charset=utf-8');
      const scripts = await tab.evaluate('Array.from(document.scripts, ({ src }) => src)');
      expect(scripts).toEqual(path === '/docs' ? [`${service.url}/docs-filter.js`] : []);
      expect(await tab.evaluate('document.styleSheets.length')).toBe(1);
      expect(await tab.evaluate('getComputedStyle(document.body).paddingLeft')).not.toBe('0px');
      // All routes are alike: axe would take half a minute for them.
      await tab.evaluate(`document.querySelectorAll('article').forEach((each, at) => at > 3 && each.remove())`);
      for (const [colorScheme, width, rules] of LOOKS) {
        await tab.setViewportSize({ width, height: 800 });
        await tab.emulateMedia({ colorScheme });
        expect([colorScheme, ...(await axeFaultsOf(tab, rules))]).toEqual([colorScheme]);
        // Nothing has to be scrolled sideways.
        expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
      expect(requested.map((url) => new URL(url).origin)).toEqual(requested.map(() => service.url));
      expect(faults).toEqual([]);
    },
  );

  it('would be found to violate its policy', async () => {
    const { tab, faults } = await open();
    await tab.goto(service.url);
    await tab.evaluate(`document.body.setAttribute('style', 'color: red')`);
    await expect.poll(() => faults).toContainEqual(expect.stringContaining('violation: style-src-attr inline'));
  });

  it('are dark for who wants them dark', async () => {
    const { tab } = await open();
    await tab.goto(service.url);
    const background = async (colorScheme: (typeof SCHEMES)[number]) => {
      await tab.emulateMedia({ colorScheme });
      return tab.evaluate('getComputedStyle(document.body).backgroundColor');
    };
    expect(await background('light')).not.toBe(await background('dark'));
  });

  it('let the keyboard skip the navigation', async () => {
    const { tab } = await open();
    await tab.goto(service.url);
    await tab.keyboard.press('Tab');
    expect(await tab.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await tab.keyboard.press('Enter');
    await expect.poll(() => tab.evaluate('document.activeElement.id')).toBe('content');
  });

  it('show in /docs the routes that contain every word of the filter', async () => {
    const { tab, faults } = await open();
    await tab.goto(`${service.url}/docs`);
    const shown = tab.locator('article:visible h3');
    const all = await shown.count();
    await tab.getByLabel('Filter the routes').fill('PASSWORD-reset post');
    await expect
      .poll(() => shown.allTextContents())
      .toEqual(['', '/preview', '/confirm'].map((path) => `POST /auth/password-reset${path}`));
    expect(await tab.locator('nav li:visible').allTextContents()).toContain('POST /auth/password-reset');
    await tab.getByLabel('Filter the routes').fill('');
    await expect.poll(() => shown.count()).toBe(all);
    expect(faults).toEqual([]);
  });

  it('lead from the home page to the description of a route, and from there to an error', async () => {
    const { tab, faults } = await open();
    await tab.goto(service.url);
    await tab.getByRole('link', { name: 'API', exact: true }).last().click();
    await tab.getByRole('link', { name: 'POST /auth/register' }).click();
    await tab.waitForURL('**/docs#register');
    await tab
      .locator('article', { hasText: 'POST /auth/register' })
      .getByRole('link', { name: 'AUTH_USER_DUPLICATE' })
      .click();
    await tab.getByRole('heading', { level: 1, name: 'AUTH_USER_DUPLICATE' }).waitFor();
    expect(faults).toEqual([]);
  });
});
