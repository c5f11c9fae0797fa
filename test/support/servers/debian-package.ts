import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/tandem', import.meta.url));
/** Milliseconds that a package source may take to say what it has, and to hand it over: a browser is a hundred megabytes. */
const PATIENCE = { update: 120_000, install: 600_000 };

/** Where a package was unpacked, and the directories of the libraries that came with it. */
export type UnpackedPackage = { readonly root: string; readonly libraries: readonly string[] };

/**
 * Brings a package of Debian's, with what this system lacks of what it needs, into a directory of the checkout's; nothing is
 * installed, so nobody need be root and no service starts.
 * @throws Error where packages are not Debian's, or cannot be had.
 */
export const unpackDebianPackage = async (name: string): Promise<UnpackedPackage> => {
  const root = join(CACHE, name);
  if (!existsSync(root)) await unpackInto(root, name);
  return { root, libraries: directoriesOfLibraries(root) };
};

const unpackInto = async (root: string, name: string): Promise<void> => {
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, `${name}-`));
  try {
    for (const directory of ['lists/partial', 'archives/partial'])
      mkdirSync(join(work, directory), { recursive: true });
    await aptGet(work, PATIENCE.update, 'update');
    await aptGet(work, PATIENCE.install, 'install', '--yes', '--no-install-recommends', '--download-only', name);
    const archives = readdirSync(join(work, 'archives')).filter((file) => file.endsWith('.deb'));
    for (const archive of archives) await run('dpkg-deb', ['-x', join(work, 'archives', archive), join(work, 'root')]);
    if (!existsSync(root)) renameSync(join(work, 'root'), root);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

/** Knows what the system has, and writes below `work` alone. */
const aptGet = (work: string, timeout: number, ...command: string[]) =>
  run(
    'apt-get',
    [
      ...['-o', `Dir::State::Lists=${work}/lists`],
      ...['-o', `Dir::Cache=${work}`, '-o', `Dir::Cache::archives=${work}/archives`],
      ...['-o', 'APT::Sandbox::User=root', '-o', 'Debug::NoLocking=1'],
      ...['-o', 'Acquire::http::Timeout=20', '-o', 'Acquire::Retries=2'],
      ...command,
    ],
    { timeout, env: { ...process.env, LC_ALL: 'C' } },
  );

const LIBRARY = /^lib.+\.so(\.|$)/;

const directoriesOfLibraries = (root: string): string[] => {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return [...new Set(entries.filter(({ name }) => LIBRARY.test(name)).map(({ parentPath }) => parentPath))];
};
