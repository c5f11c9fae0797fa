import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { canBrowse, openBrowser } from '../support/browser/chromium.ts';
import { watchFaults } from '../support/browser/faults.ts';
import { ROOT } from '../support/checkout/repository.ts';
import { listenOnLoopback } from '../support/listen.ts';

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** Serves `site/dist` as any static server does that knows addresses without `.html`. */
const serveSite = () => {
  const server = createServer(({ url = '/' }, response) => {
    const path = join(ROOT, 'site/dist', decodeURIComponent(url.replace(/\?.*/, '').replace(/\/$/, '/index')));
    const file = [`${path}.html`, path].find(existsSync);
    if (file === undefined) return response.writeHead(404).end();
    const type = TYPES[extname(file)];
    return response.writeHead(200, type ? { 'Content-Type': `${type}; charset=utf-8` } : {}).end(readFileSync(file));
  });
  return listenOnLoopback(server);
};

it.runIf(canBrowse())(
  'the site of the documentation is built without dead links, finds what is searched, is dark on request, and loads nothing from elsewhere',
  async () => {
    await promisify(execFile)('npm', ['run', 'site'], { cwd: ROOT });
    const { port } = await serveSite();
    const site = `http://localhost:${port}`;
    // Where the font of the site does not load, the headless shell shows nothing of what is half bold.
    const { browser } = await openBrowser({ as: 'full' });
    const tab = await browser.newPage();
    const faults = await watchFaults(tab);
    const requested = new Set<string>();
    tab.on('request', (request) => requested.add(new URL(request.url()).origin));
    tab.on(
      'response',
      (response) => response.status() >= 400 && faults.push(`${response.status()}: ${response.url()}`),
    );
    tab.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));

    await tab.goto(site);
    await tab.getByRole('heading', { level: 1, name: 'Tandem' }).waitFor();
    const pictures = await tab.locator('main img').evaluateAll((all) => all.map((each) => each.naturalWidth > 0));
    expect(pictures).toEqual([true, true]);

    await tab.getByRole('button', { name: 'Search' }).click();
    await tab.getByRole('searchbox').fill('POST /auth/login/second-factor');
    await tab.locator('.result', { hasText: 'second-factor' }).first().waitFor();
    await tab.keyboard.press('Enter');
    await tab.waitForURL(/second-factor/);

    await tab.goto(`${site}/reference/tokens`);
    await tab.getByRole('heading', { name: 'POST /auth/login', exact: false }).first().waitFor();
    await tab.getByRole('link', { name: 'AUTH_CREDENTIALS_INVALID' }).first().click();
    await tab.waitForURL('**/docs/errors#auth_credentials_invalid');
    await tab.getByRole('heading', { name: 'AUTH_CREDENTIALS_INVALID' }).waitFor();

    const background = () => tab.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await tab.emulateMedia({ colorScheme: 'dark' });
    await tab.reload();
    expect(await background()).not.toBe(light);

    expect(await tab.evaluate(`fetch('/llms.txt').then((answer) => answer.text())`)).toContain('](/docs/api.md)');
    expect([...requested]).toEqual([site]);
    expect(faults).toEqual([]);
  },
);
