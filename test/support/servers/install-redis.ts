import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { RedisProgram } from './redis.ts';

const run = promisify(execFile);
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/tandem', import.meta.url));
/** Milliseconds that a package source may take to answer. */
const PATIENCE = 120_000;

/**
 * Brings Debian's Redis, with what libraries this system lacks, into a directory of the checkout's; nothing is installed, so
 * nobody need be root and no service starts.
 * @throws Error where packages are not Debian's, or cannot be had.
 */
export const installRedis = async (): Promise<RedisProgram> => {
  const root = join(CACHE, 'redis');
  if (!existsSync(root)) await unpackInto(root);
  return {
    command: join(root, 'usr/bin/redis-server'),
    libraries: ['lib', 'usr/lib'].flatMap((directory) => subdirectories(join(root, directory))),
  };
};

const unpackInto = async (root: string): Promise<void> => {
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, 'redis-'));
  try {
    for (const directory of ['lists/partial', 'archives/partial'])
      mkdirSync(join(work, directory), { recursive: true });
    await aptGet(work, 'update');
    await aptGet(work, 'install', '--yes', '--no-install-recommends', '--download-only', 'redis-server');
    const archives = readdirSync(join(work, 'archives')).filter((name) => name.endsWith('.deb'));
    for (const archive of archives) await run('dpkg-deb', ['-x', join(work, 'archives', archive), join(work, 'root')]);
    if (!existsSync(root)) renameSync(join(work, 'root'), root);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

/** Knows what the system has, and writes below `work` alone. */
const aptGet = (work: string, ...command: string[]) =>
  run(
    'apt-get',
    [
      ...['-o', `Dir::State::Lists=${work}/lists`],
      ...['-o', `Dir::Cache=${work}`, '-o', `Dir::Cache::archives=${work}/archives`],
      ...['-o', 'APT::Sandbox::User=root', '-o', 'Debug::NoLocking=1'],
      ...['-o', 'Acquire::http::Timeout=20', '-o', 'Acquire::Retries=2'],
      ...command,
    ],
    { timeout: PATIENCE, env: { ...process.env, LC_ALL: 'C' } },
  );

const subdirectories = (path: string): string[] =>
  existsSync(path)
    ? readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? [join(path, entry.name)] : [],
      )
    : [];
