import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { codeAt, wrongCodeAt } from '../support/authenticator-app.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { type Console, expectSettled, openConsoles } from '../support/browser/console.ts';
import { addAuthenticator } from '../support/browser/passkey-page.ts';
import { aPerson } from '../support/http/service.ts';

const MINUTE = 60_000;
const FACTORS = 'Passkeys and second factors';
const AGAIN = 'List the factors again';

type Person = ReturnType<typeof aPerson>;

const logIn = ({ send }: Console, { username, password }: Person): Promise<void> =>
  send('Log in', { 'Username or email': username, Password: password });

const focusedId = (page: Page): Promise<unknown> => page.evaluate('document.activeElement.id');

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Confirm that it is you' });

/** What an app reads there. */
const secretIn = async (shown: Locator): Promise<string> => {
  const text = await shown.locator('code').textContent();
  const width = await shown.getByRole('img').evaluate((image) => ('naturalWidth' in image ? image.naturalWidth : 0));
  expect(width).toBeGreaterThan(0);
  return `${text}`.replaceAll(' ', '');
};

/** A console whose service has a clock that can be set forward. */
const openFactors = (env: Readonly<Record<string, string>> = {}) => {
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const pass = (milliseconds: number): void => {
    ahead += milliseconds;
  };
  const { open, service } = openConsoles(env, { clock: { now } });
  return {
    pass,
    wrongCode: (secret: string) => wrongCodeAt(secret, now()),
    /** A code that has not been used. */
    nextCode: (secret: string): string => {
      pass(MINUTE);
      return codeAt(secret, now());
    },
    /** A person who is logged in and sees the factors. */
    visit: async () => {
      const console = await open();
      const authenticator = await addAuthenticator(console.page);
      const person = aPerson();
      await service().http.post('/auth/register').send(person).expect(201);
      await logIn(console, person);
      await console.hears('Logged in.');
      await console.unfold(FACTORS);
      await console.form(FACTORS).getByText('The password is the only way to log in.').waitFor();
      return { ...console, console, authenticator, person };
    },
    open,
    /** Adds an app, of which the page shows this secret. @returns the secret and the recovery codes */
    addApp: async ({ page, press, send, form }: Console, settled?: (name: string) => Promise<void>) => {
      await press('Add an authenticator app');
      const secret = await secretIn(page.locator('#new-app-secret'));
      expect(await focusedId(page)).toBe('new-app-code');
      await settled?.('8-app');
      await send('Confirm the app', { 'Code that the app shows': codeAt(secret, now()) });
      const codes = form('Recovery codes').getByRole('listitem');
      await expect.poll(() => codes.count()).toBe(10);
      return { secret, codes: await codes.allTextContents() };
    },
  };
};

