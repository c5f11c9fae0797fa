import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { inject } from 'vitest';
import { closedAtEnd } from '../closing.ts';
import '../servers/provided.ts';
import { provideDebianPackages } from '../servers/debian-package.ts';
import { removeAtExit } from '../servers/keeper.ts';
import { serverDirectory } from '../servers/unprivileged.ts';
import { type BrowserProgram, type ChromiumPrograms, libraryPath } from './program.ts';

/** Whether Chromium is available, which it always is in CI. */
export const canBrowse = (): boolean => provided() !== null;

const provided = (): ChromiumPrograms | null => inject('chromium') ?? null;

/**
 * Features that are turned off: two pages of the address bar, which take as long as the start itself, and the change of http to https. Chromium uses only
 * one list of features, so this one replaces Playwright's, which also turns off the partitions of storage.
 */
const WITHOUT = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable'];

/** Chromium gets no network except the hosts of the tests, and no sandbox, since root may run the tests. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  ...['--disable-component-update', '--disable-sync', '--disable-quic', `--disable-features=${WITHOUT}`],
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1',
];

/** Milliseconds, which only catch hangs: as long as the polls of vitest. */
const PATIENCE = 60_000;

type Cookies = 'allowed' | 'blocked';

/** Allows third-party cookies, which Debian's Chromium and private windows block by default; or blocks all cookies. */
const PREFERENCES: Readonly<Record<Cookies, object>> = {
  allowed: { profile: { cookie_controls_mode: 0 } },
  blocked: { profile: { default_content_setting_values: { cookies: 2 } } },
};

type Own = {
  /** Default: the program that the run of tests has found. */
  readonly program?: BrowserProgram;
  readonly as?: keyof ChromiumPrograms;
  /** Only the full browser uses it. */
  readonly cookies?: Cookies;
  /** A trusted certificate in PEM. Only the full browser uses it. */
  readonly trusted?: string;
  readonly args?: readonly string[];
};

type Opened = { readonly browser: BrowserContext; readonly close: () => Promise<void> };
type Launched = Opened & {
  /** Starts the browser again with the same profile. */
  readonly restart: () => Promise<BrowserContext>;
};

/** Starts a headless Chromium with a home directory of its own, which is removed when the browser is closed or this process ends. */
export const launchChromium = async ({
  as = 'shell',
  cookies = 'allowed',
  trusted,
  args = [],
  program = provided()?.[as],
}: Own = {}): Promise<Launched> => {
  if (program === undefined) throw new Error('there is no Chromium here: see canBrowse');
  const home = serverDirectory('chromium', {});
  const remove = removeAtExit(home);
  const profile = join(home, 'profile');
  mkdirSync(join(profile, 'Default'), { recursive: true });
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(PREFERENCES[cookies]));
  if (trusted !== undefined) await trust(home, trusted);
  const launch = async (): Promise<BrowserContext> => {
    const browser = await chromium.launchPersistentContext(profile, {
      executablePath: program.command,
      headless: true,
      // Visitors have the back/forward cache, which Playwright turns off.
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
      args: [...ARGUMENTS, ...args],
      env: { ...libraryPath(program), HOME: home, ...fontsOf(program, home) },
    });
    browser.setDefaultTimeout(PATIENCE);
    return browser;
  };
  let running = await launch();
  return {
    browser: running,
    restart: async () => {
      await running.close();
      running = await launch();
      return running;
    },
    close: () => running.close().finally(remove),
  };
};

/** The running browsers of this process, by the options with which they were started. */
const shared = new Map<string, Promise<Browser>>();

/** Opens a window without cookies, in a Chromium that the test files of this process share and that ends with the process. */
export const openBrowser = async (own: Own = {}, options: BrowserContextOptions = {}): Promise<Opened> => {
  const kind = JSON.stringify(own);
  const program = shared.get(kind) ?? launchShared(own, () => shared.delete(kind));
  shared.set(kind, program);
  const browser = await (await program).newContext(options);
  browser.setDefaultTimeout(PATIENCE);
  return { browser, close: closedAtEnd(() => browser.close()) };
};

/** @param onEnd called if the browser cannot be started, or crashes later */
const launchShared = async (own: Own, onEnd: () => void): Promise<Browser> => {
  try {
    const program = (await launchChromium(own)).browser.browser();
    if (program === null) throw new Error('the browser has ended');
    program.once('disconnected', onEnd);
    return program;
  } catch (error) {
    onEnd();
    throw error;
  }
};

/** Adds a certificate to the database of NSS, from which Chromium reads trusted ones. */
const trust = async (home: string, certificate: string): Promise<void> => {
  const { root, libraries } = await provideDebianPackages('usr/bin/certutil', 'libnss3-tools');
  const database = join(home, '.pki', 'nssdb');
  mkdirSync(database, { recursive: true });
  const file = join(home, 'trusted.pem');
  writeFileSync(file, certificate);
  const certutil = (...args: string[]) =>
    promisify(execFile)(join(root, 'usr/bin/certutil'), ['-d', `sql:${database}`, ...args], {
      env: { LD_LIBRARY_PATH: libraries.join(delimiter) },
    });
  await certutil('-N', '--empty-password');
  await certutil('-A', '-t', 'CP,,', '-n', 'trusted', '-i', file);
};

/** Variables by which Chromium also finds the fonts of its package, since it needs a font to render a page, and the system may have none. */
const fontsOf = ({ unpacked }: BrowserProgram, home: string): Record<string, string> => {
  if (unpacked === null) return {};
  const directories = ['/usr/share/fonts', join(unpacked.root, 'usr/share/fonts')];
  const elements = directories.map((path) => `<dir>${path}</dir>`).join('');
  const file = join(home, 'fonts.conf');
  writeFileSync(file, `<fontconfig>${elements}<cachedir>${join(home, 'fonts')}</cachedir></fontconfig>`);
  return { FONTCONFIG_FILE: file };
};
