import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { fixedClock } from '../fixed-clock.ts';
import { aPerson, hasher, startService } from '../http/service.ts';
import { freePort } from '../servers/free-port.ts';
import { openBrowser } from './chromium.ts';
import { type Host, openSite, type Site } from './site.ts';
import { type Answer, ask } from './tab.ts';
import { type Witness, witness } from './witness.ts';

/** An application on the same site as the service, which is at `localhost`, and one on another site, each with a suitable refresh cookie. */
export const SITUATIONS: readonly { readonly title: string; readonly host: Host; readonly env: Env }[] = [
  { title: 'an application of the same site with the default cookie', host: 'localhost', env: {} },
  {
    title: 'an application of another site with a SameSite=None cookie',
    host: '127.0.0.1',
    env: { JWT_REFRESH_COOKIE_SAME_SITE: 'none', JWT_REFRESH_COOKIE_SECURE: 'true' },
  },
];

type Env = Readonly<Record<string, string>>;

type World = {
  /** The origin of the service. */
  readonly service: string;
  readonly witness: Witness;
  /** A site with an allowed origin. */
  readonly app: Site;
  /** A site whose origin is not allowed. */
  readonly foreign: Site;
  /** Opens another site whose origin is not allowed. */
  readonly openSite: (host: Host) => Promise<Site>;
};

/** A browser without cookies, in which the application is open, and a person who is not registered yet. */
export type Visitor = {
  readonly browser: BrowserContext;
  readonly tab: Page;
  readonly person: ReturnType<typeof aPerson>;
  readonly post: (path: string, json?: object, tab?: Page) => Promise<Answer>;
  readonly get: (path: string, headers?: Env, tab?: Page) => Promise<Answer>;
  /** Opens another tab until the end of the test. */
  readonly open: (url: string) => Promise<Page>;
};

/**
 * For a whole `describe`: the service, an application, a foreign site and a browser. The clock of the service stands still, so that no replayed token
 * arrives after the end of a window, however slow the machine is.
 * @param hasPages whether the service knows its URL, which the forms of its pages and the key of a device need
 */
export const openWorld = (
  host: Host,
  env: Env,
  own: Parameters<typeof openBrowser>[0] = {},
  { hasPages = false } = {},
) => {
  let browser: BrowserContext;
  let tab: Page;
  let world: World;
  beforeAll(async () => {
    ({ browser } = await openBrowser(own));
    const [app, foreign] = [await openSite(host), await openSite('127.0.0.1')];
    const clock = fixedClock(Date.now());
    const port = hasPages ? await freePort() : undefined;
    const address = port === undefined ? {} : { BASE_URL: `http://localhost:${port}` };
    const service = await startService({ ALLOWED_ORIGINS_DEV: app.origin, ...address, ...env }, { hasher, clock });
    const between = await witness(service.url, port);
    world = { service: `http://localhost:${between.port}`, witness: between, app, foreign, openSite };
    tab = await browser.newPage();
    await tab.goto(app.publish('<title>application</title>'));
  });

  const visit = async (): Promise<Visitor> => {
    await browser.clearCookies();
    return {
      browser,
      tab,
      open: async (url) => {
        const page = await browser.newPage();
        onTestFinished(() => page.close());
        await page.goto(url);
        return page;
      },
      person: aPerson(),
      post: (path, json, from = tab) =>
        ask(from, world.service + path, { method: 'POST', ...(json !== undefined && { json }) }),
      get: (path, headers = {}, from = tab) => ask(from, world.service + path, { headers }),
    };
  };
  return {
    world: () => world,
    visit,
    /** A visitor who has registered. */
    signedUp: async (): Promise<Visitor> => {
      const visitor = await visit();
      expect((await visitor.post('/auth/register', visitor.person)).status).toBe(201);
      return visitor;
    },
  };
};
