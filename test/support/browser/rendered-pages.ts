import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, vi } from 'vitest';
import { ROOT } from '../checkout/repository.ts';
import { runAtEnd } from '../closing.ts';
import { aPerson, hasher, startService, type TestService } from '../http/service.ts';
import { spawnService } from '../processes/process.ts';
import { freePort } from '../servers/free-port.ts';
import { temporaryDirectory } from '../storage/temporary-directory.ts';
import { logInAtService } from './at-service.ts';
import { openBrowser } from './chromium.ts';
import { ask } from './tab.ts';
import { type Witness, witness } from './witness.ts';

type Env = Readonly<Record<string, string>>;

/** Makes a copy of an example, as after `npm install`, with links to the packages and the client of this checkout. */
export const installedExample = (name: string) => {
  const { path } = temporaryDirectory();
  const directory = join(path, name);
  const isSource = (file: string) => !/\/(?:node_modules|build|\.svelte-kit)$/.test(file);
  cpSync(join(ROOT, 'examples', name), directory, { recursive: true, filter: isSource });
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(join(ROOT, 'client'), join(directory, 'node_modules/tandem-client'));

  return {
    /** Runs a tool of this checkout in the copy. */
    run: (tool: string, ...args: readonly string[]) =>
      promisify(execFile)(process.execPath, [join(ROOT, 'node_modules', tool), ...args], { cwd: directory }),
    /** Starts a program of the example, and waits until it answers. @returns a function that ends it */
    start: async (program: string, url: string, env: Env) => {
      const server = spawnService(env, [], join(directory, program));
      const ended = server.outcome.then(() => {
        throw new Error(`${program} of ${name} did not start: ${server.stderr.join('\n')}`);
      });
      await Promise.race([ended, vi.waitFor(() => fetch(url), { timeout: 60_000, interval: 50 })]);
      return async () => {
        ended.catch(() => undefined);
        server.child.kill('SIGKILL');
        await server.outcome;
      };
    },
  };
};

/** An example whose pages are rendered on a server. */
export type RenderedExample = {
  readonly name: string;
  /** The program that serves the pages. `build` is the command that has to run before. */
  readonly program: string;
  readonly build?: readonly [tool: string, ...args: string[]];
};

export const HONO: RenderedExample = { name: 'hono', program: 'main.ts' };
export const SVELTEKIT: RenderedExample = {
  name: 'sveltekit',
  program: 'build/index.js',
  build: ['vite/bin/vite.js', 'build'],
};

type World = {
  /** The origin of the pages. */
  readonly pages: string;
  /** The origin of the service, and the service behind the witness. */
  readonly service: string;
  readonly behind: TestService;
  readonly witness: Witness;
  readonly browser: BrowserContext;
};

/** For a whole `describe`: the pages, the service with the cookie of the access token, and a browser. */
export const openRenderedPages = ({ name, program, build }: RenderedExample) => {
  let world: World;
  beforeAll(async () => {
    const { browser } = await openBrowser();
    const [port, servicePort] = [await freePort(), await freePort()];
    const [pages, service] = [`http://localhost:${port}`, `http://localhost:${servicePort}`];
    const settings = { BASE_URL: service, ALLOWED_ORIGINS_DEV: pages, ACCESS_COOKIE: 'true' };
    const behind = await startService(settings, { hasher });
    const between = await witness(behind.url, servicePort);
    const example = installedExample(name);
    if (build) await example.run(...build);
    runAtEnd(await example.start(program, pages, { SERVICE: service, ORIGIN: pages, PORT: `${port}` }));
    world = { pages, service, behind, witness: between, browser };
  });

  const openTab = async (): Promise<Page> => {
    const tab = await world.browser.newPage();
    onTestFinished(() => tab.close());
    return tab;
  };
  return {
    world: () => world,
    openTab,
    /** Removes the cookie of the access token, as the browser does when it expires. */
    expire: () => world.browser.clearCookies({ name: 'access_token' }),
    /** Registers a user without a form, in a browser without cookies. The tab shows the start page. */
    registered: async () => {
      await world.browser.clearCookies();
      const person = aPerson();
      const tab = await openTab();
      await tab.goto(world.pages);
      const { status } = await ask(tab, `${world.service}/auth/register`, { method: 'POST', json: person });
      expect(status).toBe(201);
      return { tab, ...person };
    },
    /** Logs a new user in on the way to the account, in a browser without cookies. */
    loggedIn: async () => {
      await world.browser.clearCookies();
      const person = aPerson();
      await world.behind.http.post('/auth/register').send(person).expect(201);
      const tab = await openTab();
      await tab.goto(`${world.pages}/account?from=mail`);
      await logInAt(tab, person);
      return { tab, ...person };
    },
  };
};

export const showsAccount = (tab: Page, username: string): Promise<void> =>
  tab.getByRole('heading', { name: `Account of ${username}`, exact: true }).waitFor();

/** Logs in at the service, and waits for the account. */
export const logInAt = async (tab: Page, person: ReturnType<typeof aPerson>): Promise<void> => {
  await logInAtService(tab, person);
  await showsAccount(tab, person.username);
};
