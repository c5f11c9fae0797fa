import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, onTestFinished } from 'vitest';
import { hasher, startService, type TestService } from '../http/service.ts';
import { freePort } from '../servers/free-port.ts';
import { openBrowser } from './chromium.ts';
import { importing, registeredIn } from './client-page.ts';
import { openSite, type Site } from './site.ts';
import { type Witness, witness } from './witness.ts';

type Applications = {
  /** The origin of the service. */
  readonly service: string;
  /** The service without the witness. */
  readonly behind: TestService;
  readonly witness: Witness;
  readonly apps: readonly [Site, Site];
  /** A site of the same registrable domain whose origin is not allowed. */
  readonly neighbour: Site;
  readonly browser: BrowserContext;
};

/** Two applications and the service on three hosts of one site, and a browser, for a whole `describe`. */
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
   * @param given.clock milliseconds by which the clock of the machine is wrong, in the page and in its frame
   * @param given.vendor of the browser, as the page and its frame see it
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
        // Each application looks for a session, though it has not seen the log-in.
        try {
          if (!(Number(localStorage[String(name)]) > 0)) localStorage[String(name)] = 1;
        } catch {
          // A frame of the browser's own, such as an error page.
        }
      },
      [clock, `tandem:${service}`, vendor] as const,
    );
    await tab.goto(site.publish(html + importing(service)));
    return tab;
  };
  return {
    world: () => applications,
    /** Time passes at the service. */
    pass: (milliseconds: number) => {
      ahead += milliseconds;
    },
    openTab,
    /** A user who has registered at the first application, in a browser without cookies. */
    signedUp: async (given: Parameters<typeof openTab>[1] = {}) => {
      await applications.browser.clearCookies();
      const tab = await openTab(applications.apps[0], given);
      return { tab, person: await registeredIn(tab) };
    },
  };
};
