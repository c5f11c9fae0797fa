import { createServer } from 'node:http';
import type { BrowserContext, BrowserContextOptions, Locator, Page, Request } from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { isCommonPassword } from '../../../src/adapters/crypto/known-passwords.ts';
import { oneTimePassword } from '../../../src/adapters/crypto/secrets.ts';
import EN from '../../../src/adapters/http/pages/templates/en.json' with { type: 'json' };
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import type { LinkPurpose } from '../../../src/domain/link.ts';
import { acceptedSteps } from '../../../src/domain/second-factor.ts';
import { forward } from '../forward.ts';
import { deliver, mailedCode } from '../http/account.ts';
import { hasher, startService, type TestService } from '../http/service.ts';
import { listenOnLoopback } from '../listen.ts';
import { memoryMailer } from '../mail/memory-mailer.ts';
import { freePort } from '../servers/free-port.ts';
import { canBrowse, openBrowser } from './chromium.ts';
import { watchFaults } from './faults.ts';
import { hasFirefox, openFirefox } from './firefox.ts';
import { openSite, type Site } from './site.ts';

/** The English texts of the pages. */
export const TEXTS = EN;

/** A browser, and whether scripts run in it. */
export type Kind = {
  readonly browser: 'chromium' | 'firefox';
  readonly script: boolean;
  /** Options of Chromium. */
  readonly own?: Parameters<typeof openBrowser>[0];
};

export const CHROMIUM: Kind = { browser: 'chromium', script: true };
const PLAIN: Kind = { browser: 'chromium', script: false };
const FIREFOX: Kind = { browser: 'firefox', script: true };
/** The installed browsers. Without scripts, pages are tested in one of them, since they do not depend on the browser then. */
export const KINDS: readonly Kind[] = [...(canBrowse() ? [CHROMIUM, PLAIN] : []), ...(hasFirefox() ? [FIREFOX] : [])];

/**
 * For a whole `describe`: a service whose mail stays in memory, and an application.
 * @param env variables of the service
 * @param path the path below which a proxy puts the service
 */
export const openUserPages = (env: Readonly<Record<string, string>> = {}, path = '') => {
  const mailer = memoryMailer();
  let service: TestService;
  let application: Site;
  let ahead = 0;
  beforeAll(async () => {
    application = await openSite('127.0.0.1');
    const port = `${await freePort()}`;
    const clock = { now: () => Date.now() + ahead };
    const ports = { storage: memoryStorage(), hasher, mailer, isCommonPassword, clock };
    const proxy = path === '' ? null : await proxyBelow(path, port);
    const BASE_URL = `http://localhost:${proxy?.port ?? port}${path}`;
    const settings = { PORT: port, BASE_URL, ALLOWED_ORIGINS_DEV: application.origin };
    service = await startService({ ...settings, ...env }, ports, { console: false });
  });
  const address = (path = ''): string => `${service.config.baseUrl}${path}`;
  return {
    service: () => service,
    application: () => application,
    address,
    /** Moves the clock of the service forward. */
    pass: (milliseconds: number): void => {
      ahead += milliseconds;
    },
    /** The link with this purpose in the last mail to the address that has such a link. */
    linkFor: async (email: string, purpose: LinkPurpose): Promise<string> => {
      await deliver(service);
      const link = new RegExp(`^http.*/auth/link/${purpose}#token=.*$`, 'm');
      const found = mailer.mails
        .filter(({ to }) => to === email)
        .map(({ text }) => link.exec(text)?.[0])
        .findLast((text) => text !== undefined);
      if (found === undefined) throw new Error(`no mail to ${email} has a link to ${purpose}`);
      return found;
    },
    /** The code in the last mail to the address that has a code. */
    codeFor: (email: string): Promise<string> => mailedCode(service, mailer, email),
    /** Opens a window without cookies, until the end of the test. */
    visitor: async (kind: Kind, options: BrowserContextOptions = {}): Promise<Visitor> => {
      const context = await windowOf(kind, { locale: 'en-US', ...options });
      onTestFinished(() => context.close());
      return { context, ...(await tabOf(context, address)) };
    },
    /** Opens another tab in the window of a visitor. */
    tab: ({ context }: Visitor): Promise<Tab> => tabOf(context, address),
  };
};

/** A proxy that puts the service below a path: it removes the path from requests, and answers others with 404. */
const proxyBelow = async (path: string, port: string) => {
  const server = createServer((incoming, outgoing) => {
    const { url = '' } = incoming;
    if (!url.startsWith(`${path}/`)) return void outgoing.writeHead(404).end();
    forward(incoming, outgoing, new URL(url.slice(path.length), `http://127.0.0.1:${port}`));
  });
  return listenOnLoopback(server);
};

