import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import { type Console, expectSettled, openConsoles, PHONE } from '../support/browser/console.ts';
import { aPerson } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const MARKUP = `<img src=x onerror="globalThis.hacked = true"><b>bold</b>`;
const PROTECTED = 'Protected: GET /users/me';
const NEW_PASSWORD = 'another horse battery';

const isFocused = (element: Locator): Promise<boolean> => element.evaluate((it) => it.matches(':focus'));

type Person = ReturnType<typeof aPerson>;

const register = async ({ send, hears }: Console, { username, email, password }: Person): Promise<void> => {
  await send('Register', { Username: username, Email: email, Password: password });
  await hears('Logged in.');
};

describe.runIf(canBrowse())('the console of a service with mail', () => {
  const mailer = memoryMailer();
  const { open, service } = openConsoles({}, { mailer });

  it('asks for a new password, changes username and email, shows and exports what is stored, and goes', async () => {
    const console = await open();
    const { page, send, press, unfold, hears, form, lines } = console;
    const settled = (name: string) => expectSettled(page, name);
    const mailed = async (email: string): Promise<readonly string[]> => {
      await Promise.all((await service().mail?.send(10)) ?? []);
      return mailer.mails.filter(({ to }) => to === email).map(({ text }) => text);
    };
    const person = aPerson();
    await service().http.post('/auth/register').send(person).expect(201);
    await unfold('Forgotten password');
    await form('Forgotten password').getByLabel('Email').fill(person.email);
    await settled('5-forgotten');
    await press('Send a link');
    await hears('If the address has an account, an email with a link is on its way.');
    await expect
      .poll(() => mailed(person.email))
      .toContainEqual(expect.stringContaining('/auth/link/password-reset#token='));

    await send('Log in', { 'Username or email': person.email, Password: person.password });
    await hears('Logged in.');
    await page.getByText(`${person.username}, ${person.email}`).waitFor();
    await unfold('Change the username');
    await send('Change the username', { 'New username': 'a' });
    await hears(/^CLIENT_PARAMS_VALIDATION_FAILED/);
    expect(await isFocused(page.getByLabel('New username'))).toBe(true);
    await send('Change the username', { 'New username': `${person.username}.new` });
    await hears('The username is changed.');
    await page.getByText(`${person.username}.new, ${person.email}`).waitFor();

    const { email } = aPerson();
    await unfold('Change the email');
    await send('Change the email', { 'New email': email, Password: 'wrong' });
    await hears(/^AUTH_CREDENTIALS_INVALID/);
    await send('Change the email', { 'New email': email, Password: person.password });
    await hears(/^An email with a link is on its way to the new address\./);
    await expect.poll(() => mailed(email)).toContainEqual(expect.stringContaining('/auth/link/email-change#token='));

    await unfold('Export what is stored');
    await press('Export');
    await hears('The answer to the last request holds everything that is stored about the account.');
    expect((await lines())[0]).toMatch(/^GET \/users\/me\/export 200/);
    await unfold('History');
    await form('History').getByText('username-changed').waitFor();
    expect(await form('History').getByRole('listitem').allTextContents()).toContainEqual(
      expect.stringMatching(/^logged-in.*, 127\.0\.0\.0\/24, [0-9A-Z]{26}Chrom\w+ on Linux$/),
    );
    await settled('6-account');

    await unfold('Remove the account');
    await send('Remove the account', { Password: 'wrong' });
    await hears(/^AUTH_CREDENTIALS_INVALID/);
    await send('Remove the account', { Password: person.password });
    await hears('The account is removed.');
    await page.getByText('Nobody is logged in.').waitFor();
    expect(await isFocused(page.getByRole('heading', { name: 'Log in' }))).toBe(true);
    await settled('7-removed');
    const { username: account, password } = person;
    await service().http.post('/auth/login').send({ account, password }).expect(401);
    expect(await console.faults()).toEqual([]);
  });

  it('shows nothing of the user before, however late an answer is', async () => {
    const console = await open();
    const { page, send, press, unfold, hears, form } = console;
    const [ada, bob] = [aPerson(), aPerson()];
    await service().http.post('/auth/register').send(bob).expect(201);
    await register(console, ada);
    await form('Sessions').getByText('This session').waitFor();
    await unfold('History');
    await form('History').getByText('registered').waitFor();

    const held: (() => void)[] = [];
    await page.route(/\/auth\/sessions|\/users\/me\/events/, async (route) => {
      const response = await route.fetch();
      await new Promise<void>((release) => held.push(release));
      await route.fulfill({ response });
    });
    await press('List again');
    await press('List the history again');
    await expect.poll(() => held.length).toBe(2);
    const ofAda = held.splice(0);
    await press('Log out');
    await send('Log in', { 'Username or email': bob.username, Password: bob.password });
    await hears('Logged in.');
    await expect.poll(() => held.length).toBe(2);
    const items = page.locator('#sessions > li, #events > li');
    expect(await items.count()).toBe(0);
    const busy = page.locator('[aria-busy=true]');
    expect(await busy.count()).toBe(2);
    for (const release of ofAda) release();
    await expect.poll(() => busy.count()).toBe(0);
    expect(await items.count()).toBe(0);
    for (const release of held) release();
    await form('Sessions').getByText('This session').waitFor();
    await form('History').getByText('logged-in').waitFor();
    expect(await items.count()).toBe(4);
  });
});

