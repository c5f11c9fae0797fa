import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, onTestFinished } from 'vitest';
import { hasher, startService, type TestService } from '../http/service.ts';
import { freePort } from '../servers/free-port.ts';
import { openBrowser } from './chromium.ts';
import { clientPage, registeredIn } from './client-page.ts';
import { openSite, type Site } from './site.ts';
import { type Witness, witness } from './witness.ts';

type Applications = {
  /** The origin of the service. */
  readonly service: string;
  /** The service itself, behind the witness. */
  readonly behind: TestService;
  readonly witness: Witness;
  readonly apps: readonly [Site, Site];
  /** A site of the same registrable domain whose origin is not allowed. */
  readonly neighbour: Site;
  readonly browser: BrowserContext;
};

/** For a whole `describe`: two applications and the service, on three hosts of one site, and a browser. */
export const openApplications = (env: Readonly<Record<string, string>> = {}) => {
  let applications: Applications;
  let ahead = 0;
  beforeAll(async () => {
    const { browser } = await openBrowser();
    const open = (name: string): Promise<Site> => openSite(`${name}.tandem.localhost`);
    const [one, two, neighbour] = [await open('one'), await open('two'), await open('neighbour')];
    const port = await freePort();
    const service = `http://auth.tandem.localhost:${port}`;
    const settings = { BASE_URL: service, ALLOWED_ORIGINS_DEV: `${one.origin},${two.origin}`, ...env };
    const behind = await startService(settings, { hasher, clock: { now: () => Date.now() + ahead } });
    const between = await witness(behind.url, port);
    applications = { service, behind, witness: between, apps: [one, two], neighbour, browser };
  });

  /**
   * @param options.clock milliseconds by which the clock of the page and its frame is ahead
   * @param options.vendor replaces `navigator.vendor` in the page and its frame
   */
  const openTab = async (site: Site, { clock = 0, html = '', vendor = '' } = {}): Promise<Page> => {
    const { browser, service } = applications;
    const tab = await browser.newPage();
    onTestFinished(() => tab.close());
    await tab.addInitScript(
      ([by, name, vendor]) => {
        if (vendor) Object.defineProperty(navigator, 'vendor', { value: vendor });
        const now = Date.now.bind(Date);
        Date.now = () => now() + Number(by);
        // The entry makes the client of each application look for a session, although it has not seen the log-in.
        try {
          if (!(Number(localStorage[String(name)]) > 0)) localStorage[String(name)] = 1;
        } catch {
          // Frames of the browser itself, such as error pages, have no storage.
        }
      },
      [clock, `tandem:${service}`, vendor] as const,
    );
    await tab.goto(site.publish(html + clientPage(service)));
    return tab;
  };
  return {
    world: () => applications,
    /** Moves the clock of the service forward. */
    pass: (milliseconds: number) => {
      ahead += milliseconds;
    },
    openTab,
    /** Registers a user at the first application, in a browser without cookies. */
    signedUp: async (given: Parameters<typeof openTab>[1] = {}) => {
      await applications.browser.clearCookies();
      const tab = await openTab(applications.apps[0], given);
      return { tab, person: await registeredIn(tab) };
    },
  };
};
