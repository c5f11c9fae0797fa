import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { canBrowse, openBrowser } from '../support/browser/chromium.ts';
import {
  bindingIn,
  changesIn,
  eventsIn,
  importing,
  refreshIn,
  registeredIn,
  sessionsIn,
} from '../support/browser/client-page.ts';
import { BINDING, openSecureSite, RESOLVING, type Step } from '../support/browser/secure-site.ts';
import { hasher, startService } from '../support/http/service.ts';

const TEN_MINUTES = 600_000;

/** An https site whose application has the client, and a user who has registered in it, until the end of the test. */
const openWorld = async () => {
  const site = await openSecureSite();
  onTestFinished(site.close);
  let ahead = 0;
  const clock = { now: () => Date.now() + ahead };
  const service = await startService(site.env, { hasher, storage: memoryStorage(), clock });
  onTestFinished(service.close);
  site.serve(service.url);
  site.publish(importing(site.service));
  const { browser, close } = await openBrowser({
    as: 'full',
    trusted: site.certificate,
    args: [BINDING, RESOLVING],
  });
  onTestFinished(close);
  const openTab = async (): Promise<Page> => {
    const tab = await browser.newPage();
    await tab.goto(site.application);
    return tab;
  };
  const tab = await openTab();
  const person = await registeredIn(tab);
  await vi.waitFor(() => expect(site.seen()).toContain('registration 200'), { timeout: 60_000, interval: 50 });
  return {
    ...{ site, openTab, tab, person },
    /** Time passes at the service. */
    pass: (milliseconds: number): void => {
      ahead += milliseconds;
    },
    /** As at the end of its ten minutes. */
    dropBoundCookie: () => browser.clearCookies({ name: 'refresh_binding' }),
    eventsIn: (each: Page) => eventsIn(each, site.service),
  };
};
type World = Awaited<ReturnType<typeof openWorld>>;

/** No request of a step, or no response to one, arrives. @returns what ends it. */
const outage = ({ site }: World, step: Step, lost: 'request' | 'response') => {
  let isOver = false;
  const next = (): void => site.cut(isOver ? null : { step, lost, strike: async () => next() });
  next();
  return () => {
    isOver = true;
    next();
  };
};

describe.runIf(canBrowse())('a session with a key of the page and one of the browser', () => {
  it('lives when a response is lost, and the next request is ten minutes later', async () => {
    const world = await openWorld();
    const { tab, person, pass, dropBoundCookie } = world;
    expect(await refreshIn(tab)).toBe(person.username);
    expect(await bindingIn(tab)).toBe('browser');
    const opened = await sessionsIn(tab);
    const end = outage(world, 'refresh', 'response');
    expect(await refreshIn(tab)).toMatch(/No response/);
    end();
    pass(TEN_MINUTES);
    await dropBoundCookie();
    expect(await refreshIn(tab)).toBe(person.username);
    expect(await bindingIn(tab)).toBe('browser');
    expect(await sessionsIn(tab)).toMatchObject([{ id: opened?.[0]?.id, binding: 'browser' }]);
    expect(await changesIn(tab)).not.toContain('ended');
    expect(await world.eventsIn(tab)).not.toContain('device-unproven');
  });

  it('is renewed with the key of the page while the browser cannot renew its cookie', async () => {
    const world = await openWorld();
    const { site, tab, person, dropBoundCookie } = world;
    expect(await refreshIn(tab)).toBe(person.username);
    expect(await bindingIn(tab)).toBe('browser');
    site.take();
    await dropBoundCookie();
    const end = outage(world, 'proof', 'request');
    expect(await refreshIn(tab)).toBe(person.username);
    expect(await bindingIn(tab)).toBe('browser');
    expect(site.take()).toEqual(['refresh 200']);
    end();
    expect(await refreshIn(tab)).toBe(person.username);
    expect(await sessionsIn(tab)).toMatchObject([{ binding: 'browser' }]);
    expect(await world.eventsIn(tab)).not.toContain('device-unproven');
  });
});
