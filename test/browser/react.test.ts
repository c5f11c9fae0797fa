import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { createServer } from 'vite';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { logInAtService, registerAtService } from '../support/browser/at-service.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { PARTIES, startResourceServer } from '../support/browser/resource-server.ts';
import { openWorld } from '../support/browser/world.ts';
import { ROOT } from '../support/checkout/repository.ts';
import { runAtEnd } from '../support/closing.ts';
import { aPerson } from '../support/http/service.ts';
import { freePort } from '../support/servers/free-port.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

type Addresses = { readonly port: number; readonly service: string; readonly api: string };

/**
 * Serves `examples/react` as its `npm run dev` does, with React in development, which renders twice in StrictMode. Its packages are
 * those of this checkout.
 * @param cacheDir where Vite keeps what it has made of them
 */
const serveReactExample = async ({ port, service, api }: Addresses, cacheDir: string) => {
  const server = await createServer({
    root: join(ROOT, 'examples/react'),
    configLoader: 'native',
    cacheDir,
    logLevel: 'error',
    server: { host: '127.0.0.1', port, strictPort: true, watch: null },
    resolve: {
      alias: [
        { find: 'tandem-client/react', replacement: join(ROOT, 'client/dist/react.js') },
        { find: 'tandem-client', replacement: join(ROOT, 'client/dist/client.js') },
      ],
    },
    define: {
      'import.meta.env.VITE_SERVICE': JSON.stringify(service),
      'import.meta.env.VITE_API': JSON.stringify(api),
    },
  });
  await server.listen();
  return { close: () => server.close() };
};

const port = await freePort();
const ORIGIN = `http://localhost:${port}`;

const press = (tab: Page, name: string) => tab.getByRole('button', { name, exact: true }).click();
const fill = async (tab: Page, entries: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, value] of Object.entries(entries)) await tab.fill(`[name=${name}]`, value);
};

describe.runIf(canBrowse())('examples/react', () => {
  const { world, visit } = openWorld('localhost', { ...PARTIES, ALLOWED_ORIGINS_DEV: ORIGIN }, {}, { hasPages: true });
  const cache = temporaryDirectory();
  beforeAll(async () => {
    const { service } = world();
    const api = await startResourceServer(service, ORIGIN);
    runAtEnd(api.close);
    runAtEnd((await serveReactExample({ port, service, api: api.url }, cache.path)).close);
  });

  /** Opens the application in new tabs without a session. What React or the page complains of fails the test. */
  const start = async (page = '/') => {
    const { browser } = await visit();
    const complaints: string[] = [];
    return async (): Promise<Page> => {
      const tab = await browser.newPage();
      tab.on('pageerror', (error) => complaints.push(error.message));
      tab.on('console', (line) => {
        // The browser reports each response of 4xx.
        if (['error', 'warning'].includes(line.type()) && !line.text().startsWith('Failed to load resource'))
          complaints.push(line.text());
      });
      onTestFinished(async () => {
        await tab.close();
        expect(complaints).toEqual([]);
      });
      await tab.goto(ORIGIN + page);
      return tab;
    };
  };
  const heading = (tab: Page, name: string) => tab.getByRole('heading', { name, exact: true }).waitFor();
  const registerFrom = async (tab: Page) => {
    await press(tab, 'Log in');
    const person = await registerAtService(tab);
    await heading(tab, `Logged in as ${person.username}`);
    return person;
  };

  it('restores the session after a reload with one renewal, although StrictMode renders twice', async () => {
    const tab = await (await start())();
    const { username } = await registerFrom(tab);
    expect(tab.url()).toBe(`${ORIGIN}/`);
    const { seen } = world().witness.watch();
    await tab.reload();
    await heading(tab, `Logged in as ${username}`);
    expect(seen().filter(({ path, method }) => path === '/auth/refresh-token' && method === 'POST')).toHaveLength(1);
  });

  it('leads to the settings, calls the API, logs out in all tabs, and in again', async () => {
    const open = await start();
    const [first, second] = [await open(), await open()];
    const { username, password } = await registerFrom(first);
    await heading(second, `Logged in as ${username}`);
    await press(first, 'Call the API');
    await first.getByText('200 {"sub":"').waitFor();
    const settings = await first.getByRole('link', { name: 'Settings' }).getAttribute('href');
    expect(settings).toBe(`${world().service}/auth/account?to=${encodeURIComponent(`${ORIGIN}/`)}`);
    await press(first, 'Log out');
    for (const tab of [first, second]) await tab.getByRole('button', { name: 'Log in' }).waitFor();
    await press(second, 'Log in');
    await logInAtService(second, { username, password });
    for (const tab of [first, second]) await heading(tab, `Logged in as ${username}`);
  });

  it('with its own form shows what is wrong with a field beside it, keeps what was typed, registers, and logs in', async () => {
    const tab = await (await start('/own-form.html'))();
    await press(tab, 'I am new here');
    const { username, email, password } = aPerson();
    await fill(tab, { username, email, password: 'short' });
    await press(tab, 'Register');
    await tab.locator('#password-problem', { hasText: '8' }).waitFor();
    expect(await tab.getAttribute('[name=password]', 'aria-invalid')).toBe('true');
    expect(await tab.textContent('#email-problem')).toBe('');
    expect(await tab.inputValue('[name=email]')).toBe(email);
    await fill(tab, { password });
    await press(tab, 'Register');
    await heading(tab, `Logged in as ${username}`);
    await press(tab, 'Log out');
    await fill(tab, { username: email, password: 'wrong password' });
    await press(tab, 'Log in');
    await tab.getByRole('alert').filter({ hasText: 'The account or the password is wrong.' }).waitFor();
    await fill(tab, { password });
    await press(tab, 'Log in');
    await heading(tab, `Logged in as ${username}`);
  });
});
