import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { codeAt, wrongCodeAt } from '../support/authenticator-app.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { accessibilityFaultsOf, type Console, LOOKS, openConsoles, screenshot } from '../support/browser/console.ts';
import { addAuthenticator } from '../support/browser/passkey-page.ts';
import { aPerson } from '../support/http/service.ts';

const MINUTE = 60_000;
const FACTORS = 'Passkeys and second factors';
const CONFIRM = 'Confirm that it is you';

const focusedId = (page: Page): Promise<unknown> => page.evaluate('document.activeElement.id');

type Person = ReturnType<typeof aPerson>;

describe.runIf(canBrowse()).each(LOOKS)('second factors and passkeys in the console, $title', ({ title, ...look }) => {
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const { open, service } = openConsoles({}, { clock: { now } });

  const settledIn = (page: Page) => async (name: string) => {
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await screenshot(page, `console-${title}-${name}`);
  };
  /** A person who has registered and sees the factors. */
  const start = async () => {
    const console = await open(look);
    const authenticator = await addAuthenticator(console.page);
    const person = aPerson();
    await service().http.post('/auth/register').send(person).expect(201);
    await logIn(console, person);
    await console.hears('Logged in.');
    return { ...console, console, authenticator, person, settled: settledIn(console.page) };
  };
  const logIn = ({ send }: Console, { username, password }: Person) =>
    send('Log in', { 'Username or email': username, Password: password });
  /** The code that the app shows, which has not been used before. */
  const nextCode = (secret: string): string => {
    ahead += MINUTE;
    return codeAt(secret, now());
  };
  /** Adds an app. @returns its secret, and recovery codes. */
  const addApp = async ({ page, press, send, form }: Console, settled?: (name: string) => Promise<void>) => {
    await press('Add an authenticator app');
    const shown = page.locator('#new-app-secret');
    const secret = ((await shown.locator('code').textContent()) ?? '').replaceAll(' ', '');
    expect(await shown.getByRole('img').evaluate((image: HTMLImageElement) => image.naturalWidth > 0)).toBe(true);
    await settled?.('8-app');
    expect(await focusedId(page)).toBe('new-app-code');
    await send('Confirm the app', { 'Code that the app shows': codeAt(secret, now()) });
    const codes = form('Recovery codes').getByRole('listitem');
    await expect.poll(() => codes.count()).toBe(10);
    return { secret, codes: await codes.allTextContents() };
  };

  it('adds an app, and logs in with its codes, a recovery code and on a remembered device', async () => {
    const { console, page, press, hears, form, unfold, person, settled } = await start();
    await unfold(FACTORS);
    await form(FACTORS).getByText('The password is the only way to log in.').waitFor();
    const { secret, codes } = await addApp(console, settled);
    expect(await focusedId(page)).toBe('codes-title');
    await hears('The authenticator app is added.');
    await settled('9-recovery-codes');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press('Copy all');
    await hears('Copied.');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(codes.join('\n'));
    const seen = async () => [secret, ...codes].map(async (text) => (await page.content()).includes(text));
    await press('Done');
    expect(await Promise.all(await seen())).not.toContain(true);
    expect(await focusedId(page)).toBe('factors-summary');
    await form(FACTORS).getByText('Recovery codes left: 10').waitFor();
    await settled('10-factors');

    await press('Log out');
    await logIn(console, person);
    await hears('The password is right.');
    expect(await focusedId(page)).toBe('pending-title');
    await settled('11-second-factor');
    const code = form('Second factor').getByLabel('Code of the authenticator app');
    await code.fill(wrongCodeAt(secret, now()));
    await press('Continue');
    await hears(/^AUTH_SECOND_FACTOR_INVALID/);
    await code.fill(nextCode(secret));
    await press('Continue');
    await hears('Logged in.');
    await form('Sessions').getByText('This session').waitFor();

    await press('Log out');
    await logIn(console, person);
    await page.getByLabel('Or a recovery code').fill(codes[0] ?? '');
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

  it('asks again in a dialog before what needs it, by keyboard alone', async () => {
    const { console, page, press, form, hears, unfold, person, settled, authenticator } = await start();
    await unfold(FACTORS);
    await form(FACTORS).getByText('The password is the only way to log in.').waitFor();
    ahead += 6 * MINUTE;
    const dialog = page.getByRole('dialog', { name: CONFIRM });
    const again = page.getByRole('button', { name: 'List the factors again' });
    await again.focus();
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    expect(await focusedId(page)).toBe('step-up-password');
    await settled('12-step-up');
    await page.keyboard.press('Escape');
    await hears(/^AUTH_STEP_UP_REQUIRED/);
    expect(await focusedId(page)).toBe('list-factors');

    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await dialog.getByText(/^AUTH_CREDENTIALS_INVALID/).waitFor();
    await settled('13-step-up-refused');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(person.password);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    expect(await focusedId(page)).toBe('list-factors');
    await expect.poll(async () => (await console.lines())[0]).toMatch(/^GET \/users\/me\/factors 200/);

    const { secret } = await addApp(console);
    ahead += 6 * MINUTE;
    await press('List the factors again');
    await dialog.getByLabel('Code of the authenticator app').fill(nextCode(secret));
    await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    await press('Add a passkey');
    await hears(/^The passkey .* is added\.$/);

    ahead += 6 * MINUTE;
    await press('List the factors again');
    await dialog.getByRole('button', { name: 'Use a passkey' }).click();
    await dialog.waitFor({ state: 'hidden' });
    ahead += 6 * MINUTE;
    await authenticator.setPresence(false);
    await press('List the factors again');
    await dialog.getByRole('button', { name: 'Use a passkey' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await hears(/^AUTH_STEP_UP_REQUIRED/);
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
    expect(await console.faults()).toEqual([]);
  });

  it('adds, renames and removes a passkey, and logs in with it by a button, in the form and as second factor', async () => {
    const { console, page, press, form, hears, unfold, person, settled, authenticator } = await start();
    /** The form offers no passkey then: its request gets no answer. */
    const logOut = async () => {
      await page.route('**/auth/passkey/options', () => undefined, { times: 1 });
      await press('Log out');
      await hears('Logged out.');
    };
    await unfold(FACTORS);
    await press('Add a passkey');
    await hears(/^The passkey .* is added\.$/);
    page.once('dialog', (asked) => asked.accept('Laptop <b>'));
    await press(/^Rename the passkey /);
    await form(FACTORS).getByText('Laptop <b>', { exact: true }).waitFor();
    await settled('14-passkey');

    // A passkey that the form offers is chosen at once: nobody has to touch this authenticator.
    await press('Log out');
    await hears('Logged in.');
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
