import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { logInAtService, registerAtService } from '../support/browser/at-service.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { PARTIES, startResourceServer } from '../support/browser/resource-server.ts';
import { openWorld } from '../support/browser/world.ts';
import { readText } from '../support/checkout/repository.ts';

const says = (tab: Page, text: string | RegExp) => tab.locator('#message', { hasText: text }).waitFor();

describe.runIf(canBrowse())('examples/one-html-file', () => {
  const { world, visit } = openWorld('localhost', PARTIES, {}, { hasPages: true });
  let api: Awaited<ReturnType<typeof startResourceServer>>;
  let url: string;
  beforeAll(async () => {
    api = await startResourceServer(world().service, world().app.origin);
    url = world().app.publish(page());
  });

  /** The file, with the addresses of this test. */
  const page = (): string =>
    readText('examples/one-html-file/index.html')
      .replaceAll('http://localhost:3000', world().service)
      .replaceAll('http://localhost:4000', api.url);
  const answers = (tab: Page, text: string) => tab.locator('#answer', { hasText: text }).waitFor();

  it('leads to the pages and back, calls the service and the API, follows another tab, logs out and in', async () => {
    const { open } = await visit();
    const first = await open(url);
    await says(first, 'Nobody is logged in.');
    await first.click('text="Log in"');
    const { username, password } = await registerAtService(first);
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

    await second.click('text="Log in"');
    await logInAtService(second, { username, password });
    for (const tab of [first, second]) await says(tab, `Logged in as ${username}.`);
  });

  it('says what may be the reason when the client is not loaded', async () => {
    const { open } = await visit();
    const site = await world().openSite('localhost');
    await says(await open(site.publish(page())), `is ${site.origin} in its ALLOWED_ORIGINS_DEV?`);
  });
});
