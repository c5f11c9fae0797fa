import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { inject } from 'vitest';
import '../servers/provided.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { type ChromiumProgram, libraryPath } from './program.ts';

/** Whether there is a browser to test with; in CI there always is. */
export const canBrowse = (): boolean => provided() !== null;

const provided = (): ChromiumProgram | null => inject('chromium') ?? null;

/** It calls nobody: it knows the hosts of the tests alone, and has no sandbox since root may run it. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  ...['--disable-component-update', '--disable-sync', '--disable-quic'],
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

/** Starts a Chromium without a window, whose profile and home are its own and go when it is closed. */
export const launchChromium = async (): Promise<{ browser: Browser; close: () => Promise<void> }> => {
  const program = provided();
  if (program === null) throw new Error('there is no Chromium here: see canBrowse');
  const home = temporaryDirectory();
  const browser = await chromium.launch({
    executablePath: program.command,
    headless: true,
    args: ARGUMENTS,
    env: { ...libraryPath(program), HOME: home.path, ...fontsOf(program, home.path) },
  });
  return { browser, close: () => browser.close().finally(home.remove) };
};

/** Without any font it draws no page, and where a system has none, those that came with the package are not looked for. */
const fontsOf = ({ unpacked }: ChromiumProgram, home: string): Record<string, string> => {
  if (unpacked === null) return {};
  const directories = ['/usr/share/fonts', join(unpacked.root, 'usr/share/fonts')];
  const elements = directories.map((path) => `<dir>${path}</dir>`).join('');
  const file = join(home, 'fonts.conf');
  writeFileSync(file, `<fontconfig>${elements}<cachedir>${join(home, 'fonts')}</cachedir></fontconfig>`);
  return { FONTCONFIG_FILE: file };
};
