import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { canBrowse, launchChromium, openBrowser } from '../support/browser/chromium.ts';
import { BINDING, openSecureSite, RESOLVER_RULES, type SecureSite, type Step } from '../support/browser/secure-site.ts';
import { ask } from '../support/browser/tab.ts';
import { eventsOf } from '../support/http/account.ts';
import { aPerson, hasher, startService } from '../support/http/service.ts';

const SOON = { timeout: 60_000, interval: 50 };
const REGISTERED = 'registration 200';

/** A browser in which the application of the site is open, until the end of the test. One that is `alone` can be started again. */
const visit = async (site: SecureSite, { alone = false } = {}) => {
  const options = { as: 'full', trusted: site.certificate, args: [BINDING, RESOLVER_RULES] } as const;
  const opened = alone ? await launchChromium(options) : { ...(await openBrowser(options)), restart: null };
  onTestFinished(opened.close);
  let running = opened.browser;
  let tab = await running.newPage();
  await tab.goto(site.application);
  const post = (path: string, json?: object) =>
    ask(tab, `${site.service}${path}`, { method: 'POST', ...(json && { json }) });
  return {
    cookies: async () => (await running.cookies()).map(({ name, value }) => `${name}=${value}`),
    restart: async (): Promise<void> => {
      running = (await opened.restart?.()) ?? expect.unreachable('others use the browser');
      tab = await running.newPage();
      await tab.goto(site.application);
    },
    get: (path: string) => ask(tab, `${site.service}${path}`),
    refresh: () => post('/auth/refresh-token'),
    /** Somebody registers. */
    signUp: async () => {
      const { body } = await post('/auth/register', aPerson());
      return body.data.user.id;
    },
  };
};

/** Bound cookies live for two seconds, so Chromium also renews them beside refreshes: they are near their end. */
const SHORT = { boundCookieLifetime: 2_000 };

/** The same with a site and a service. */
const openWorld = async (settings = {}, own: Parameters<typeof visit>[1] = {}) => {
  const site = await openSecureSite();
  const browser = await visit(site, own);
  const { cookies } = browser;
  const service = await startService(site.env, { hasher, storage: memoryStorage() }, settings);
  site.serve(service.url);
  const isBound = async () => (await cookies()).some((cookie) => cookie.startsWith('refresh_binding='));
  return {
    ...browser,
    site,
    service,
    /** Somebody registers, and the browser its key. */
    bind: async () => {
      const id = await browser.signUp();
      await vi.waitFor(() => expect(site.seen()).toContain(REGISTERED), SOON);
      expect(site.take()).toEqual(['log-in 201', REGISTERED]);
      return id;
    },
    /** The cookie has come to its end. */
    untilExpired: () => vi.waitFor(async () => expect(await isBound()).toBe(false), SOON),
    kindsOf: async (id: string) => (await eventsOf(service, id)).map(({ kind }) => kind),
  };
};

describe.runIf(canBrowse())('Chromium that holds a key', () => {
  it('holds a refresh back until it has the cookie', async () => {
    const { site, bind, refresh, kindsOf } = await openWorld();
    const id = await bind();
    expect((await refresh()).status).toBe(200);
    expect(site.take()).toEqual(['question 403', 'proof 200', 'refresh 200']);
    expect(await kindsOf(id)).toContain('device-bound');
  });

  it('renews the cookie again and again, also after it was started again', async () => {
    const { site, bind, refresh, untilExpired, restart, kindsOf } = await openWorld(SHORT, { alone: true });
    const id = await bind();
    for (const started of [false, true]) {
      if (started) await restart();
      expect((await refresh()).status).toBe(200);
      await untilExpired();
      expect(site.take()).toContain('proof 200');
    }
    expect((await refresh()).status).toBe(200);
    expect(await kindsOf(id)).toEqual(['device-bound', 'registered']);
  });

  it('goes on when its cookies were copied, which are worthless soon', async () => {
    const { service, bind, cookies, refresh, untilExpired, kindsOf } = await openWorld(SHORT);
    const id = await bind();
    expect((await refresh()).status).toBe(200);
    const copied = await cookies();
    expect(copied).toContainEqual(expect.stringMatching(/^refresh_binding=./));
    await untilExpired();
    const thief = await service.http.post('/auth/refresh-token').set('Cookie', copied.join('; '));
    expect([thief.status, thief.body.code]).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
    expect(await kindsOf(id)).toContain('device-unproven');
    expect((await refresh()).status).toBe(200);
  });

  it('forgets its session after a log-out, and binds the next one', async () => {
    const { site, bind, get, refresh } = await openWorld();
    await bind();
    expect((await refresh()).status).toBe(200);
    await get('/auth/clear-cookie');
    site.take();
    expect((await refresh()).status).toBe(401);
    expect(site.take()).toEqual(['proof 401', 'refresh 401']);
    await bind();
    expect((await refresh()).status).toBe(200);
    expect(site.take()).toEqual(['question 403', 'proof 200', 'refresh 200']);
  });
});

const STEPS: readonly Step[] = ['registration', 'question', 'proof', 'refresh'];

describe.runIf(canBrowse())('Chromium that holds a key', () => {
  // The service stops in order, but nothing of that reaches the browser. The next one knows what was stored, and what modules keep.
  const storage = memoryStorage();
  const startAt = async (site: SecureSite) => {
    const service = await startService(site.env, { hasher, storage });
    site.serve(service.url);
    return service;
  };

  it.each(STEPS)('stays logged in when the service ends before the response of a %s', async (step) => {
    const site = await openSecureSite();
    const service = await startAt(site);
    const { signUp, refresh } = await visit(site);
    site.take();
    const restarting = Promise.withResolvers<unknown>();
    const strike = async () => {
      await service.close();
      restarting.resolve(startAt(site));
    };
    const refusals: unknown[] = [];
    const goOn = () =>
      vi.waitFor(async () => {
        const { status, body } = await refresh();
        if (status !== 200) refusals.push(body.code);
        expect(status).toBe(200);
      }, SOON);

    const isRegistration = step === 'registration';
    if (isRegistration) site.cut({ step, lost: 'response', strike });
    await signUp();
    if (!isRegistration) {
      await vi.waitFor(() => expect(site.seen()).toContain(REGISTERED), SOON);
      site.cut({ step, lost: 'response', strike });
      await goOn();
    }
    await restarting.promise;
    await goOn();
    await goOn();
    expect(refusals).not.toContain('AUTH_FAILED');
  });
});
