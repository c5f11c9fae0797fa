import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { canBrowse, launchChromium } from '../support/browser/chromium.ts';
import {
  changesIn,
  eventsIn,
  importing,
  refreshIn,
  registeredIn,
  restoredIn,
  sessionsIn,
} from '../support/browser/client-page.ts';
import { openSite } from '../support/browser/site.ts';
import { witness } from '../support/browser/witness.ts';
import { hasher, startService, type TestService } from '../support/http/service.ts';
import { freePort } from '../support/servers/free-port.ts';

const REFRESH = '/auth/refresh-token';

/** The tab still has the session that its user has opened, and nobody was refused. */
const expectSame = async (tab: Page, service: string, opened: Awaited<ReturnType<typeof sessionsIn>>) => {
  expect(await sessionsIn(tab)).toMatchObject([{ id: opened?.[0]?.id, binding: 'device' }]);
  expect(await changesIn(tab)).not.toContain('ended');
  expect(await eventsIn(tab, service)).not.toContain('device-unproven');
};

/** A service that can end, with a witness, an application and a browser, until the end of the test. */
const openWorld = async () => {
  const [port, inner] = [await freePort(), `${await freePort()}`];
  const between = await witness(`http://127.0.0.1:${inner}`, port);
  onTestFinished(between.close);
  const site = await openSite('one.tandem.localhost');
  onTestFinished(site.close);
  const address = `http://auth.tandem.localhost:${port}`;
  const env = { BASE_URL: address, ALLOWED_ORIGINS_DEV: site.origin, PORT: inner };
  // The service stops in order, but nothing of that reaches the browser. The next one knows what was stored, and what modules keep.
  const storage = memoryStorage();
  let service: TestService | undefined;
  onTestFinished(() => service?.close());
  const { browser, restart, close } = await launchChromium();
  onTestFinished(close);
  const page = site.publish(importing(address));
  const openTab = async (context: typeof browser): Promise<Page> => {
    const tab = await context.newPage();
    await tab.goto(page);
    return tab;
  };
  return {
    address,
    witness: between,
    start: async () => {
      service = await startService(env, { hasher, storage });
    },
    stop: async () => {
      await service?.close();
      service = undefined;
    },
    openTab: () => openTab(browser),
    /** The browser is closed, and started again with the same profile. @returns its tab. */
    restartBrowser: async (): Promise<Page> => openTab(await restart()),
  };
};

describe.runIf(canBrowse())('a browser that has a key', () => {
  it('stays logged in when the service ends before its response, and when the browser is started again', async () => {
    const { address, witness: between, start, stop, openTab, restartBrowser } = await openWorld();
    await start();
    const tab = await openTab();
    const { username } = await registeredIn(tab);
    const opened = await sessionsIn(tab);
    // The preflight request is not sent again.
    await refreshIn(tab);
    between.closeIdle();
    const { arrived, lose } = between.hold(REFRESH);
    const refreshed = refreshIn(tab);
    await arrived;
    await stop();
    lose();
    expect(await refreshed).toMatch(/No response/);
    await start();
    expect(await refreshIn(tab)).toBe(username);
    await expectSame(tab, address, opened);

    const next = await restartBrowser();
    expect(await restoredIn(next)).toBe(username);
    expect(await refreshIn(next)).toBe(username);
    await expectSame(next, address, opened);
  });
});
