import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import { beginRenewalIn, changesIn, renewIn, restoredIn, startClientIn } from '../support/browser/client-page.ts';
import { HONO, openRenderedPages, showsAccount } from '../support/browser/rendered-pages.ts';

const TABS = 3;
const HOUR = 3_600_000;

describe.runIf(canBrowse()).each([
  // More than a browser asks for at once: it has six connections to a host at most.
  { binding: 'off', count: 20, rounds: 10 },
  // Each document loads a page that proves the key, and a frame.
  { binding: 'enforce', count: 5, rounds: 3 },
])('$count rendered documents and three tabs, with DEVICE_BINDING=$binding', ({ binding, count, rounds }) => {
  const { world, openTab, loggedIn, pass, expire } = openRenderedPages(HONO, {
    DEVICE_BINDING: binding,
    JWT_REFRESH_REPLAY_WINDOW: '10s',
  });

  /** A page of the application whose client renews its token. */
  const openClient = async (): Promise<Page> => {
    const tab = await openTab();
    await tab.goto(world().pages);
    await startClientIn(tab, world().service);
    await restoredIn(tab);
    return tab;
  };

  it('log nobody out when they come at the moment of expiry, and cost one rotation', async () => {
    const { id, username } = await loggedIn();
    const tabs = await Promise.all(Array.from({ length: TABS }, openClient));
    const documents = await Promise.all(Array.from({ length: count }, openTab));
    const { behind, pages, witness } = world();
    /** Of the session in the browser; the registration has opened another one. */
    const rotations = async () => {
      const sessions = await behind.ports.sessions.listByUser(id, behind.ports.clock.now());
      const session = sessions.find(({ userAgent }) => userAgent !== null);
      return session?.rotation ?? expect.unreachable('the user is logged out');
    };

    const counts: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      // No window of the service reaches from one round to the next.
      pass(HOUR);
      await expire();
      const before = await rotations();
      // The tabs and the first document come with one token.
      witness.gather(TABS + 1);
      await Promise.all(tabs.map(beginRenewalIn));
      await Promise.all(
        documents.map(async (tab, index) => {
          await tab.goto(`${pages}/account?document=${index}`);
          await showsAccount(tab, username);
        }),
      );
      for (const tab of tabs) expect(await changesIn(tab)).not.toContain('ended');
      counts.push((await rotations()) - before);
    }
    expect(counts).toEqual(Array(rounds).fill(1));
    for (const tab of tabs) expect(await renewIn(tab)).toBe(true);
  });
});
