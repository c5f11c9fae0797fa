import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { oneTimePassword } from '../../../src/adapters/crypto/secrets.ts';
import { acceptedSteps } from '../../../src/domain/second-factor.ts';
import { launchChromium } from '../browser/chromium.ts';
import { provideChromium } from '../browser/program.ts';
import { runService } from '../processes/process.ts';
import { freePort } from '../servers/free-port.ts';
import { temporaryDirectory } from '../storage/temporary-directory.ts';
import { ROOT } from './repository.ts';

/** `npm run screenshots` takes the pictures of the documentation, of a service with made-up users. */

const DIRECTORY = join(ROOT, 'docs/images');
const MAX_BYTES = 60_000;
const DESKTOP = { viewport: { width: 960, height: 760 }, locale: 'en-US', deviceScaleFactor: 1.5 };
const OFFICE = { ...DESKTOP, viewport: { width: 1280, height: 800 } };
const SECRET = 'a-secret-of-this-picture-alone-0123456789';
const PASSWORD = 'correct horse battery';
const HOUR = 3_600_000;
const SHARES: readonly (readonly [kind: string, detail: string, share: number])[] = [
  ['logged-in', 'password', 24],
  ['logged-in', 'passkey', 14],
  ['logged-in', 'provider', 9],
  ['registered', '', 6],
  ['login-refused', '', 4],
  ['session-ended', 'logout', 8],
];
const NAMES = ['grace', 'alan', 'edsger', 'barbara', 'donald', 'margaret', 'ada'];

const origin = `http://localhost:${await freePort()}`;
const office = `http://localhost:${await freePort()}`;
const data = temporaryDirectory();
const service = await runService({
  DATA_DIR: data.path,
  PORT: new URL(origin).port,
  BASE_URL: origin,
  BRAND_NAME: 'Acme Notes',
  LOGIN_BY_CODE: 'on',
  // No server listens there, since no mail is needed.
  MAIL_URL: 'smtp://127.0.0.1:9',
  OIDC_PROVIDERS: 'google,github',
  ...Object.fromEntries(
    ['GOOGLE', 'GITHUB'].flatMap((name) => [
      [`OIDC_${name}_CLIENT_ID`, 'example'],
      [`OIDC_${name}_CLIENT_SECRET`, 'example'],
    ]),
  ),
  ADMIN_PORT: new URL(office).port,
  ADMIN_URL: office,
  ADMIN_IDENTITY_HEADER: 'Remote-User',
  ADMIN_PROXY_SECRET: SECRET,
});
const chromium = await launchChromium({ program: (await provideChromium()).full });

const pageIn = async (options: BrowserContextOptions): Promise<Page> => {
  const context = await chromium.browser.browser()?.newContext(options);
  if (context === undefined) throw new Error('the browser has ended');
  return context.newPage();
};

const picture = async (page: Page, name: string): Promise<void> => {
  await page.evaluate('document.activeElement.blur()');
  const tools = await page.context().newCDPSession(page);
  const { data } = await tools.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
  const bytes = Buffer.from(data, 'base64');
  if (bytes.length > MAX_BYTES) throw new Error(`${name}.webp has ${bytes.length} bytes`);
  writeFileSync(join(DIRECTORY, `${name}.webp`), bytes);
};

/** Fills in a form, sends it, and waits for the next page. */
const submit = async (page: Page, form: string, fields: Readonly<Record<string, string>> = {}): Promise<void> => {
  for (const [name, text] of Object.entries(fields))
    await page.locator(`form[data-form="${form}"] [name="${name}"]`).fill(text);
  const loaded = page.waitForEvent('load');
  await page.locator(`form[data-form="${form}"] button:not([type], [formaction])`).click();
  await loaded;
};

const register = async (page: Page, username: string): Promise<void> => {
  await page.goto(`${origin}/auth/register`);
  await submit(page, 'register.register', { username, email: `${username}@example.org`, password: PASSWORD });
};

/** Stores counts for the last 24 hours, with more log-ins by day than by night. */
const fillOverview = (): void => {
  const database = new DatabaseSync(join(data.path, 'database.sqlite'), { timeout: 60_000 });
  const insert = database.prepare(
    'insert or replace into hourly_counts (hour, kind, detail, count, version) values (?, ?, ?, ?, 0)',
  );
  const latest = Math.floor(Date.now() / HOUR) * HOUR - HOUR;
  for (let ago = 0; ago < 24; ago += 1) {
    const hour = latest - ago * HOUR;
    const busy = 1.2 - Math.cos(((hour % (24 * HOUR)) / HOUR / 12) * Math.PI);
    for (const [kind, detail, share] of SHARES)
      insert.run(hour, kind, detail, Math.round(share * busy + ((ago * 7) % 3)));
    insert.run(hour, 'users', '', 1_842 - 9 * ago);
    insert.run(hour, 'sessions', '', 2_260 - 5 * ago + Math.round(60 * busy));
  }
  database.close();
};

try {
  fillOverview();
  rmSync(DIRECTORY, { recursive: true, force: true });
  mkdirSync(DIRECTORY, { recursive: true });
  for (const name of NAMES.slice(0, -1)) await register(await pageIn(DESKTOP), name);

  const page = await pageIn(DESKTOP);
  await page.goto(`${origin}/auth/log-in`);
  await picture(page, 'log-in');
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture(page, 'log-in-dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await register(page, 'ada');
  await page.goto(`${origin}/auth/account`);
  await picture(page, 'settings');
  await page.goto(`${origin}/auth/account/factors`);
  await submit(page, 'factors.start-app');
  const secret = ((await page.locator('main p > code').textContent()) ?? '').replaceAll(' ', '');
  await submit(page, 'factors.app', { code: oneTimePassword(secret, acceptedSteps(Date.now())[0] ?? 0) });
  await page.goto(`${origin}/auth/log-out`);
  await submit(page, 'log-out.log-out');
  await page.goto(`${origin}/auth/log-in`);
  await submit(page, 'log-in.account', { account: 'ada' });
  await submit(page, 'log-in.log-in', { password: PASSWORD });
  await picture(page, 'second-factor');

  const operator = await pageIn({
    ...OFFICE,
    extraHTTPHeaders: { 'Remote-User': 'support@example.org', 'Tandem-Proxy-Secret': SECRET },
  });
  await operator.goto(`${office}/office`);
  await picture(operator, 'back-office');
  await operator.goto(`${office}/office/users`);
  await operator.locator('main a', { hasText: 'ada' }).first().click();
  await operator.waitForURL(/users\/./);
  await picture(operator, 'back-office-user');
} finally {
  await chromium.close();
  await service.stop();
  data.remove();
}
