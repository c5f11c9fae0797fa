import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { inject } from 'vitest';
import { closing } from '../closing.ts';
import '../servers/provided.ts';
import { provideDebianPackages } from '../servers/debian-package.ts';
import { keep } from '../servers/keeper.ts';
import { serverDirectory } from '../servers/unprivileged.ts';
import { type BrowserProgram, type ChromiumPrograms, libraryPath } from './program.ts';

/** Whether a browser is available; in CI it always is. */
export const canBrowse = (): boolean => provided() !== null;

const provided = (): ChromiumPrograms | null => inject('chromium') ?? null;

/**
 * Two pages of the address bar, which cost as much as the start itself. Chromium heeds one such list alone, so it repeats what Playwright's says of
 * http; Playwright's also turns off the partitions of storage, which visitors have.
 */
const WITHOUT = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable'];

/** No network but the hosts of the tests; no sandbox, since root may run the tests. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  ...['--disable-component-update', '--disable-sync', '--disable-quic', `--disable-features=${WITHOUT}`],
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1',
];

/** As long as the polls of vitest: only catches hangs. */
const PATIENCE = 60_000;

type Cookies = 'allowed' | 'blocked';

/** Allows third-party cookies, which Debian's Chromium and private windows block by default; or blocks all cookies. */
const PREFERENCES: Readonly<Record<Cookies, object>> = {
  allowed: { profile: { cookie_controls_mode: 0 } },
  blocked: { profile: { default_content_setting_values: { cookies: 2 } } },
};

type Own = {
  /** By default the one of the run of tests. */
  readonly program?: BrowserProgram;
  readonly as?: keyof ChromiumPrograms;
  /** Heeded by the full browser alone. */
  readonly cookies?: Cookies;
  /** A certificate, as PEM. Heeded by the full browser alone. */
  readonly trusted?: string;
  readonly args?: readonly string[];
};

type Opened = { readonly browser: BrowserContext; readonly close: () => Promise<void> };
type Launched = Opened & {
  /** Starts it again with the same profile. */
  readonly restart: () => Promise<BrowserContext>;
};

/** Starts a headless Chromium with its own home directory, removed when it is closed or this process ends. */
export const launchChromium = async ({
  as = 'shell',
  cookies = 'allowed',
  trusted,
  args = [],
  program = provided()?.[as],
}: Own = {}): Promise<Launched> => {
  if (program === undefined) throw new Error('there is no Chromium here: see canBrowse');
  const home = serverDirectory('chromium', {});
  const remove = keep(home);
  const profile = join(home, 'profile');
  mkdirSync(join(profile, 'Default'), { recursive: true });
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(PREFERENCES[cookies]));
  if (trusted !== undefined) await trust(home, trusted);
  const launch = async (): Promise<BrowserContext> => {
    const browser = await chromium.launchPersistentContext(profile, {
      executablePath: program.command,
      headless: true,
      // Visitors have it.
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

/** The browsers of this process that run, by what they were started with. */
const shared = new Map<string, Promise<Browser>>();

/** Opens a window without cookies, in a Chromium that the test files of this process share. It ends with the process. */
export const openBrowser = async (own: Own = {}, options: BrowserContextOptions = {}): Promise<Opened> => {
  const kind = JSON.stringify(own);
  const program = shared.get(kind) ?? launchShared(own, () => shared.delete(kind));
  shared.set(kind, program);
  const browser = await (await program).newContext(options);
  browser.setDefaultTimeout(PATIENCE);
  return { browser, close: closing(() => browser.close()) };
};

/** @param onEnd called when it could not be started, or has crashed. */
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

/** Puts a certificate into the database of NSS, where Chromium looks for it. */
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

/** Chromium needs a font to render a page. Makes it find the fonts of its package when the system has none. */
const fontsOf = ({ unpacked }: BrowserProgram, home: string): Record<string, string> => {
  if (unpacked === null) return {};
  const directories = ['/usr/share/fonts', join(unpacked.root, 'usr/share/fonts')];
  const elements = directories.map((path) => `<dir>${path}</dir>`).join('');
  const file = join(home, 'fonts.conf');
  writeFileSync(file, `<fontconfig>${elements}<cachedir>${join(home, 'fonts')}</cachedir></fontconfig>`);
  return { FONTCONFIG_FILE: file };
};
