import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { vi } from 'vitest';
import { selfSigned } from '../certificate.ts';
import { freePort } from './free-port.ts';
import { environmentOf, launchRedis, type RedisProgram } from './redis.ts';
import { launch, type TestServer } from './server.ts';
import { serverDirectory } from './unprivileged.ts';

const SENTINELS = 3;
const MASTER = 'tandem-master';
const HOST = '127.0.0.1';
/** Options of `vi.waitFor` in milliseconds, with a time-out that only servers that never come up exceed. */
const PATIENCE = { timeout: 60_000, interval: 50 };

/** A master and a replica, and the sentinels that watch them. All of them accept only TLS. */
export type RedisSentinels = {
  /** A REDIS_URL with all sentinels. */
  readonly url: string;
  /** The path of the certificate that all servers use. */
  readonly certificate: string;
  /** The master at the start. */
  readonly master: TestServer;
  readonly sentinels: readonly TestServer[];
  readonly stop: () => Promise<void>;
};

/** Starts the servers, and waits until the sentinels know each other and the replica. */
export const launchRedisSentinels = async (program: RedisProgram): Promise<RedisSentinels> => {
  const tls = await writeTls();
  const started: TestServer[] = [];
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop()));
    tls.remove();
  };
  const add = async (launched: Promise<TestServer>): Promise<TestServer> => {
    const server = await launched;
    started.push(server);
    return server;
  };
  try {
    const [password, sentinelPassword] = [randomUUID(), randomUUID()];
    const [port, replicaPort] = [await freePort(), await freePort()];
    const ports = await Promise.all(Array.from({ length: SENTINELS }, freePort));
    const access = { requirepass: password, masterauth: password };
    const replication = { replicaof: `${HOST} ${port}`, 'repl-diskless-sync-delay': '0' };
    const master = await add(launchRedis(program, { ...tls.settingsFor(port), ...access }));
    await add(launchRedis(program, { ...tls.settingsFor(replicaPort), ...access, ...replication }));
    const watch = watchSettings(port, password, sentinelPassword);
    const sentinels = await Promise.all(
      ports.map((own) => add(launchSentinel(program, [...Object.entries(tls.settingsFor(own)), ...watch]))),
    );
    await Promise.all(ports.map((own) => untilComplete(own, sentinelPassword, tls.ca)));
    const hosts = ports.map((own) => `${HOST}:${own}`).join();
    const asSentinel = `sentinel_username=default&sentinel_password=${sentinelPassword}`;
    const url = `rediss+sentinel://:${password}@${hosts}/${MASTER}?${asSentinel}`;
    return { url, certificate: tls.path, master, sentinels, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Writes a certificate for the address of the tests to files. `settingsFor` returns the settings of a server that uses it. */
const writeTls = async () => {
  const directory = serverDirectory('redis-tls', {});
  const { cert, key } = await selfSigned(HOST);
  const [path, keyPath] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  writeFileSync(path, cert);
  writeFileSync(keyPath, key);
  const settingsFor = (port: number) => ({
    port: '0',
    'tls-port': String(port),
    'tls-cert-file': path,
    'tls-key-file': keyPath,
    'tls-ca-cert-file': path,
    'tls-auth-clients': 'no',
    'tls-replication': 'yes',
  });
  return { ca: cert, path, settingsFor, remove: () => rmSync(directory, { recursive: true }) };
};

/** The settings of a sentinel that fails over within seconds. */
const watchSettings = (port: number, password: string, sentinelPassword: string): [name: string, value: string][] => [
  ['bind', HOST],
  ['requirepass', sentinelPassword],
  ['sentinel', `sentinel-pass ${sentinelPassword}`],
  ['sentinel', `monitor ${MASTER} ${HOST} ${port} 2`],
  ['sentinel', `auth-pass ${MASTER} ${password}`],
  ['sentinel', `down-after-milliseconds ${MASTER} 1000`],
  ['sentinel', `failover-timeout ${MASTER} 5000`],
];

/** Starts a sentinel with a configuration file, because a sentinel writes what it learns into that file. */
const launchSentinel = (
  program: RedisProgram,
  settings: readonly (readonly [string, string])[],
): Promise<TestServer> => {
  const directory = serverDirectory('redis-sentinel', {});
  const file = join(directory, 'sentinel.conf');
  return launch({
    url: '',
    directory,
    command: program.command,
    args: [file, '--sentinel'],
    env: environmentOf(program),
    user: {},
    prepare: async () => writeFileSync(file, settings.map(([name, value]) => `${name} ${value}\n`).join('')),
  });
};

/** Waits until a sentinel sees the other sentinels, and a replica that follows the master. */
const untilComplete = async (port: number, password: string, ca: string): Promise<void> => {
  const sentinel = new Redis({ host: HOST, port, password, tls: { ca } });
  try {
    await vi.waitFor(async () => {
      const seen = await Promise.all(
        ['MASTER', 'REPLICAS', 'SENTINELS'].map(async (what) => String(await sentinel.call('SENTINEL', what, MASTER))),
      );
      const [master, replicas, others] = seen.map((fields) => ` ${fields.replaceAll(',', ' ')} `);
      const isWhole =
        / flags master .* num-other-sentinels 2 /.test(master ?? '') &&
        / flags slave .* master-link-status ok /.test(replicas ?? '') &&
        others?.match(/ flags sentinel /g)?.length === SENTINELS - 1;
      if (!isWhole) throw new Error(`not yet: ${seen.join('\n')}`);
    }, PATIENCE);
  } finally {
    sentinel.disconnect();
  }
};
