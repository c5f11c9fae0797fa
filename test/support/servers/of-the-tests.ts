import { inject } from 'vitest';
import type { Certificate } from '../certificate.ts';
import { closedAtEnd } from '../closing.ts';
import { type GaleraCluster, launchGalera } from './galera.ts';
import { launchMariadb } from './mariadb.ts';
import { launchPgbouncer } from './pgbouncer.ts';
import { launchPostgres, launchPostgresWithTls, type TlsServer } from './postgres.ts';
import './provided.ts';
import { launchRedis } from './redis.ts';
import { launchRedisCluster, type RedisCluster } from './redis-cluster.ts';
import { launchRedisSentinels, type RedisSentinels } from './redis-sentinel.ts';
import type { TestServer } from './server.ts';

/** The URL of the PostgreSQL in which tests create their own databases, or `undefined` if there is none. */
export const postgresOfTheTests = (): string | undefined => inject('postgresql')?.url ?? undefined;

/** The URL of the Redis whose databases tests take, or `undefined` if there is none. */
export const redisOfTheTests = (): string | undefined => inject('redis')?.url ?? undefined;

/** Whether a test can start its own PostgreSQL and Redis. In CI it always can. */
export const canStartServers = (): boolean =>
  [inject('postgresql'), inject('redis')].every((part) => (part?.programs ?? null) !== null);

/** Waits for a server, and stops it at the end of the test or file. */
const stopAtEnd = async <Server extends Pick<TestServer, 'stop'>>(starting: Promise<Server>): Promise<Server> => {
  const server = await starting;
  return { ...server, stop: closedAtEnd(server.stop) };
};

/** Starts a PostgreSQL for one test, which may kill or freeze it. */
export const startPostgres = (): Promise<TestServer> =>
  stopAtEnd(launchPostgres(assertAvailable(inject('postgresql')?.programs)));

/** Starts a PostgreSQL with TLS for one test, which may kill or freeze it. */
export const startPostgresWithTls = (certificate: Certificate): Promise<TlsServer> =>
  stopAtEnd(launchPostgresWithTls(assertAvailable(inject('postgresql')?.programs), certificate));

/** Starts a Redis for one test, which may kill or freeze it. @param settings settings of `redis.conf` */
export const startRedis = (settings: Readonly<Record<string, string>> = {}): Promise<TestServer> =>
  stopAtEnd(launchRedis(assertAvailable(inject('redis')?.programs), settings));

/** Whether a test can start a PgBouncer in front of the tests' PostgreSQL. In CI it always can. */
export const canStartPgbouncer = (): boolean =>
  postgresOfTheTests() !== undefined && (inject('pgbouncer') ?? null) !== null;

/** Starts a PgBouncer for one test in front of a PostgreSQL. @param settings settings of pgbouncer.ini */
export const startPgbouncer = (postgresql: string, settings?: Readonly<Record<string, string>>): Promise<TestServer> =>
  stopAtEnd(launchPgbouncer(assertAvailable(inject('pgbouncer')), postgresql, settings));

/** Whether a test can start a MariaDB. In CI it always can. */
export const canStartMariadb = (): boolean => (inject('mariadb') ?? null) !== null;

/** Starts a MariaDB for one test file, which may kill or freeze it. */
export const startMariadb = (settings?: Readonly<Record<string, string>>): Promise<TestServer> =>
  stopAtEnd(launchMariadb(assertAvailable(inject('mariadb')), settings));

/** Whether a test can start a Galera cluster. In CI it always can. */
export const canStartGalera = (): boolean => (inject('galera') ?? null) !== null;

/** Starts a Galera cluster for one test file, which may kill or freeze its nodes. */
export const startGalera = (): Promise<GaleraCluster> => stopAtEnd(launchGalera(assertAvailable(inject('galera'))));

/** Starts a Redis Cluster for one test, which may kill or freeze its nodes. */
export const startRedisCluster = (): Promise<RedisCluster> =>
  stopAtEnd(launchRedisCluster(assertAvailable(inject('redis')?.programs)));

/** Starts a Redis with a replica and sentinels for one test, which may kill or freeze them. */
export const startRedisSentinels = (): Promise<RedisSentinels> =>
  stopAtEnd(launchRedisSentinels(assertAvailable(inject('redis')?.programs)));

const assertAvailable = <Programs>(programs: Programs | null | undefined): Programs => {
  if (programs === null || programs === undefined)
    throw new Error('servers cannot be started here: see canStartServers');
  return programs;
};
