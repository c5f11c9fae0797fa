import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { provideDebianPackages } from './debian-package.ts';
import { freePort } from './free-port.ts';
import { launch, type TestServer } from './server.ts';
import { serverDirectory, unprivileged } from './unprivileged.ts';

const run = promisify(execFile);

/** The program of PgBouncer, and the directories of libraries that the system lacks. */
export type PgbouncerProgram = { readonly command: string; readonly libraries: readonly string[] };

/**
 * Finds the installed PgBouncer, or else unpacks the Debian package below node_modules.
 * @throws Error if the package cannot be fetched or the program does not run
 */
export const providePgbouncer = async (): Promise<PgbouncerProgram> => {
  const { root, libraries } = await provideDebianPackages('usr/sbin/pgbouncer', 'pgbouncer');
  const command = join(root, 'usr/sbin/pgbouncer');
  await run(command, ['--version'], { env: environment(libraries) });
  return { command, libraries };
};

const environment = (libraries: readonly string[]): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(':') }),
});

/** A name of the URL's database that only PgBouncer knows. */
export const ALIAS = 'alias';

/**
 * Starts a PgBouncer in transaction mode in front of every database of a PostgreSQL. Its URL differs from PostgreSQL's only in
 * the port.
 * @param settings more settings of pgbouncer.ini
 */
export const launchPgbouncer = async (
  { command, libraries }: PgbouncerProgram,
  postgresql: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestServer> => {
  const owner = unprivileged();
  const directory = serverDirectory('pgbouncer', owner);
  const [server, url] = [new URL(postgresql), new URL(postgresql)];
  url.port = String(await freePort());
  const copied = copyPrograms(directory, command, libraries);
  const users = join(directory, 'users.txt');
  writeFileSync(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
  const configuration = join(directory, 'pgbouncer.ini');
  writeFileSync(
    configuration,
    configurationOf(server, { ...SETTINGS, ...settings, listen_port: url.port, auth_file: users }),
  );
  return launch({
    url: url.href,
    directory,
    command: copied.command,
    args: [configuration],
    env: environment(copied.libraries),
    user: owner,
  });
};

/** Allows tests to use many databases at once. A database that is not used gives its connections back after a few seconds. */
const SETTINGS = {
  listen_addr: '127.0.0.1',
  unix_socket_dir: '',
  auth_type: 'scram-sha-256',
  pool_mode: 'transaction',
  max_client_conn: '1000',
  default_pool_size: '5',
  server_idle_timeout: '5',
  log_connections: '0',
  log_disconnections: '0',
};

const configurationOf = ({ hostname, port, pathname }: URL, settings: Readonly<Record<string, string>>): string =>
  [
    '[databases]',
    `${ALIAS} = host=${hostname} port=${port} dbname=${pathname.slice(1)}`,
    `* = host=${hostname} port=${port}`,
    '[pgbouncer]',
    ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
    '',
  ].join('\n');

/** Copies the program and its libraries. PgBouncer does not run as root, and another user may be unable to read the checkout. */
const copyPrograms = (directory: string, command: string, libraries: readonly string[]) => {
  const copy = join(directory, 'pgbouncer');
  copyFileSync(command, copy);
  chmodSync(copy, 0o755);
  const library = join(directory, 'lib');
  for (const path of libraries) cpSync(path, library, { recursive: true, verbatimSymlinks: true });
  return { command: copy, libraries: libraries.length > 0 ? [library] : [] };
};
