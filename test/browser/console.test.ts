// Proves website-7
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { logInAtService, registerAtService } from '../support/browser/at-service.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { type Console, expectSettled, openConsoles, PHONE } from '../support/browser/console.ts';
import { aPerson } from '../support/http/service.ts';

const MARKUP = `<img src=x onerror="globalThis.hacked = true"><b>bold</b>`;
const PROTECTED = 'Protected: GET /users/me';

const isFocused = (element: Locator): Promise<boolean> => element.evaluate((it) => it.matches(':focus'));

/** Registers on the pages of the service, and comes back. */
const register = async ({ page, press }: Pick<Console, 'page' | 'press'>) => {
  await press('Log in or register');
  const person = await registerAtService(page);
  await page.getByText(`${person.username}, ${person.email}`).waitFor();
  return person;
};

describe.runIf(canBrowse())('the console', () => {
  const { open, service } = openConsoles();

  it('leads to the pages and back, refreshes, calls routes, ends a session, and logs out', async () => {
    const console = await open();
    const { page, press, hears, form, lines } = console;
    const topOf = async (name: string) => (await page.getByRole('button', { name, exact: true }).boundingBox())?.y;
    const settled = (name: string) =>
      expectSettled(page, name, async () => expect(await topOf('Show secrets')).toBe(await topOf('Clear')));
    await settled('1-start');

    const address = page.url();
    const { username: account, password, email } = await register(console);
    expect(page.url()).toBe(address);
    await form('Sessions').getByText('This session').waitFor();
    expect(await page.getByRole('progressbar').count()).toBe(2);
    await form('Tokens')
      .getByText(/^1[45] min \d+ s left of 15 min 0 s$/)
      .waitFor();
    await form('Tokens')
      .getByText(/^[67] d \d+ h left of 7 d 0 h$/)
      .waitFor();
    await form('Tokens').getByText('Claims').click();
    const claims = form('Tokens').locator('dl');
    expect(await claims.textContent()).toContain(email);
    const first = await claims.textContent();

    await press('Refresh');
    await hears('Both tokens are new.');
    await expect.poll(() => claims.textContent()).not.toBe(first);
    await press(PROTECTED);
    await hears('GET /users/me: 200');
    await press('Optional: GET /auth/session');
    await hears('GET /auth/session: 200');
    await page.getByLabel('Send the access token').uncheck();
    await press(PROTECTED);
    await hears('GET /users/me: 401');
    expect((await lines())[0]).toMatch(/^GET \/users\/me 401 AUTH_TOKEN_MISSING \d+ ms$/);

    // A second session, from another program whose name is markup.
    await service().http.post('/auth/login').set('User-Agent', MARKUP).send({ account, password }).expect(200);
    await press('List again');
    await form('Sessions').getByText(MARKUP).waitFor();
    const bound = form('Sessions').getByText(/bound to/);
    expect((await bound.allTextContents()).toSorted()).toEqual([
      'bound to a key of a page on its device',
      'not bound to a device',
    ]);
    expect(await page.locator('b, img').count()).toBe(0);
    await settled('2-sessions');
    await press(/^End the session of <img/);
    await hears('The session has ended.');
    expect(await form('Sessions').getByRole('listitem').count()).toBe(1);
    const settings = await page.getByRole('link', { name: 'Settings' }).getAttribute('href');
    expect(settings).toBe(`${new URL(address).origin}/auth/account?to=${encodeURIComponent(address)}`);

    await press('Log out');
    await hears('Logged out.');
    expect(await isFocused(page.getByRole('heading', { name: 'Log in' }))).toBe(true);
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false);
    expect(await console.faults()).toEqual([]);
    // Even a script of the page could not make markup of a text.
    await expect(page.evaluate('document.body.innerHTML = "<b>"')).rejects.toThrow(/TrustedHTML/);
  });

  it('shows nothing of the user before, however late an answer is', async () => {
    const console = await open();
    const { page, press, form } = console;
    const bob = aPerson();
    await service().http.post('/auth/register').send(bob).expect(201);
    await register(console);
    await form('Sessions').getByText('This session').waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByText('This session').waitFor();

    const held: (() => void)[] = [];
    await page.route(/\/auth\/sessions/, async (route) => {
      const response = await route.fetch();
      await new Promise<void>((release) => held.push(release));
      await route.fulfill({ response });
    });
    await press('List again');
    await expect.poll(() => held.length).toBe(1);
    const ofAda = held.splice(0);
    // Another tab logs out, and in as somebody else.
    await other.getByRole('button', { name: 'Log out' }).click();
    await other.getByRole('button', { name: 'Log in or register' }).click();
    await logInAtService(other, bob);
    await page.getByText(`${bob.username}, ${bob.email}`).waitFor();
    await expect.poll(() => held.length).toBe(1);
    const items = page.locator('#sessions > li');
    expect(await items.count()).toBe(0);
    const busy = page.locator('[aria-busy=true]');
    expect(await busy.count()).toBe(1);
    for (const release of ofAda) release();
    await expect.poll(() => busy.count()).toBe(0);
    expect(await items.count()).toBe(0);
    for (const release of held) release();
    await form('Sessions').getByText('This session').waitFor();
    expect(await items.count()).toBe(2);
  });

  it('shows each request with its status, its id and a curl line, and secrets only on request', async () => {
    const console = await open();
    const { page, press, hears, lines } = console;
    await register(console);
    await expect.poll(lines).toHaveLength(2);
    await press(PROTECTED);
    await hears('GET /users/me: 200');
    expect(await lines()).toEqual([
      expect.stringMatching(/^GET \/users\/me 200 \d+ ms$/),
      expect.stringMatching(/^GET \/auth\/sessions 200 \d+ ms, sent by the console itself$/),
      expect.stringMatching(/^POST \/auth\/refresh-token 200 \d+ ms, sent by the console itself$/),
    ]);
    const asked = page.getByRole('listitem').filter({ hasText: 'GET /users/me' });
    expect(await asked.locator('details').getAttribute('open')).not.toBeNull();
    const id = await asked.locator('dd').textContent();
    expect(service().logs.some(({ requestId }) => requestId === id)).toBe(true);
    const text = () => page.locator('#log').textContent();
    expect(await text()).toContain('-H "Authorization: Bearer $TOKEN"');
    const token = /Bearer eyJ[\w-]+\.[\w-]+\.[\w-]+'/;
    for (const shown of [false, true, false]) {
      expect(token.test(`${await text()}`)).toBe(shown);
      await press('Show secrets');
    }
    await press('Clear');
    expect(await lines()).toEqual([]);
  });

  it('works by keyboard alone, and the focus can be seen', async () => {
    const console = await open();
    const { page, hears } = console;
    /** Presses Tab until the element has the focus. */
    const tabTo = async (target: Locator): Promise<void> => {
      for (let presses = 0; presses < 40; presses += 1) {
        if (await isFocused(target)) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`Tab does not reach ${target}`);
    };
    await tabTo(page.getByRole('button', { name: 'Log in or register' }));
    expect(await page.evaluate('document.activeElement.matches(":focus-visible")')).toBe(true);
    await page.keyboard.press('Enter');
    const person = await registerAtService(page);
    await page.getByText(`${person.username}, ${person.email}`).waitFor();
    for (const [name, result] of [
      ['Refresh', 'Both tokens are new.'],
      [PROTECTED, 'GET /users/me: 200'],
    ] as const) {
      const button = page.getByRole('button', { name, exact: true });
      await tabTo(button);
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
      await page.keyboard.press('Space');
      await hears(result);
      expect(await isFocused(button)).toBe(true);
    }
    expect(await console.faults()).toEqual([]);
  });

  it('is logged in after a reload, and says when another browser has ended its session', async () => {
    const first = await open();
    const second = await open({ size: PHONE, scheme: 'dark' });
    const person = await register(first);
    await second.press('Log in or register');
    await logInAtService(second.page, person);
    await second.page.getByText(`${person.username}, ${person.email}`).waitFor();
    await second.page.reload();
    await second.page.getByText(`${person.username}, ${person.email}`).waitFor();
    await first.press('End all others');
    await first.hears('All other sessions have ended.');
    await second.press('Refresh');
    await second.hears('The service has refused the session. Log in again.');
    await second.page.getByText('Nobody is logged in.').waitFor();
    for (const { faults } of [first, second]) expect(await faults()).toEqual([]);
  });
});

describe.runIf(canBrowse())('the console at an address that the service does not know', () => {
  const { visit } = openConsoles({ BASE_URL: 'https://auth.example.org' });

  it('says why it does not run', async () => {
    const { page } = await visit();
    await page.getByText('The console does not run at this address.').waitFor();
  });
});
