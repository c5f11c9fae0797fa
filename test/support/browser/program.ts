import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type DebianPackages, provideDebianPackages } from '../servers/debian-package.ts';

/** The executable of a browser, and its unpacked packages; `null` if it is installed. */
export type BrowserProgram = { readonly command: string; readonly unpacked: DebianPackages | null };

/**
 * `shell` takes less processor time than `full`, but has no settings of a user, no certificates to trust, no back/forward cache, and no Device Bound
 * Session Credentials.
 */
export type ChromiumPrograms = { readonly full: BrowserProgram; readonly shell: BrowserProgram };

/** The WebDriver of WebKit, and Xvfb, the display on which it draws. */
export type WebkitPrograms = { readonly driver: string; readonly display: string };

const PACKAGES = { full: 'chromium', shell: 'chromium-headless-shell' };

/**
 * The Chromium in `TEST_CHROMIUM`, on the PATH, or else of Debian's package. The headless shell is of Debian's package unless it is on the PATH.
 * @throws Error if there is none, or it does not run
 */
export const provideChromium = async (): Promise<ChromiumPrograms> => {
  const programs = await find();
  for (const program of Object.values(programs)) await runs(program);
  return programs;
};

/**
 * The Firefox in `TEST_FIREFOX`, on the PATH, or else of Debian's package.
 * @throws Error if there is none, or it does not run
 */
export const provideFirefox = async (): Promise<BrowserProgram> => {
  const command = process.env.TEST_FIREFOX ?? onThePath('firefox-esr') ?? onThePath('firefox');
  const program =
    command === undefined
      ? await ofPackages('usr/lib/firefox-esr/firefox-esr', 'firefox-esr')
      : { command, unpacked: null };
  await runs(program);
  return program;
};

/**
 * WebKit's driver and Xvfb on the PATH. They are not fetched, since WebKitGTK finds its own programs only where its package is installed.
 * @throws Error if one of them is missing
 */
export const provideWebkit = async (): Promise<WebkitPrograms> => {
  const [driver, display] = ['WebKitWebDriver', 'Xvfb'].map(onThePath);
  if (driver === undefined || display === undefined) throw new Error('not installed');
  return { driver, display };
};

const ofPackages = async (path: string, ...names: string[]): Promise<BrowserProgram> => {
  const unpacked = await provideDebianPackages(path, ...names);
  return { command: join(unpacked.root, path), unpacked };
};

const runs = (program: BrowserProgram) =>
  promisify(execFile)(program.command, ['--version'], { env: libraryPath(program), timeout: 30_000 });

const find = async (): Promise<ChromiumPrograms> => {
  const { TEST_CHROMIUM } = process.env;
  const command = TEST_CHROMIUM ?? onThePath(PACKAGES.full);
  const ofDebian = (name: string, ...others: string[]) => ofPackages(`usr/lib/chromium/${name}`, ...others);
  if (command === undefined) {
    const both = Object.values(PACKAGES);
    return { full: await ofDebian(PACKAGES.full, ...both), shell: await ofDebian(PACKAGES.shell, ...both) };
  }
  const full = { command, unpacked: null };
  const shell = TEST_CHROMIUM ?? onThePath(PACKAGES.shell);
  if (shell !== undefined) return { full, shell: { command: shell, unpacked: null } };
  return { full, shell: await ofDebian(PACKAGES.shell, 'chromium-common', PACKAGES.shell).catch(() => full) };
};

const onThePath = (name: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find(existsSync);

/** An environment with only the PATH and the library path of the program. */
export const libraryPath = ({ unpacked }: BrowserProgram): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  ...(unpacked !== null && { LD_LIBRARY_PATH: unpacked.libraries.join(delimiter) }),
});
