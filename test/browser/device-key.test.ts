import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openApplications } from '../support/browser/applications.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { bindingIn, eventsIn as eventsAt, refreshIn, restoredIn, sessionsIn } from '../support/browser/client-page.ts';

const REFRESH = '/auth/refresh-token';

describe.runIf(canBrowse())('two applications of one site, which have one key', () => {
  const { world, openTab, signedUp } = openApplications();

  const eventsIn = (tab: Page) => eventsAt(tab, world().service);
  /** A refresh with a copy of the cookie alone. */
  const steal = async (cookie: string) => {
    const { status, body } = await world().behind.http.post(REFRESH).set('Cookie', cookie);
    return [status, body.code];
  };
  const copiedCookie = async (): Promise<string> => {
    const cookies = await world().browser.cookies(`${world().service}/auth`);
    return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  };
  it('work without a key where the application does not allow the frame', async () => {
    const html = `<meta http-equiv="Content-Security-Policy" content="frame-src 'none'">`;
    const { tab, person } = await signedUp({ html });
    expect(await bindingIn(tab)).toBe('none');
    expect(await refreshIn(tab)).toBe(person.username);
    expect(await sessionsIn(tab)).toMatchObject([{ binding: 'none' }]);
    expect(await steal(await copiedCookie())).toEqual([200, undefined]);
  });

  it('have no key in a browser that would give each of them another one', async () => {
    const { tab } = await signedUp({ vendor: 'Apple Computer, Inc.' });
    expect(await sessionsIn(tab)).toMatchObject([{ binding: 'none' }]);
    const other = await openTab(world().apps[1], { vendor: 'Apple Computer, Inc.' });
    expect(await restoredIn(other)).toBeTypeOf('string');
    expect(await eventsIn(tab)).not.toContain('device-unproven');
  });

  it('have another frame when a page has removed the first', async () => {
    const { tab, person } = await signedUp();
    await tab.evaluate("document.querySelector('iframe').remove()");
    expect(await refreshIn(tab)).toBe(person.username);
    expect(await eventsIn(tab)).not.toContain('device-unproven');
  });
});
