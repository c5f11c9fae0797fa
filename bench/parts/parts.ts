import { Redis } from 'ioredis';
import { Client } from 'pg';
import { launchPostgres, providePostgres } from '../../test/support/servers/postgres.ts';
import { launchRedis, provideRedis } from '../../test/support/servers/redis.ts';
import { type Cores, move } from '../machine/cores.ts';
import { withChildren } from '../machine/processes.ts';

/** Production's settings, instead of those for tests; everything else is PostgreSQL's default. */
const DURABLE = { fsync: 'on', full_page_writes: 'on' };
const COUNTING = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'top' };

export type Parts = Awaited<ReturnType<typeof startParts>>;

/**
 * Starts a PostgreSQL and a Redis for one run.
 * @param counting whether PostgreSQL counts statements, which costs it a little.
 */
export const startParts = async ({ counting }: { readonly counting: boolean }) => {
  const { programs, remove } = await providePostgres();
  const postgres = await launchPostgres(programs, { ...DURABLE, ...(counting && COUNTING) });
  const redis = await launchRedis(await provideRedis());
  let databases = 0;
  const [postgresVersion] = await query(postgres.url, 'show server_version');
  const redisVersion = await versionOfRedis(redis.url);

  return {
    /** An empty database of PostgreSQL and one of Redis. */
    fresh: async () => {
      databases += 1;
      const name = `bench_${databases}`;
      await query(postgres.url, `create database ${name}`);
      return { DATABASE_URL: withPath(postgres.url, name), REDIS_URL: withPath(redis.url, String(databases)) };
    },
    databaseProcesses: () => withChildren(postgres.pid()),
    /** Where the databases run. */
    move: (cores: Cores) => move([...withChildren(postgres.pid()), redis.pid()], cores),
    versions: { PostgreSQL: `${postgresVersion?.server_version}, fsync on`, Redis: redisVersion },
    stop: async () => {
      await Promise.all([postgres.stop(), redis.stop()]);
      await remove();
    },
  };
};

const versionOfRedis = async (url: string): Promise<string> => {
  const redis = new Redis(url);
  try {
    return /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown';
  } finally {
    redis.disconnect();
  }
};

export type Storage = { readonly DATABASE_URL: string; readonly REDIS_URL: string };

const withPath = (url: string, path: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${path}`;
  return changed.href;
};

export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement on a connection of its own. */
export const query = async (url: string, sql: string, values: unknown[] = []): Promise<Row[]> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
};
