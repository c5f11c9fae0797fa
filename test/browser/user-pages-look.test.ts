import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import { screenshot } from '../support/browser/console.ts';
import { axeFaultsOf } from '../support/browser/faults.ts';
import { CHROMIUM, codesOf, openUserPages, type Visitor } from '../support/browser/user-pages.ts';
import { aPerson } from '../support/http/service.ts';

/** The second one differs in colours. */
const LOOKS = [
  { colorScheme: 'light', width: 320, height: 640, rules: undefined },
  { colorScheme: 'dark', width: 1280, height: 800, rules: ['color-contrast'] },
] as const;
const LINK_PAGES = [
  'password-reset',
  'email-verification',
  'not-me',
  'email-change',
  'email-change-undo',
  'factors-undo',
];

/** The element that has the focus, and its outline. */
const FOCUSED = `(({ ariaLabel, labels, textContent, tagName }, style) => [tagName, ariaLabel ?? labels?.[0]?.textContent ?? textContent, style.outlineStyle, style.outlineWidth].join(' '))(document.activeElement, getComputedStyle(document.activeElement))`;

/** Axe finds no fault, and nothing has to be scrolled sideways: also from right to left, and with text of twice the size. */
const looksRight = async (page: Page, name: string): Promise<void> => {
  const overflow = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');
  for (const { colorScheme, rules, ...size } of LOOKS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    const look = `${name} ${colorScheme} ${size.width}`;
    expect([look, await overflow(), ...(await axeFaultsOf(page, rules))]).toEqual([look, 0]);
    await screenshot(page, `user-pages ${look}`);
  }
  for (const [way, width, change] of [
    ['right to left', 320, `document.documentElement.dir = 'rtl'`],
    ['at 200 %', 640, `document.documentElement.style.fontSize = '200%'`],
  ] as const) {
    await page.setViewportSize({ width, height: 640 });
    await page.evaluate(change);
    expect([name, way, await overflow()]).toEqual([name, way, 0]);
    await screenshot(page, `user-pages ${name} ${way}`);
  }
};

