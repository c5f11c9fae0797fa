import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { provideDebianPackages } from './debian-package.ts';
import { freePort } from './free-port.ts';
import { launch, type TestServer } from './server.ts';
import { serverDirectory, unprivileged } from './unprivileged.ts';

const run = promisify(execFile);

/** The program of PgBouncer, and the directories of its libraries that the system lacks. */
export type PgbouncerProgram = { readonly command: string; readonly libraries: readonly string[] };

/**
 * The PgBouncer that is installed, or else Debian's, unpacked below node_modules.
 * @throws Error when it cannot be fetched, or does not run.
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

/** A name that PgBouncer has, and PostgreSQL has not, for the database of the URL. */
export const ALIAS = 'alias';

/**
 * Runs a PgBouncer in transaction mode in front of every database of a PostgreSQL.
 * @param settings of pgbouncer.ini, besides those of the connection.
 * @returns a URL that differs from PostgreSQL's in its port.
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
    configured(server, { ...SETTINGS, ...settings, listen_port: url.port, auth_file: users }),
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

/** Enough for many databases of tests at once; those that are not used give their connections back soon. */
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

const configured = ({ hostname, port, pathname }: URL, settings: Readonly<Record<string, string>>): string =>
  [
    '[databases]',
    `${ALIAS} = host=${hostname} port=${port} dbname=${pathname.slice(1)}`,
    `* = host=${hostname} port=${port}`,
    '[pgbouncer]',
    ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
    '',
  ].join('\n');

/** The checkout may be closed to the user as whom PgBouncer runs, since it refuses to run as root. */
const copyPrograms = (directory: string, command: string, libraries: readonly string[]) => {
  const copy = join(directory, 'pgbouncer');
  copyFileSync(command, copy);
  chmodSync(copy, 0o755);
  const library = join(directory, 'lib');
  for (const path of libraries) cpSync(path, library, { recursive: true, verbatimSymlinks: true });
  return { command: copy, libraries: libraries.length > 0 ? [library] : [] };
};
