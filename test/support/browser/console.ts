import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import type { Ports } from '../../../src/application/service.ts';
import { hasher, startService, type TestService } from '../http/service.ts';
import { freePort } from '../servers/free-port.ts';
import { openBrowser } from './chromium.ts';
import { axeFaultsOf, watchFaults } from './faults.ts';

export const PHONE = { width: 360, height: 740 };
const DESK = { width: 1_280, height: 800 };
type Look = { readonly size: typeof PHONE; readonly scheme: 'light' | 'dark' };
const LOOKS: readonly (Look & { readonly title: string })[] = [
  { title: 'desk-dark', size: DESK, scheme: 'dark' },
  { title: 'phone-light', size: PHONE, scheme: 'light' },
];

/** A service with the console, for a whole `describe`. */
export const openConsoles = (env: Readonly<Record<string, string>> = {}, ports: Partial<Ports> = {}) => {
  let service: TestService;
  let address = '';
  beforeAll(async () => {
    const port = `${await freePort()}`;
    address = `http://localhost:${port}`;
    service = await startService({ PORT: port, BASE_URL: address, ...env }, { hasher, ...ports });
  });
  /** Opens the console in a browser without cookies, until the end of the test. */
  const visit = async ({ size, scheme }: Look = { size: DESK, scheme: 'light' }): Promise<Console> => {
    const { browser } = await openBrowser();
    const page = await browser.newPage();
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    const faults = await watchConsole(page);
    await page.goto(`${address}/console`);
    return { ...partsOf(page), page, faults };
  };
  return {
    service: () => service,
    visit,
    /** Opens the console, and waits until it is ready. */
    open: async (look?: Look): Promise<Console> => {
      const console = await visit(look);
      await console.page.getByText('Nobody is logged in.').waitFor();
      return console;
    },
  };
};

export type Console = ReturnType<typeof partsOf> & {
  readonly page: Page;
  /** Errors of scripts, and violations of the Content-Security-Policy. */
  readonly faults: () => Promise<readonly string[]>;
};

/** Acts of a user in the console, who finds elements by the names that a screen reader says. */
const partsOf = (page: Page) => {
  const form = (title: string) =>
    page
      .getByRole('region', { name: title, exact: true })
      .or(page.getByRole('form', { name: title, exact: true }))
      .first();
  return {
    form,
    press: (name: string | RegExp): Promise<void> => page.getByRole('button', { name, exact: true }).click(),
    /** Waits for the text of the live region. */
    hears: (text: string | RegExp): Promise<void> => page.getByRole('status').getByText(text).waitFor(),
    /** The lines of the requests, the newest first. */
    lines: (): Promise<readonly string[]> => page.locator('#log summary').allTextContents(),
  };
};

/** Records faults of the page, and errors that scripts write to the console of the browser. */
const watchConsole = async (page: Page): Promise<Console['faults']> => {
  const faults = await watchFaults(page);
  page.on('console', (message) => {
    // The browser reports each response with an error status as well.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  return async () => faults;
};

/** Expects in every look that axe-core finds no fault, that the page needs no scrolling sideways, and `holds`. The page keeps the last look. */
export const expectSettled = async (page: Page, name: string, holds = async (): Promise<void> => undefined) => {
  for (const { title, size, scheme } of LOOKS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: scheme });
    expect([title, ...(await axeFaultsOf(page))]).toEqual([title]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await holds();
    await screenshot(page, `console-${title}-${name}`);
  }
};

/** Stores a picture of the whole page if TEST_SCREENSHOTS names a directory. */
export const screenshot = async (page: Page, name: string): Promise<void> => {
  const directory = process.env.TEST_SCREENSHOTS;
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  // Scrolled to the top first, since the header stays at the top of the visible part.
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
};
