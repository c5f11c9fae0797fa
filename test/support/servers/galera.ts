import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { provideDebianPackages } from './debian-package.ts';
import { freePort } from './free-port.ts';
import { bootstrap, commandOf, environmentOf, type MariadbProgram, provideMariadb } from './mariadb.ts';
import { launch, type TestServer } from './server.ts';
import { serverDirectory, unprivileged } from './unprivileged.ts';

/** `provider` is the library of Galera. `paths` has the directories of the programs that transfer the state to a new node. */
export type GaleraProgram = { readonly mariadb: MariadbProgram; readonly provider: string; readonly paths: string };

const PROVIDER = 'usr/lib/galera/libgalera_smm.so';
const TRANSFER = 'usr/bin/wsrep_sst_rsync';

/** Finds the installed programs, or else unpacks Debian's packages. @throws Error if the packages cannot be fetched */
export const provideGalera = async (): Promise<GaleraProgram> => {
  const server = await provideMariadb();
  const provider = await provideDebianPackages(PROVIDER, 'galera-4');
  const transfer = await provideDebianPackages(TRANSFER, 'mariadb-server');
  const rsync = await provideDebianPackages('usr/bin/rsync', 'rsync');
  const parts = [provider, transfer, rsync];
  return {
    mariadb: { ...server, libraries: [...server.libraries, ...parts.flatMap(({ libraries }) => libraries)] },
    provider: join(provider.root, PROVIDER),
    paths: [...parts.map(({ root }) => join(root, 'usr/bin')), process.env.PATH].join(':'),
  };
};

export type GaleraCluster = { readonly nodes: readonly TestServer[]; readonly stop: () => Promise<void> };

const PASSWORD = 'word';
type Ports = { readonly sql: number; readonly group: number; readonly state: number; readonly changes: number };
const freePorts = async (): Promise<Ports> => ({
  ...{ sql: await freePort(), group: await freePort() },
  ...{ state: await freePort(), changes: await freePort() },
});

/** Starts three nodes. The first node begins the cluster, and the others join it one after the other by a transfer of its state. */
export const launchGalera = async (program: GaleraProgram): Promise<GaleraCluster> => {
  const ports = [await freePorts(), await freePorts(), await freePorts()];
  const members = ports.map(({ group }) => `127.0.0.1:${group}`).join();
  const nodes: TestServer[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (const own of ports) nodes.push(await launchNode(program, own, members, nodes.length === 0));
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, stop };
};

const launchNode = async (
  { mariadb, provider, paths }: GaleraProgram,
  { sql, group, state, changes }: Ports,
  members: string,
  isFirst: boolean,
): Promise<TestServer> => {
  // The program that transfers the state makes another user than root the owner of the files.
  const owner = unprivileged();
  const directory = serverDirectory('galera', owner);
  const data = join(directory, 'data');
  const options = [
    ...['base_host=127.0.0.1', `base_port=${group}`, `gmcast.listen_addr=tcp://127.0.0.1:${group}`],
    ...[`ist.recv_addr=127.0.0.1:${changes}`, 'gcache.size=32M'],
  ];
  const common = [
    ...['--no-defaults', `--basedir=${mariadb.base}`, `--datadir=${data}`, `--tmpdir=${directory}`],
    ...['--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=32M'],
  ];
  const args = [
    ...[...common, '--bind-address=127.0.0.1', `--port=${sql}`, '--socket=', '--skip-name-resolve'],
    ...['--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--wsrep-on=ON', `--wsrep-provider=${provider}`],
    ...[`--wsrep-cluster-address=gcomm://${members}`, `--wsrep-node-address=127.0.0.1:${group}`],
    ...['--wsrep-sst-method=rsync', `--wsrep-sst-receive-address=127.0.0.1:${state}`],
    `--wsrep-provider-options=${options.join(';')}`,
    // The first node begins the cluster only at its first start. Later it joins the others.
    ...(isFirst ? ['--wsrep-new-cluster'] : []),
  ];
  const node = await launch({
    url: `mariadb://tandem:${PASSWORD}@127.0.0.1:${sql}/`,
    directory,
    command: commandOf(mariadb),
    args,
    env: { ...environmentOf(mariadb), PATH: paths },
    user: owner,
    ready: /Synchronized with group, ready for connections/,
    prepare: async () => {
      mkdirSync(data);
      if (owner.uid !== undefined && owner.gid !== undefined) chownSync(data, owner.uid, owner.gid);
      if (isFirst) await bootstrap(mariadb, [...common, '--bootstrap'], PASSWORD, owner);
    },
  });
  if (isFirst) args.pop();
  return node;
};
