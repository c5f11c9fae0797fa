import { execFile } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/tandem', import.meta.url));
/** Time-outs in milliseconds for the package lists and for the download, which is a hundred megabytes for a browser. */
const TIMEOUTS = { update: 120_000, install: 600_000 };

/** The directory into which packages were unpacked, or `/`, and the directories of libraries that the system lacks. */
export type DebianPackages = { readonly root: string; readonly libraries: readonly string[] };

/**
 * Finds an installed program, or else unpacks Debian packages and their missing dependencies into a directory of the checkout.
 * It installs nothing, so it needs no root rights and starts no service.
 * @param path a file in the packages, relative to `/`, or a pattern. The packages are only fetched if the system lacks the file.
 * @param names the names of the packages, and of dependencies whose files must be in the same directory
 * @throws Error if the system has no Debian packages, the download fails, or the packages lack the file
 */
export const provideDebianPackages = async (path: string, ...names: string[]): Promise<DebianPackages> => {
  if (exists('/', path)) return { root: '/', libraries: [] };
  const root = join(CACHE, names.join('+'));
  if (!exists(root, path)) await unpackInto(root, path, names);
  return { root, libraries: directoriesOfLibraries(root) };
};

/** Whether a file exists. A link to a missing file does not count. */
const exists = (root: string, path: string): boolean =>
  globSync(path, { cwd: root }).some((found) => existsSync(join(root, found)));

const unpackInto = async (root: string, path: string, names: readonly string[]): Promise<void> => {
  mkdirSync(CACHE, { recursive: true });
  // If the user is root, servers run as `nobody`, who must be able to read the directories.
  for (const directory of [CACHE, dirname(CACHE)]) chmodSync(directory, 0o755);
  const work = mkdtempSync(`${root}-`);
  mkdirSync(join(work, 'root'));
  try {
    await download(work, names);
    const archives = readdirSync(join(work, 'archives')).filter((file) => file.endsWith('.deb'));
    for (const archive of archives) await run('dpkg-deb', ['-x', join(work, 'archives', archive), join(work, 'root')]);
    if (!exists(join(work, 'root'), path)) throw new Error(`what apt-get fetches for ${names} has no ${path}`);
    // Another process may have unpacked the packages meanwhile.
    if (exists(root, path)) return;
    rmSync(root, { recursive: true, force: true });
    renameSync(join(work, 'root'), root);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

/** The package lists of the last `update`, which takes longer than fetching most packages. They are used until a download fails. */
const LISTS = join(CACHE, 'lists');

/** With `--reinstall`, apt-get downloads the named packages even if they are installed. */
const FLAGS = ['--yes', '--no-install-recommends', '--download-only', '--reinstall'];

const download = async (work: string, names: readonly string[]): Promise<void> => {
  for (const directory of ['lists/partial', 'archives/partial']) mkdirSync(join(work, directory), { recursive: true });
  const own = join(work, 'lists');
  const install = (lists: string) => aptGet(work, lists, TIMEOUTS.install, 'install', ...FLAGS, ...names);
  if (existsSync(LISTS) && (await succeeds(install(LISTS)))) return;
  await aptGet(work, own, TIMEOUTS.update, 'update');
  await install(own);
  rmSync(LISTS, { recursive: true, force: true });
  // The rename fails if another process has put its lists there.
  await succeeds(rename(own, LISTS));
};

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** Runs apt-get, which uses the package database of the system and writes only below `work`. */
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
