import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/tandem', import.meta.url));
/** Time-outs in milliseconds for the package lists and for the download; a browser has a hundred megabytes. */
const TIMEOUTS = { update: 120_000, install: 600_000 };

/** The directory of an unpacked package, and the directories of its libraries. */
export type UnpackedPackage = { readonly root: string; readonly libraries: readonly string[] };

/** A program of an unpacked package, or the system's: what is installed is not unpacked. */
export const programIn = (root: string, path: string): string => {
  const unpacked = join(root, path);
  return existsSync(unpacked) ? unpacked : join('/', path);
};

/**
 * Unpacks Debian packages and their missing dependencies into a directory of the checkout. Nothing is
 * installed, so it needs no root and starts no service.
 * @throws Error when the system has no Debian packages, or the download fails.
 */
export const unpackDebianPackages = async (...names: string[]): Promise<UnpackedPackage> => {
  const root = join(CACHE, names.join('+'));
  if (!existsSync(root)) await unpackInto(root, names);
  return { root, libraries: directoriesOfLibraries(root) };
};

const unpackInto = async (root: string, names: readonly string[]): Promise<void> => {
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(`${root}-`);
  mkdirSync(join(work, 'root'));
  try {
    await download(work, names);
    const archives = readdirSync(join(work, 'archives')).filter((file) => file.endsWith('.deb'));
    for (const archive of archives) await run('dpkg-deb', ['-x', join(work, 'archives', archive), join(work, 'root')]);
    if (!existsSync(root)) renameSync(join(work, 'root'), root);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

/** Lists of packages take longer to fetch than most packages. Those of the package before serve until one cannot be fetched by them. */
const LISTS = join(CACHE, 'lists');

const download = async (work: string, names: readonly string[]): Promise<void> => {
  for (const directory of ['lists/partial', 'archives/partial']) mkdirSync(join(work, directory), { recursive: true });
  const own = join(work, 'lists');
  const install = (lists: string) =>
    aptGet(work, lists, TIMEOUTS.install, 'install', '--yes', '--no-install-recommends', '--download-only', ...names);
  if (existsSync(LISTS) && (await succeeds(install(LISTS)))) return;
  await aptGet(work, own, TIMEOUTS.update, 'update');
  await install(own);
  rmSync(LISTS, { recursive: true, force: true });
  // Another process may have put its own there.
  await succeeds(rename(own, LISTS));
};

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** Uses the package database of the system, and writes only below `work`. */
const aptGet = (work: string, lists: string, timeout: number, ...command: string[]) =>
  run(
    'apt-get',
    [
      ...['-o', `Dir::State::Lists=${lists}`],
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
