import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import {
  beginAnotherRenewalIn,
  beginRenewalIn,
  changesIn,
  clientPage,
  renewedIn,
  renewIn,
  restoredIn,
  sleepIn,
} from '../support/browser/client-page.ts';
import { openWorld } from '../support/browser/world.ts';
import { aPerson } from '../support/http/service.ts';

const TABS = 5;
const LEAVES = 2;
/** A page of the back/forward cache is not loaded again. */
const RESTORED = { waitUntil: 'commit' } as const;
/** A service and a browser, for a whole `describe`. */
const openClients = (own: Parameters<typeof openWorld>[2] = {}) => {
  const { world, signedUp } = openWorld('localhost', {}, own);

  /** Tabs of a user who is logged in. The page of a visitor has no hint, so the first tab stores it. */
  const openTabs = async (count: number, setup = {}) => {
    const visitor = await signedUp();
    const url = world().app.publish(clientPage(world().service, setup));
    await visitor.tab.evaluate((name) => localStorage.setItem(name, '1'), `tandem:${world().service}`);
    const tabs: Page[] = [];
    for (let each = 0; each < count; each += 1) tabs.push(await visitor.open(url));
    for (const tab of tabs) expect(await restoredIn(tab)).toBe(visitor.person.username);
    return { ...visitor, tabs, url };
  };
  /** The service has renewed the token; its response reaches the browser when the page is left, and the next one asks for a token. */
  const whileRenewing = async (tab: Page, leave: () => Promise<unknown>) => {
    const { arrived, followed, letGo } = world().witness.hold('/auth/refresh-token');
    await beginRenewalIn(tab);
    await arrived;
    await leave();
    await followed;
    letGo();
  };
  return { world, openTabs, whileRenewing };
};

describe.runIf(canBrowse())('tabs of the client', () => {
  const { world, openTabs } = openClients();

  it.each([{ withoutChannel: false }, { withoutChannel: true }])(
    `${TABS} of them renew at one instant, and nobody is out (%o)`,
    async (setup) => {
      const { tabs } = await openTabs(TABS, setup);
      world().witness.gather(TABS);
      expect(await Promise.all(tabs.map(renewIn))).toEqual(tabs.map(() => true));
      expect((await Promise.all(tabs.map(changesIn))).flat()).not.toContain('ended');
    },
  );

  it(`nobody is out after ${LEAVES} reloads in the middle of a renewal`, async () => {
    const { tabs, person } = await openTabs(1);
    const [tab] = tabs as [Page];
    for (let each = 0; each < LEAVES; each += 1) {
      // The renewal has no response before that of the next page is there.
      world().witness.gather(2);
      // The client looks for a key of the device before it sends the request.
      const sent = tab.waitForRequest('**/auth/refresh-token');
      await beginRenewalIn(tab);
      await sent;
      await tab.reload();
      expect(await restoredIn(tab)).toBe(person.username);
    }
  });

  it('that wake one after the other share one renewal', async () => {
    const { tabs } = await openTabs(TABS);
    const [first, ...others] = tabs as [Page, ...Page[]];
    for (const tab of others) {
      await sleepIn(tab);
      await tab.evaluate(() => globalThis.page?.changes.splice(0));
    }
    const { seen } = world().witness.watch();
    expect(await renewIn(first)).toBe(true);
    for (const tab of others) await tab.waitForFunction(() => globalThis.page?.changes.length === 1);
    const tokens = others.map((tab) => tab.evaluate(() => globalThis.page?.auth.accessToken()));
    expect(await Promise.all(tokens)).not.toContain(null);
    expect(seen().filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('a log-out reaches the others', async () => {
    const { tabs } = await openTabs(2);
    const [one, other] = tabs as [Page, Page];
    await one.evaluate(() => globalThis.page?.auth.logout());
    await other.waitForFunction(() => globalThis.page?.auth.user === null);
    expect((await changesIn(other)).at(-1)).toBe('logout');
  });

  it('a frozen one blocks nobody, and is logged in when it goes on', async () => {
    const { tabs, browser } = await openTabs(2);
    const [frozen, other] = tabs as [Page, Page];
    const session = await browser.newCDPSession(frozen);
    await beginRenewalIn(frozen);
    await session.send('Page.setWebLifecycleState', { state: 'frozen' });
    expect(await renewIn(other)).toBe(true);
    expect(await renewIn(other)).toBe(true);
    await session.send('Page.setWebLifecycleState', { state: 'active' });
    expect(await renewIn(frozen)).toBe(true);
    expect(await changesIn(frozen)).not.toContain('ended');
  });
});

describe.runIf(canBrowse())('pages of the client in the back/forward cache', () => {
  const { world, openTabs, whileRenewing } = openClients({ as: 'full' });

  it(`keep the user in after going back and forward ${LEAVES} times in the middle of a renewal`, async () => {
    const { tabs, person } = await openTabs(1);
    const [tab] = tabs as [Page];
    await tab.goto(world().app.publish(clientPage(world().service)));
    for (let each = 0; each < LEAVES; each += 1) {
      expect(await renewedIn(tab)).toBe(person.username);
      await whileRenewing(tab, async () => {
        await (each % 2 === 0 ? tab.goBack(RESTORED) : tab.goForward(RESTORED));
        await beginAnotherRenewalIn(tab);
      });
    }
    expect(await restoredIn(tab)).toBe(person.username);
    expect(await renewIn(tab)).toBe(true);
  });

  it('do not stay with a user who has logged out meanwhile', async () => {
    const { tabs, person } = await openTabs(1);
    const [tab] = tabs as [Page];
    const next = aPerson();
    await tab.evaluate(() => globalThis.page?.changes.push('kept'));
    await tab.goto(world().app.publish(clientPage(world().service)));
    expect(await restoredIn(tab)).toBe(person.username);
    await tab.evaluate(async (given) => {
      await globalThis.page?.auth.logout();
      await globalThis.page?.auth.register(given);
    }, next);
    await tab.goBack(RESTORED);
    await tab.waitForFunction(() => globalThis.page?.changes.includes('kept'));
    await tab.waitForFunction((name) => globalThis.page?.auth.user?.username === name, next.username);
    expect((await changesIn(tab)).at(-1)).toBe('login');
  });
});
