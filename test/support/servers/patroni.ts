import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { readText } from '../checkout/repository.ts';
import { freePort } from './free-port.ts';
import { openHeldLine } from './held-line.ts';
import type { PatroniPrograms } from './patroni-programs.ts';
import { allGone, signalAll, stopTree } from './process-tree.ts';
import { launch, type TestServer } from './server.ts';
import { serverDirectory } from './unprivileged.ts';

/** Only catches a cluster that never gets there. */
const PATIENCE = { timeout: 120_000, interval: 250 };
const PASSWORD = 'tandem';
const NAMES = ['one', 'two', 'three'];

export type Member = {
  readonly name: string;
  /** Of Patroni's HTTP interface: `host:port`. */
  readonly api: string;
  /** Kills Patroni and PostgreSQL, as when the machine is gone. */
  readonly kill: () => Promise<void>;
  readonly restart: () => Promise<void>;
  /** Cuts Patroni off from etcd. PostgreSQL goes on, and takes connections. */
  readonly cutOff: () => void;
  readonly reconnect: () => void;
};
type StartedMember = Member & { readonly postgres: string; readonly stop: () => Promise<void> };

/** Three members, and a HAProxy that leads to the primary. */
export type PatroniCluster = {
  readonly url: string;
  /** The member that says that it is the primary; fails when none does. */
  readonly primary: () => Promise<Member>;
  /** Chooses whether a commit waits for a replica. */
  readonly setSynchronous: (synchronous: boolean) => Promise<void>;
  /** Resolves when one member is the primary and both others follow it. */
  readonly whole: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Starts a cluster, and resolves when it is whole. */
export const launchPatroni = async (programs: PatroniPrograms): Promise<PatroniCluster> => {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(stops.map((each) => each()));
  };
  try {
    const etcd = await launchEtcd(programs);
    stops.push(etcd.stop);
    const starts = await Promise.allSettled(NAMES.map((name) => launchMember(programs, name, etcd.url)));
    const members = starts.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    stops.push(...members.map((member) => member.stop));
    for (const outcome of starts) if (outcome.status === 'rejected') throw outcome.reason;
    const proxy = await launchHaproxy(programs, members);
    stops.push(proxy.stop);
    const cluster = { url: proxy.url, ...operations(members), stop };
    await cluster.whole();
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
};

const request = async (api: string, path: string, method = 'GET', body?: object): Promise<string> => {
  const response = await fetch(`http://${api}${path}`, {
    method,
    signal: AbortSignal.timeout(30_000),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text;
};

type Described = {
  readonly members: readonly { readonly role: string; readonly state: string; readonly timeline?: number }[];
};

const operations = (members: readonly Member[]) => {
  const primary = async (): Promise<Member> =>
    Promise.any(
      members.map(async (member) => {
        await request(member.api, '/primary');
        return member;
      }),
    );
  let synchronous = false;
  const whole = () =>
    vi.waitFor(async () => {
      const { members: described } = JSON.parse(await request((await primary()).api, '/cluster')) as Described;
      const roles = described.map(({ role }) => role).sort();
      const wanted = synchronous ? ['leader', 'replica', 'sync_standby'] : ['leader', 'replica', 'replica'];
      const isWhole =
        JSON.stringify(roles) === JSON.stringify(wanted) &&
        described.every(({ state }) => /^(running|streaming)$/.test(state)) &&
        new Set(described.map(({ timeline }) => timeline)).size === 1;
      if (!isWhole) throw new Error(`the cluster is not whole: ${JSON.stringify(described)}`);
      // Whether the replicas follow, and not only that they run.
      const followers = JSON.parse(await request((await primary()).api, '/patroni')) as { replication?: unknown[] };
      if (followers.replication?.length !== members.length - 1) throw new Error('not every replica follows');
    }, PATIENCE);
  return {
    primary,
    whole,
    setSynchronous: async (chosen: boolean) => {
      synchronous = chosen;
      await request((await primary()).api, '/config', 'PATCH', { synchronous_mode: chosen });
      await whole();
    },
  };
};

const launchEtcd = async ({ etcd, owner }: PatroniPrograms): Promise<TestServer> => {
  const directory = serverDirectory('etcd', owner);
  const [url, peers] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  return launch({
    url,
    directory,
    command: etcd.command,
    args: [
      ...['--data-dir', join(directory, 'data'), '--name', 'etcd', '--initial-cluster', `etcd=${peers}`],
      ...['--listen-client-urls', url, '--advertise-client-urls', url],
      ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
      '--unsafe-no-fsync',
    ],
    env: etcd.env,
    user: owner,
    ready: /ready to serve client requests|serving (insecure )?client requests/i,
  });
};

const launchMember = async (programs: PatroniPrograms, name: string, etcd: string): Promise<StartedMember> => {
  const { python, owner } = programs;
  const directory = serverDirectory(`patroni-${name}`, owner);
  const line = await openHeldLine(etcd);
  const [api, postgres] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const configuration = join(directory, 'patroni.json');
  const configured = configure(programs, { name, directory, api, postgres, etcd: new URL(line.url).host });
  writeFileSync(configuration, JSON.stringify(configured), { mode: 0o644 });
  const patroni = await launch({
    url: `postgresql://postgres:${PASSWORD}@${postgres}/postgres`,
    directory,
    command: python.command,
    args: [programs.patroni, configuration],
    env: { ...python.env, HOME: directory },
    user: owner,
    ready: /I am \(\S+\), |Lock owner: /,
  });
  const killPostgres = async () => {
    const processes = await postgresTree(join(directory, 'data'));
    signalAll(processes, 'SIGKILL');
    await allGone(processes);
  };
  return {
    name,
    api,
    postgres,
    kill: async () => {
      // PostgreSQL is not a child of Patroni, which must not start it again.
      await patroni.freeze();
      await killPostgres();
      await patroni.kill();
    },
    restart: patroni.restart,
    cutOff: () => line.setCut(true),
    reconnect: () => line.setCut(false),
    stop: async () => {
      line.close();
      await patroni.kill();
      await killPostgres();
      await patroni.stop();
    },
  };
};

/** Stops the processes of a PostgreSQL, and returns their ids. */
const postgresTree = async (data: string): Promise<number[]> => {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return [];
  try {
    return await stopTree(Number(readFileSync(file, 'utf8').split('\n')[0]));
  } catch {
    return [];
  }
};

type Place = {
  readonly name: string;
  readonly directory: string;
  readonly api: string;
  readonly postgres: string;
  readonly etcd: string;
};

/** Seconds: so that a fail-over is soon over. Patroni from 3.3 on takes 20 for a shorter `ttl`. */
const TIMES = { ttl: 10, loop_wait: 1, retry_timeout: 3 };

const configure = ({ postgres: programs }: PatroniPrograms, { name, directory, api, postgres, etcd }: Place) => ({
  scope: 'tandem',
  name,
  restapi: { listen: api, connect_address: api },
  // Without `use_proxies`, Patroni would ask etcd for its address, and pass the line by.
  etcd3: { host: etcd, use_proxies: true },
  bootstrap: {
    dcs: {
      ...TIMES,
      maximum_lag_on_failover: 64 * 1024 * 1024,
      postgresql: { use_pg_rewind: true, parameters: { max_connections: 100, shared_buffers: '32MB', fsync: 'off' } },
    },
    initdb: ['no-sync', { encoding: 'UTF8' }, { locale: 'C' }],
  },
  postgresql: {
    listen: postgres,
    connect_address: postgres,
    data_dir: join(directory, 'data'),
    bin_dir: programs,
    pgpass: join(directory, 'pgpass'),
    remove_data_directory_on_diverged_timelines: true,
    basebackup: [{ checkpoint: 'fast' }, 'no-sync'],
    parameters: { unix_socket_directories: '' },
    pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
    authentication: {
      superuser: { username: 'postgres', password: PASSWORD },
      replication: { username: 'replicator', password: PASSWORD },
    },
  },
});

/** The documented HAProxy, with the addresses of the test. */
const launchHaproxy = async (
  { haproxy, owner }: PatroniPrograms,
  members: readonly StartedMember[],
): Promise<TestServer> => {
  const directory = serverDirectory('haproxy', owner);
  const address = `127.0.0.1:${await freePort()}`;
  const [documented = ''] = /^listen postgresql\n(?: .*\n)*/m.exec(readText('docs/operate.md')) ?? [];
  const lines = documented.replace(/bind \S+/, `bind ${address}`).replaceAll(/^ *server .*\n/gm, '');
  const servers = members.map(({ name, api, postgres }) => {
    const port = api.split(':')[1];
    return `  server ${name} ${postgres} check port ${port}`;
  });
  const configuration = join(directory, 'haproxy.cfg');
  const defaults = 'global\n  log stdout format raw local0\ndefaults\n  log global\n';
  writeFileSync(configuration, `${defaults}${lines}${servers.join('\n')}\n`, { mode: 0o644 });
  return launch({
    url: `postgresql://postgres:${PASSWORD}@${address}/postgres`,
    directory,
    command: haproxy.command,
    args: ['-f', configuration],
    env: haproxy.env,
    user: owner,
    ready: /Server postgresql\/\S+ is (UP|DOWN)|New worker|Loading success/,
  });
};
