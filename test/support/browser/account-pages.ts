import { createServer, request } from 'node:http';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { isCommonPassword } from '../../../src/adapters/crypto/common-passwords.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import type { Mail } from '../../../src/application/ports/mailer.ts';
import { hasher, startService, type TestService } from '../http/service.ts';
import { memoryMailer } from '../mail/memory-mailer.ts';
import { freePort } from '../servers/free-port.ts';
import { openBrowser } from './chromium.ts';
import { watchFaults } from './faults.ts';
import { listenOnLoopback } from './listen.ts';

export const ACCOUNT_PAGE_NAMES = [
  'password-reset',
  'email-verification',
  'not-me',
  'email-change',
  'email-change-undo',
  'factors-undo',
] as const;
type Name = (typeof ACCOUNT_PAGE_NAMES)[number];

export const APPLICATION = 'https://app.example.org';

/**
 * A service that sends mail into memory, and a browser, for a whole `describe`.
 * @param path where a proxy puts the service.
 * @param more variables of its environment.
 */
export const openAccountPages = (path = '', more: Readonly<Record<string, string>> = {}) => {
  const cleanups: (() => Promise<unknown>)[] = [];
  const mailer = memoryMailer();
  let service: TestService;
  let browser: BrowserContext;
  let address = '';
  beforeAll(async () => {
    const launched = await openBrowser();
    cleanups.push(launched.close);
    browser = launched.browser;
    const port = `${await freePort()}`;
    const proxy = path === '' ? null : await proxyBelow(path, port);
    if (proxy !== null) cleanups.push(proxy.close);
    address = `http://localhost:${proxy?.port ?? port}${path}`;
    // The storage of the example has no links in mail.
    const env = {
      PORT: port,
      BASE_URL: address,
      ALLOWED_ORIGINS_DEV: APPLICATION,
      ...more,
    };
    service = await startService(
      env,
      { storage: memoryStorage(), hasher, mailer, isCommonPassword },
      { console: false },
    );
    cleanups.push(service.close);
  });
  afterAll(async () => {
    for (const clean of cleanups.toReversed()) await clean();
  });

  const deliver = async (): Promise<void> => {
    for (;;) {
      const attempts = (await service.mail?.send(10)) ?? [];
      if (attempts.length === 0) return;
      await Promise.all(attempts);
    }
  };
  return {
    service: () => service,
    address: () => address,
    /** The link to that page in the last mail to the address that has one. */
    linkFor: async (email: string, name: Name): Promise<string> => {
      await deliver();
      const link = new RegExp(`^http.*/account/${name}#token=.*$`, 'm');
      const texts = mailer.mails.filter(({ to }) => to === email).map(({ text }) => link.exec(text)?.[0]);
      const found = texts.findLast((text) => text !== undefined);
      if (found === undefined) throw new Error(`no mail to ${email} has a link to ${name}`);
      return found;
    },
    subjectsTo: async (email: string): Promise<readonly string[]> => {
      await deliver();
      return mailer.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
    },
    lastMailTo: async (email: string): Promise<Mail> => {
      await deliver();
      const mail = mailer.mails.findLast(({ to }) => to === email);
      if (mail === undefined) throw new Error(`no mail was sent to ${email}`);
      return mail;
    },
    /** A tab without a page, until the end of the test. */
    tab: async (): Promise<AccountTab> => {
      const page = await browser.newPage();
      onTestFinished(() => page.close());
      return watched(page);
    },
  };
};

export type AccountTab = Awaited<ReturnType<typeof watched>>;

const watched = async (page: Page) => {
  const faults = await watchFaults(page);
  const requests: Request[] = [];
  page.on('request', (sent) => requests.push(sent));
  const field = (label: string) => page.getByLabel(label, { exact: true });
  return {
    page,
    field,
    /** Exceptions, and what the Content-Security-Policy has refused. */
    faults,
    /** What the tab has sent. */
    requests,
    posts: (): readonly Request[] => requests.filter((sent) => sent.method() === 'POST'),
    open: async (url: string): Promise<void> => {
      await page.goto(url);
    },
    press: (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click(),
    /** Waits for the text of the live region. */
    hears: (text: string | RegExp): Promise<void> => page.getByRole('status').getByText(text).waitFor(),
    buttons: (): Promise<readonly string[]> => page.getByRole('button').allTextContents(),
    /** Where the links go that are seen. */
    links: (): Promise<readonly (string | null)[]> =>
      page.locator('a:visible').evaluateAll((all) => all.map((link) => link.getAttribute('href'))),
    /** The role or the tag of what has the focus, and its name. */
    focused: (): Promise<string> =>
      page.evaluate('(document.activeElement.getAttribute("role") ?? document.activeElement.id)'),
  };
};

/** A proxy that removes the path below which it has put the service, and knows nothing else. */
const proxyBelow = (path: string, port: string) =>
  listenOnLoopback(
    createServer((incoming, outgoing) => {
      const { url = '', method, headers } = incoming;
      if (!url.startsWith(`${path}/`)) {
        outgoing.writeHead(404).end();
        return;
      }
      const target = { host: '127.0.0.1', port, path: url.slice(path.length), method, headers };
      const forwarded = request(target, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      });
      forwarded.on('error', () => outgoing.destroy());
      incoming.pipe(forwarded);
    }),
  );
