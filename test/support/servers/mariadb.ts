import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { provideDebianPackages } from './debian-package.ts';
import { freePort } from './free-port.ts';
import { launch, type Owner, type TestServer } from './server.ts';
import { serverDirectory } from './unprivileged.ts';

/** The directory `usr` of the system or of the unpacked package, and the directories of libraries that the system lacks. */
export type MariadbProgram = { readonly base: string; readonly libraries: readonly string[] };

/**
 * Finds the installed server, or else unpacks the Debian package.
 * @throws Error if the package cannot be fetched or the server does not run
 */
export const provideMariadb = async (): Promise<MariadbProgram> => {
  const { root, libraries } = await provideDebianPackages('usr/sbin/mariadbd', 'mariadb-server-core');
  const program = { base: join(root, 'usr'), libraries };
  await promisify(execFile)(commandOf(program), ['--version'], { env: environmentOf(program) });
  return program;
};

export const commandOf = ({ base }: MariadbProgram): string => join(base, 'sbin/mariadbd');

export const environmentOf = ({ libraries }: MariadbProgram): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  LD_LIBRARY_PATH: libraries.join(':'),
});

/**
 * Starts a MariaDB without databases. Its data survive a crash of the process, but not of the operating system.
 * @param settings options of the server
 */
export const launchMariadb = async (
  program: MariadbProgram,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestServer> => {
  const directory = serverDirectory('mariadb', {});
  const data = join(directory, 'data');
  const password = randomUUID();
  const port = await freePort();
  const common = [
    ...['--no-defaults', `--user=${userInfo().username}`, `--basedir=${program.base}`, `--datadir=${data}`],
    // A server that starts removes all temporary tables in its `tmpdir`, so servers must not share one.
    ...[`--tmpdir=${directory}`, '--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=32M'],
  ];
  return launch({
    url: `mariadb://tandem:${password}@127.0.0.1:${port}/`,
    directory,
    command: commandOf(program),
    args: [
      ...[...common, '--bind-address=127.0.0.1', `--port=${port}`, '--socket=', '--skip-name-resolve'],
      ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
    ],
    env: environmentOf(program),
    user: {},
    // The line before this one is in the server's language, so it cannot be matched.
    ready: /^Version: /m,
    prepare: async () => {
      mkdirSync(data);
      await bootstrap(program, [...common, '--bootstrap'], password);
    },
  });
};

/** Creates the system tables, as `mariadb-install-db` does, which needs more packages. */
export const bootstrap = async (
  program: MariadbProgram,
  args: readonly string[],
  password: string,
  owner: Owner = {},
): Promise<void> => {
  const script = (name: string) => readFileSync(join(program.base, `share/mysql/${name}.sql`), 'utf8');
  // With `--bootstrap`, each line is a statement.
  const statements = [
    'create database mysql;',
    'use mysql;',
    'set @auth_root_socket = null;',
    ...['mysql_system_tables', 'mysql_performance_tables', 'mysql_system_tables_data'].map(script),
    'flush privileges;',
    `create user tandem@'127.0.0.1' identified by '${password}';`,
    `grant all on *.* to tandem@'127.0.0.1' with grant option;`,
  ];
  const running = promisify(execFile)(commandOf(program), args, { env: environmentOf(program), ...owner });
  running.child.stdin?.end(`${statements.join('\n')}\n`);
  await running;
};