describe.runIf(canBrowse())('the look of the pages for users', () => {
  const { visitor, service } = openUserPages({ BRAND_NAME: 'Acme', LOGIN_BY_CODE: 'on' });

  const registered = async (): Promise<Visitor & ReturnType<typeof aPerson>> => {
    const [tab, person] = [await visitor(CHROMIUM), aPerson()];
    await tab.open('/auth/register');
    await tab.submit('register.register', person);
    return { ...tab, ...person };
  };

  it.each([
    'log-in',
    'code',
    'register',
    'forgot',
    'verify',
    'check-mail',
    'link/done',
    ...LINK_PAGES.map((name) => `link/${name}`),
  ])('is right on /auth/%s', async (path) => {
    const { page, open, faults } = await visitor(CHROMIUM);
    await open(`/auth/${path}`);
    await looksRight(page, path.replace('/', ' '));
    expect(faults).toEqual([]);
  });

  it.each([
    ['light', 'rgb(132, 139, 133)', 'rgb(255, 255, 255)', 'rgb(20, 100, 58)'],
    ['dark', 'rgb(124, 132, 125)', 'rgb(25, 29, 26)', 'rgb(134, 217, 164)'],
  ] as const)('has edges, grounds and colours in browsers of 2022: %s', async (colorScheme, edge, ground, colour) => {
    const { page, open, submit, context } = await visitor(CHROMIUM);
    // Functions that came to Safari and Firefox later.
    await context.route('**/user-pages.css', async (route) => {
      const response = await route.fetch();
      return route.fulfill({ response, body: (await response.text()).replaceAll(/light-dark\(|oklch\(/g, 'unknown(') });
    });
    await page.emulateMedia({ colorScheme });
    await open('/auth/log-in');
    const styleOf = (selector: string) =>
      page.evaluate(
        `(({ borderColor, borderStyle, backgroundColor, color }) => ({ borderColor, borderStyle, backgroundColor, color }))(getComputedStyle(document.querySelector('${selector}')))`,
      );
    const field = { borderStyle: 'solid', borderColor: edge, backgroundColor: ground };
    expect(await styleOf('input[name=account]')).toMatchObject(field);
    const button = { borderStyle: 'solid', backgroundColor: ground };
    expect(await styleOf('[data-form="log-in.account"] > button')).toMatchObject({ backgroundColor: colour });
    expect(await styleOf('main a')).toMatchObject({ color: colour });
    await submit('log-in.account', { account: 'ada' });
    expect(await styleOf('button[data-form="log-in.code"]')).toMatchObject(button);
  });

  it('is right with errors, which the title says', async () => {
    const { page, open, submit } = await visitor(CHROMIUM);
    await open('/auth/log-in');
    await submit('log-in.log-in', { account: 'nobody', password: 'wrong horse battery' });
    expect(await page.title()).toBe('Error: Log in · Acme');
    await looksRight(page, 'log-in refused');
    await open('/auth/register');
    await submit('register.register', { username: 'a', email: 'a@example.org', password: 'short' });
    expect(await page.locator('[aria-invalid]').count()).toBe(2);
    await looksRight(page, 'register refused');
  });

  it('is right in the settings, and every button has a name of its own', async () => {
    const { page, open, submit, username, password } = await registered();
    await service().http.post('/auth/login').set('User-Agent', 'Old telephone').send({ account: username, password });
    for (const path of ['account', 'account/factors', 'account/history', 'account/delete', 'log-out']) {
      await open(`/auth/${path}`);
      const names = await page
        .locator('button:visible')
        .evaluateAll((all) => all.map((each) => each.ariaLabel ?? each.textContent));
      expect([path, ...new Set(names)]).toEqual([path, ...names]);
      await looksRight(page, path.replace('/', ' '));
    }
    await open('/auth/account');
    await submit('account.username', { username: `${username}-2` });
    await looksRight(page, 'account saved');
  });

  it('is right while an app is added and used; recovery codes are printed with whose they are', async () => {
    const { page, open, submit, follow, username, password } = await registered();
    await open('/auth/account/factors');
    await submit('factors.start-app');
    await looksRight(page, 'app');
    await page.emulateMedia({ forcedColors: 'active' });
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.qr')).backgroundColor`)).toBe(
      'rgb(255, 255, 255)',
    );
    await screenshot(page, 'user-pages app forced colours');
    await page.emulateMedia({ forcedColors: 'none' });
    const code = codesOf(((await page.locator('main p > code').textContent()) ?? '').replaceAll(' ', ''));
    await submit('factors.app', { code: code(Date.now()) });
    await looksRight(page, 'recovery-codes');
    await page.emulateMedia({ media: 'print' });
    const printed = (await page.locator('header, main > *').filter({ visible: true }).allTextContents()).join('\n');
    expect(printed).toMatch(new RegExp(`Acme · ${username}(\\s+(\\w{4}-?){6}){10}\\s*$`));
    await page.emulateMedia({ media: 'screen' });

    await open('/auth/log-out');
    await submit('log-out.log-out');
    await looksRight(page, 'logged out');
    await submit('log-in.log-in', { account: username, password });
    await looksRight(page, 'second-factor');
    await page.emulateMedia({ media: 'print' });
    const visible = page.locator('main').filter({ hasText: 'Ask those who run this service' });
    await visible.getByText('Your account asks for a second step.').waitFor();
    await visible.getByText('Neither at hand?').waitFor();
    expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0);
    await page.emulateMedia({ media: 'screen' });
    await submit('second-factor.second-factor', { code: '000000' });
    await looksRight(page, 'second-factor refused');
    await submit('second-factor.second-factor', { code: code(Date.now()) });
    await follow('/auth/account/factors');
    await looksRight(page, 'factors with items');
  });

  it('can be used with the keyboard alone: everything has the focus once, in the order in which it is read, and shows it', async () => {
    const { page, open } = await visitor(CHROMIUM);
    await open('/auth/log-in');
    const focused: string[] = [];
    const press = async (times: number) => {
      await page.locator('h1').click();
      for (let at = 0; at < times; at += 1) {
        await page.keyboard.press('Tab');
        focused.push(await page.evaluate(FOCUSED));
      }
    };
    await press(4);
    await page.locator('[name=account]').fill('ada');
    await page.keyboard.press('Enter');
    await page.locator('[name=password]:focus').waitFor();
    await press(7);
    expect(focused).toEqual(
      [
        'BUTTON Log in with a passkey',
        'INPUT Username or email',
        'BUTTON Continue',
        'A Create an account',
        'A Change: Username or email',
        'INPUT Password',
        'BUTTON Show the password: Password',
        'A Forgot your password?',
        'BUTTON Log in',
        'BUTTON Email me a code',
        'A Create an account',
      ].map((each) => `${each} solid 2px`),
    );
  });
});