const windowOf = async ({ browser, script, own }: Kind, options: BrowserContextOptions): Promise<BrowserContext> => {
  if (browser === 'chromium') return (await openBrowser(own, { javaScriptEnabled: script, ...options })).browser;
  return openFirefox(options);
};

export type Tab = {
  readonly page: Page;
  /** Exceptions, violations of the Content-Security-Policy, and errors in the console. */
  readonly faults: readonly string[];
  readonly requests: readonly Request[];
  readonly posts: () => readonly Request[];
  /** A form by the names of its page and itself in `src/adapters/http/flow`, such as `log-in.passkey`. */
  readonly form: (name: string, where?: string) => Locator;
  readonly open: (path: string) => Promise<void>;
  /** Fills in a form, sends it, and waits for the next page. @param lead sends the form; default: a click on its button */
  readonly submit: (form: string, fields?: Fields, lead?: (button: Locator) => Promise<void>) => Promise<void>;
  readonly follow: (link: string) => Promise<void>;
  /** The URL of the tab; of the service, only the path. */
  readonly at: () => string;
  /** Expects the tab to be at a path, and its page to show a notice. @param notice the name of its text */
  readonly isAt: (path: string, notice?: keyof typeof EN.notices) => Promise<void>;
};
export type Visitor = Tab & { readonly context: BrowserContext };
type Fields = Readonly<Record<string, string | true>>;

/** The forms in the second view of the log-in, after the field for the account. */
const SECOND = ['log-in.log-in', 'log-in.code'];

/** The message of Chromium about a page with an error status. */
const STATUS = /^Failed to load resource: the server responded with a status of [45]/;

const tabOf = async (context: BrowserContext, address: (path?: string) => string): Promise<Tab> => {
  const page = await context.newPage();
  const faults = await watchFaults(page);
  const requests: Request[] = [];
  page.on('request', (sent) => requests.push(sent));
  page.on('console', (message) => {
    if (message.type() === 'error' && !STATUS.test(message.text())) faults.push(message.text());
  });
  /** A form of this name, or one that has a button of this name. */
  const form = (name: string, where = ''): Locator =>
    page.locator(`${where} :is(form[data-form="${name}"], form:has([data-form="${name}"]))`);
  const arriving = async (lead: () => Promise<unknown>): Promise<void> => {
    const loaded = page.waitForEvent('load');
    await lead();
    await loaded;
  };
  // Without the parameters about a log-in, a proof or a failure, which the script of the page removes at some time.
  const at = (): string =>
    page
      .url()
      .replace(address(), '')
      .replace(/[?&]tandem=(?:logged-in|failed)$/, '')
      .replace(/[?&]next=password$/, '');
  return {
    ...{ page, faults, requests, form, at },
    posts: () => requests.filter((sent) => sent.method() === 'POST' && sent.isNavigationRequest()),
    open: async (path) => {
      await page.goto(path.startsWith('http') ? path : address(path));
    },
    submit: async (name, fields = {}, lead = (button) => button.click()) => {
      const closed = page.locator(`details:not([open]):has([data-form="${name}"]) > summary`).first();
      if ((await closed.count()) > 0) await closed.click();
      const first = form('log-in.account');
      if (SECOND.includes(name) && (await first.count()) > 0) {
        await first.locator('[name=account]').fill(`${fields.account}`);
        await arriving(() => first.locator('button').click());
      }
      for (const [field, text] of Object.entries(fields)) {
        const input = form(name).locator(`[name="${field}"]`);
        if (text === true) await input.check();
        else if ((await input.getAttribute('readonly')) !== null)
          expect(await input.inputValue()).toBe(`${text}`.trim());
        else if ((await input.evaluate(({ tagName }) => tagName)) === 'SELECT') await input.selectOption(text);
        else {
          // Emptied first, since Playwright appends to the text of a field for email in Firefox.
          await input.evaluate((given) => Object.assign(given, { value: '' }));
          await input.fill(text);
        }
      }
      // The next page is awaited, since the script waits for the key of the device before it sends the form.
      const button = page.locator(
        `form[data-form="${name}"] button:not([type], [formaction]), button[data-form="${name}"]`,
      );
      await arriving(() => lead(button.first()));
    },
    follow: (link) => arriving(() => page.locator(`a[href*="${link}"]`).first().click()),
    isAt: async (path, notice) => {
      expect(at()).toBe(path);
      if (notice === undefined) return;
      expect(await page.getByRole('status').textContent()).toContain(EN.notices[notice]);
    },
  };
};

/** A function that returns codes of an app. Each call returns a later one, of which two are accepted at the same time. @param shown the secret, in groups */
export const codesOf = (shown: string) => {
  const secret = shown.replaceAll(' ', '');
  let last = 0;
  return (now: number): string => {
    const [present = 0] = acceptedSteps(now);
    last = Math.max(present, last + 1);
    return oneTimePassword(secret, last);
  };
};
