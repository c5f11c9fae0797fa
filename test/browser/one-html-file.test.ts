import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import { PARTIES, startResourceServer } from '../support/browser/resource-server.ts';
import { openWorld } from '../support/browser/world.ts';
import { readText } from '../support/checkout/repository.ts';
import { aPerson } from '../support/http/service.ts';

const says = (tab: Page, text: string | RegExp) => tab.locator('#message', { hasText: text }).waitFor();
const enter = async (tab: Page, button: string, entries: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, value] of Object.entries(entries)) await tab.fill(`[name=${name}]`, value);
  await tab.click(`text="${button}"`);
};

describe.runIf(canBrowse())('examples/one-html-file', () => {
  const { world, visit } = openWorld('localhost', PARTIES);
  let api: Awaited<ReturnType<typeof startResourceServer>>;
  let url: string;
  beforeAll(async () => {
    api = await startResourceServer(world().service, world().app.origin);
    url = world().app.publish(page());
  });
  afterAll(() => api.close());

  /** The file, with the addresses of this test. */
  const page = (): string =>
    readText('examples/one-html-file/index.html')
      .replaceAll('http://localhost:3000', world().service)
      .replaceAll('http://localhost:4000', api.url);
  const answers = (tab: Page, text: string) => tab.locator('#answer', { hasText: text }).waitFor();

  it('registers, calls the service and the API, follows another tab, logs out and in', async () => {
    const { open } = await visit();
    const { username, email, password } = aPerson();
    const first = await open(url);
    await says(first, 'Nobody is logged in.');
    await enter(first, 'Register', { username, email, password });
    await says(first, `Logged in as ${username}.`);
    await first.click('text="Who am I?"');
    await answers(first, `200 {"success":true,"data":{"id":"`);
    await first.click('text="Call the API"');
    await answers(first, `200 {"sub":"`);

    await first.reload();
    await says(first, `Logged in as ${username}.`);
    const second = await open(url);
    await says(second, `Logged in as ${username}.`);
    await first.click('text="Log out"');
    for (const tab of [first, second]) await says(tab, 'Nobody is logged in.');
    expect(await second.isVisible('#inside')).toBe(false);

    await enter(second, 'Log in', { username, password });
    for (const tab of [first, second]) await says(tab, `Logged in as ${username}.`);
  });

  it('shows which field is not valid, and a wrong password', async () => {
    const { open } = await visit();
    const tab = await open(url);
    await enter(tab, 'Register', { ...aPerson(), password: 'short' });
    await says(tab, /parameters are not valid.* password: .*8/);
    await enter(tab, 'Log in', { username: 'nobody', password: 'wrong password' });
    await says(tab, 'The account or the password is wrong.');
  });

  it('says what may be the reason when the client is not loaded', async () => {
    const { open } = await visit();
    const site = await world().openSite('localhost');
    await says(await open(site.publish(page())), `is ${site.origin} in its ALLOWED_ORIGINS_DEV?`);
  });
});

describe.runIf(canBrowse())('examples/one-html-file, where addresses have to be verified', () => {
  const { world, visit } = openWorld('localhost', { EMAIL_VERIFICATION: 'required' });

  it('asks a new user to open the link, and says the same at the log-in', async () => {
    const { open } = await visit();
    const { username, email, password } = aPerson();
    const page = readText('examples/one-html-file/index.html').replaceAll('http://localhost:3000', world().service);
    const tab = await open(world().app.publish(page));
    await enter(tab, 'Register', { username, email, password });
    await says(tab, `Open the link in the email to ${email}`);
    await enter(tab, 'Log in', { username, password });
    await says(tab, 'The email address is not verified. Open the link');
  });
});
