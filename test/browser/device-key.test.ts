import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openApplications } from '../support/browser/applications.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import {
  bindingIn,
  changesIn,
  eventsIn as eventsAt,
  refreshIn,
  restoredIn,
  sessionsIn,
} from '../support/browser/client-page.ts';

const REFRESH = '/auth/refresh-token';
const TABS = 3;
const ROUNDS = 2;
const HOUR = 3_600_000;

describe.runIf(canBrowse())('two applications of one site, which have one key', () => {
  const { world, openTab, signedUp, pass } = openApplications();

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
  it(`keep the user in ${TABS} tabs each, after ${ROUNDS} renewals of all at one instant`, async () => {
    const { tab, person } = await signedUp();
    const tabs: Page[] = [];
    for (const app of world().apps) for (let each = 0; each < TABS; each += 1) tabs.push(await openTab(app));
    for (const each of tabs) expect(await restoredIn(each)).toBe(person.username);
    for (let round = 0; round < ROUNDS; round += 1) {
      // A browser has six connections to a host at most.
      world().witness.gather(TABS);
      expect(await Promise.all(tabs.map(refreshIn))).toEqual(tabs.map(() => person.username));
    }
    expect((await Promise.all(tabs.map(changesIn))).flat()).not.toContain('ended');
    expect(new Set(await Promise.all(tabs.map(bindingIn)))).toEqual(new Set(['device']));
    expect(await sessionsIn(tab)).toMatchObject([{ binding: 'device', current: true }]);
    expect(await eventsIn(tab)).not.toContain('device-unproven');
  });

  it('make a copy of the cookie worthless, and the session lives', async () => {
    const { tab, person } = await signedUp();
    const copy = await copiedCookie();
    expect(await steal(copy)).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
    expect(await refreshIn(tab)).toBe(person.username);
    pass(HOUR);
    expect(await steal(copy)).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
    expect(await refreshIn(tab)).toBe(person.username);
    expect(await changesIn(tab)).not.toContain('ended');
    expect(await eventsIn(tab)).toContain('device-unproven');
  });

  it('keep the user in when the connection is closed before the response, and the browser sends the same again', async () => {
    const { tab, person } = await signedUp();
    await refreshIn(tab);
    const { arrived, lose } = world().witness.hold(REFRESH);
    const refreshed = refreshIn(tab);
    await arrived;
    lose();
    expect(await refreshed).toBe(person.username);
    expect(await changesIn(tab)).not.toContain('ended');
    expect(await eventsIn(tab)).not.toContain('device-unproven');
  });

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