describe.runIf(canBrowse())('second factors in the console', () => {
  const { visit, addApp, pass, wrongCode, nextCode } = openFactors();

  it('are an app, whose codes log in, and recovery codes, which are shown once', async () => {
    const { console, page, press, hears, form, unfold, person } = await visit();
    const settled = (name: string) => expectSettled(page, name);
    const { secret, codes } = await addApp(console, settled);
    await hears('The authenticator app is added.');
    expect(await focusedId(page)).toBe('codes-title');
    await settled('9-recovery-codes');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press('Copy all');
    await hears('Copied.');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(codes.join('\n'));
    await press('Done');
    const content = await page.content();
    expect([secret, ...codes].filter((text) => content.includes(text))).toEqual([]);
    expect(await focusedId(page)).toBe('factors-summary');
    await press('Add a passkey');
    await hears(/^The passkey .* is added\.$/);
    await form(FACTORS).getByText('Recovery codes left: 10').waitFor();
    await settled('10-factors');

    pass(6 * MINUTE);
    await press(AGAIN);
    await dialogOf(page).waitFor();
    await settled('11-step-up');
    await dialogOf(page).getByLabel('Password').fill('wrong');
    await dialogOf(page).getByRole('button', { name: 'Confirm', exact: true }).click();
    await dialogOf(page)
      .getByText(/^AUTH_CREDENTIALS_INVALID/)
      .waitFor();
    await settled('12-step-up-refused');
    await page.keyboard.press('Escape');
    await hears(/^AUTH_STEP_UP_REQUIRED/);
    // The form may offer the passkey, which this authenticator would show without a touch.
    await page.route('**/auth/passkey/options', () => undefined, { times: 1 });
    await press('Log out');
    await logIn(console, person);
    await hears('The password is right.');
    expect(await focusedId(page)).toBe('pending-title');
    await settled('13-second-factor');
    const code = form('Second factor').getByLabel('Code of the authenticator app');
    await code.fill(wrongCode(secret));
    await press('Continue');
    await hears(/^AUTH_SECOND_FACTOR_INVALID/);
    await code.fill(nextCode(secret));
    await page.getByLabel('Remember this device').check();
    await press('Continue');
    await hears('Logged in.');
    await form('Sessions').getByText('remembered device').waitFor();
    await form('Sessions').getByText('bound to a key of a page on its device').waitFor();
    await settled('14-remembered');
    await unfold(FACTORS);
    await press(/^Remove the passkey /);
    await hears('The passkey is removed.');

    await press('Log out');
    await hears('Logged out.');
    await logIn(console, person);
    await hears('Logged in.');
    await unfold(FACTORS);
    await dialogOf(page).getByText('The second factor was not shown').waitFor();
    expect(await dialogOf(page).getByLabel('Password').isVisible()).toBe(false);
    await page.keyboard.press('Escape');
    await press(/^Forget the device /);
    await hears('The device is forgotten.');
    await press('Log out');
    await hears('Logged out.');
    await logIn(console, person);
    await form('Second factor')
      .getByLabel('Or a recovery code')
      .fill(codes[0] ?? '');
    await press('Continue');
    await hears('Logged in.');
    await unfold(FACTORS);
    await form(FACTORS).getByText('Recovery codes left: 9').waitFor();
    await press('Make new ones');
    await form(FACTORS).getByText('Recovery codes left: 10').waitFor();
    expect(await form('Recovery codes').getByRole('listitem').allTextContents()).not.toEqual(codes);
    await press(/^Remove the app added /);
    await hears('The authenticator app is removed.');
    await press('Log out');
    await hears('Logged out.');
    expect(await form('Recovery codes').count()).toBe(0);
    await logIn(console, person);
    await hears('Logged in.');
    expect(await console.faults()).toEqual([]);
  });

  it('are asked for again, in a dialog, before what needs them: by keyboard alone, by a code and by a passkey', async () => {
    const { console, page, press, hears, person, authenticator } = await visit();
    const dialog = dialogOf(page);
    const { keyboard } = page;
    const repeated = async () => {
      await dialog.waitFor({ state: 'hidden' });
      await expect.poll(async () => (await console.lines())[0]).toMatch(/^GET \/users\/me\/factors 200/);
      await press('Clear');
    };
    pass(6 * MINUTE);
    await page.getByRole('button', { name: AGAIN }).focus();
    await keyboard.press('Enter');
    await dialog.waitFor();
    expect(await focusedId(page)).toBe('step-up-password');
    await keyboard.press('Escape');
    await hears(/^AUTH_STEP_UP_REQUIRED/);
    expect(await focusedId(page)).toBe('list-factors');
    await keyboard.press('Enter');
    await dialog.waitFor();
    await keyboard.type(person.password);
    await keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    expect(await focusedId(page)).toBe('list-factors');
    await repeated();

    const { secret } = await addApp(console);
    pass(6 * MINUTE);
    await press(AGAIN);
    await dialog.getByLabel('Password').fill(person.password);
    expect(await dialog.getByLabel('Code of the authenticator app').isVisible()).toBe(false);
    await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
    await dialog.getByLabel('Code of the authenticator app').fill(nextCode(secret));
    await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
    await repeated();
    await press('Add a passkey');
    await hears(/^The passkey .* is added\.$/);
    pass(6 * MINUTE);
    await press(AGAIN);
    await dialog.getByRole('button', { name: 'Use a passkey' }).click();
    await repeated();

    pass(6 * MINUTE);
    await authenticator.setPresence(false);
    await press(AGAIN);
    await dialog.getByRole('button', { name: 'Use a passkey' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await hears(/^AUTH_STEP_UP_REQUIRED/);
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
    expect(await console.faults()).toEqual([]);
  });

  it('are a passkey, which is renamed and removed, and logs in by the form, by a button and as second factor', async () => {
    const { console, page, press, form, hears, unfold, person, authenticator } = await visit();
    await press('Add a passkey');
    await hears(/^The passkey .* is added\.$/);
    page.once('dialog', (asked) => asked.accept('Laptop <b>'));
    await press(/^Rename the passkey /);
    await form(FACTORS).getByText('Laptop <b>', { exact: true }).waitFor();

    // What the form offers is chosen at once: nobody has to touch this authenticator.
    await press('Log out');
    await hears('Logged in.');
    /** The form offers nothing then: its request gets no answer. */
    const logOut = async () => {
      await page.route('**/auth/passkey/options', () => undefined, { times: 1 });
      await press('Log out');
      await hears('Logged out.');
    };
    await logOut();
    await press('Log in with a passkey');
    await hears('Logged in.');

    await unfold(FACTORS);
    await addApp(console);
    await logOut();
    await logIn(console, person);
    await hears('The password is right.');
    await press('Use a passkey');
    await hears('Logged in.');

    await unfold(FACTORS);
    await press('Remove the passkey Laptop <b>');
    await hears('The passkey is removed.');
    await expect.poll(() => authenticator.ids()).toEqual([]);
    expect(await console.faults()).toEqual([]);
  });
});

describe.runIf(canBrowse())('the console of a service that requires a second factor', () => {
  const { open, nextCode } = openFactors({ SECOND_FACTOR: 'required' });

  it('adds an app at a registration, and at a log-in, before anything else', async () => {
    const console = await open();
    const { page, press, send, hears, form } = console;
    const person = aPerson();
    await send('Register', { Username: person.username, Email: person.email, Password: person.password });
    await hears('This service wants a second factor.');
    await press('Back');
    await logIn(console, person);
    await hears('This service wants a second factor.');
    const secret = await secretIn(page.locator('#pending-app'));
    await expectSettled(page, '15-required');
    await form('Second factor').getByLabel('Code of the authenticator app').fill(nextCode(secret));
    await press('Continue');
    await hears('Logged in.');
    await page.getByText(`${person.username}, ${person.email}`).waitFor();
    expect(await form('Recovery codes').getByRole('listitem').count()).toBe(10);
    expect(await focusedId(page)).toBe('codes-title');
    expect(await page.content()).not.toContain(secret);
    expect(await console.faults()).toEqual([]);
  });
});
