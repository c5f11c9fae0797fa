import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type UnpackedPackage, unpackDebianPackage } from '../servers/debian-package.ts';

/** The Chromium executable, and the package it was unpacked from, if any. */
export type ChromiumProgram = { readonly command: string; readonly unpacked: UnpackedPackage | null };

/**
 * The Chromium in `TEST_CHROMIUM` or on the PATH, or else Debian's.
 * @throws Error when there is none or it does not run.
 */
export const provideChromium = async (): Promise<ChromiumProgram> => {
  const program = await find();
  await promisify(execFile)(program.command, ['--version'], { env: libraryPath(program), timeout: 30_000 });
  return program;
};

const find = async (): Promise<ChromiumProgram> => {
  const { TEST_CHROMIUM, PATH = '' } = process.env;
  const command =
    TEST_CHROMIUM ??
    PATH.split(delimiter)
      .map((directory) => join(directory, 'chromium'))
      .find(existsSync);
  if (command !== undefined) return { command, unpacked: null };
  const unpacked = await unpackDebianPackage('chromium');
  return { command: join(unpacked.root, 'usr/lib/chromium/chromium'), unpacked };
};

/** An environment with only the PATH and the library path of the program. */
export const libraryPath = ({ unpacked }: ChromiumProgram): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  ...(unpacked !== null && { LD_LIBRARY_PATH: unpacked.libraries.join(delimiter) }),
});