describe.runIf(canBrowse())('the console of a service without mail', () => {
  const { open } = openConsoles({}, { mailer: null });

  it('says what is not there, and why', async () => {
    const console = await open();
    const { page, unfold, form } = console;
    await unfold('Forgotten password');
    await form('Forgotten password').getByText('The service sends no mail, so it cannot reset passwords.').waitFor();
    expect(await page.getByRole('button', { name: 'Send a link' }).count()).toBe(0);
    await register(console, aPerson());
    await unfold('Change the email');
    await page.getByText('The service sends no mail, so it cannot change addresses.').waitFor();
    expect(await console.faults()).toEqual([]);
  });
});

describe.runIf(canBrowse())('the console', () => {
  const { open, service } = openConsoles();

  it('registers, refreshes, calls routes, ends a session, changes the password and logs out', async () => {
    const console = await open();
    const { page, send, press, unfold, hears, form, lines } = console;
    const topOf = async (name: string) => (await page.getByRole('button', { name, exact: true }).boundingBox())?.y;
    const settled = (name: string) =>
      expectSettled(page, name, async () => expect(await topOf('Show secrets')).toBe(await topOf('Clear')));
    await settled('1-start');

    await send('Register', { Username: 'a', Email: 'nobody', Password: 'short' });
    await hears(/^CLIENT_PARAMS_VALIDATION_FAILED/);
    const username = form('Register').getByLabel('Username');
    expect(await isFocused(username)).toBe(true);
    expect(await username.getAttribute('aria-invalid')).toBe('true');
    for (const label of ['Username', 'Email', 'Password']) {
      const described = await form('Register').getByLabel(label).getAttribute('aria-describedby');
      expect(await page.locator(`#${described}`).textContent()).toMatch(/^must /);
    }
    await settled('2-problems');

    const person = aPerson();
    await register(console, person);
    await page.getByText(`${person.username}, ${person.email}`).waitFor();
    expect(await isFocused(page.getByRole('heading', { name: 'Tokens' }))).toBe(true);
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
    expect(await claims.textContent()).toContain(person.email);
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
    const { username: account, password } = person;
    await service().http.post('/auth/login').set('User-Agent', MARKUP).send({ account, password }).expect(200);
    await press('List again');
    await form('Sessions').getByText(MARKUP).waitFor();
    const bound = form('Sessions').getByText(/bound to/);
    expect((await bound.allTextContents()).toSorted()).toEqual([
      'bound to a key of a page on its device',
      'not bound to a device',
    ]);
    await settled('3-sessions');
    await press(/^End the session of <img/);
    await hears('The session has ended.');
    expect(await form('Sessions').getByRole('listitem').count()).toBe(1);

    await unfold('Change the password');
    await send('Change the password', { 'Current password': 'wrong', 'New password': NEW_PASSWORD });
    await hears(/^AUTH_CREDENTIALS_INVALID/);
    await send('Change the password', { 'Current password': password, 'New password': NEW_PASSWORD });
    await hears('The password is changed, and all other sessions have ended.');
    await press('Log out');
    await hears('Logged out.');
    await page.getByText('Nobody is logged in.').waitFor();
    await send('Log in', { 'Username or email': account, Password: password });
    await hears(/^AUTH_CREDENTIALS_INVALID/);
    await send('Log in', { 'Username or email': account, Password: NEW_PASSWORD });
    await hears('Logged in.');
    await form('Sessions').getByText('This session').waitFor();
    await settled('4-end');
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false);
    expect(await console.faults()).toEqual([]);
  });

  it('shows each request with its status, its id and a curl line, and secrets only on request', async () => {
    const console = await open();
    const { page, press, lines } = console;
    const person = aPerson();
    await register(console, person);
    await expect.poll(lines).toHaveLength(3);
    expect(await lines()).toEqual([
      expect.stringMatching(/^GET \/auth\/sessions 200 \d+ ms, sent by the console itself$/),
      expect.stringMatching(/^POST \/auth\/register 201 \d+ ms$/),
      expect.stringMatching(/^POST \/auth\/passkey\/options 200 \d+ ms, sent by the console itself$/),
    ]);
    const registration = page.getByRole('listitem').filter({ hasText: 'POST /auth/register' });
    expect(await registration.locator('details').getAttribute('open')).not.toBeNull();
    const id = await registration.locator('dd').textContent();
    expect(service().logs.some(({ requestId }) => requestId === id)).toBe(true);
    const text = () => page.locator('#log').textContent();
    expect(await text()).toContain('-H "Authorization: Bearer $TOKEN"');
    const token = /Bearer eyJ[\w-]+\.[\w-]+\.[\w-]+'/;
    for (const shown of [false, true, false]) {
      expect((await text())?.includes(person.password)).toBe(shown);
      expect(token.test(`${await text()}`)).toBe(shown);
      await press('Show secrets');
    }
    await press('Clear');
    expect(await lines()).toEqual([]);
  });

  it('works by keyboard alone, and the focus can be seen', async () => {
    const console = await open();
    const { page, form, hears } = console;
    const person = aPerson();
    /** Presses Tab until the element has the focus. */
    const tabTo = async (target: Locator): Promise<void> => {
      for (let presses = 0; presses < 40; presses += 1) {
        if (await isFocused(target)) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`Tab does not reach ${target}`);
    };
    for (const [label, value] of [
      ['Username', person.username],
      ['Email', person.email],
      ['Password', person.password],
    ] as const) {
      await tabTo(form('Register').getByLabel(label));
      expect(await page.evaluate('document.activeElement.matches(":focus-visible")')).toBe(true);
      await page.keyboard.type(value);
    }
    await page.keyboard.press('Enter');
    await hears('Logged in.');
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

  it('shows a name, a user agent and an error that are markup as text', async () => {
    const console = await open();
    const { page, send, hears, press, form } = console;
    await send('Log in', { 'Username or email': MARKUP, Password: MARKUP });
    await hears(/^AUTH_CREDENTIALS_INVALID/);
    await page
      .locator('#log')
      .getByText(/onerror=/)
      .first()
      .waitFor();
    const person = aPerson();
    await register(console, person);
    const { username: account, password } = person;
    await service().http.post('/auth/login').set('User-Agent', MARKUP).send({ account, password }).expect(200);
    await press('List again');
    await form('Sessions').getByText(MARKUP).waitFor();
    // Even a script of the page could not make markup of it.
    await expect(page.evaluate('document.body.innerHTML = "<b>"')).rejects.toThrow(/TrustedHTML/);
    expect(await page.locator('b, img').count()).toBe(0);
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false);
  });

  it('is logged in after a reload, and says when another browser has ended its session', async () => {
    const first = await open();
    const second = await open({ size: PHONE, scheme: 'dark' });
    const person = aPerson();
    await register(first, person);
    await second.send('Log in', { 'Username or email': person.email, Password: person.password });
    await second.hears('Logged in.');
    await second.page.reload();
    await second.page.getByText(`${person.username}, ${person.email}`).waitFor();
    await first.press('End all others');
    await first.hears('All other sessions have ended.');
    await second.press('Refresh');
    await second.hears('The service has refused the session. Log in again.');
    await second.page.getByText('Nobody is logged in.').waitFor();
    for (const { faults } of [first, second]) expect(await faults()).toEqual([]);
  });

  it('follows another tab: a log-in, and a log-out', async () => {
    const { page, ...first } = await open();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await register({ page, ...first }, aPerson());
    await other.getByRole('heading', { name: 'Tokens' }).waitFor();
    await other.getByRole('button', { name: 'Log out' }).click();
    await first.hears('Logged out.');
  });
});

describe.runIf(canBrowse())('the console at an address that the service does not know', () => {
  const { visit } = openConsoles({ BASE_URL: 'https://auth.example.org' });

  it('says why it does not run', async () => {
    const { page } = await visit();
    await page.getByText('The console does not run at this address.').waitFor();
  });
});
