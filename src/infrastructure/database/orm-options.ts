import { join } from 'node:path';
import type { Options } from '@mikro-orm/sql';
import { ENTITIES } from '../../adapters/mikro-orm/entities.ts';
import type { DatabaseOptions } from '../config/stores.ts';
import { type LimitedPool, limitQueries } from './limit-queries.ts';
import { prepareStatements } from './prepare-statements.ts';
import { leaveReadOnlyServers, type WatchedPool } from './read-only-servers.ts';

type PostgresqlOptions = Extract<DatabaseOptions, { kind: 'postgresql' }>;

const SHARED: Partial<Options> = {
  entities: [...ENTITIES],
  ensureDatabase: false,
  // Without an identity map, each read returns the stored row, and all callers can share one entity manager.
  disableIdentityMap: true,
  allowGlobalContext: true,
  debug: false,
};

/** The options of MikroORM, without its migrator. Loads only the driver that is needed. */
export const ormOptions = (options: DatabaseOptions): Promise<Partial<Options>> =>
  options.kind === 'embedded' ? embedded(options.dataDir) : postgresql(options);

const embedded = async (dataDir: string): Promise<Partial<Options>> => {
  const { PgliteDriver } = await import('@mikro-orm/pglite');
  return { ...SHARED, driver: PgliteDriver, dbName: join(dataDir, 'database') };
};

/**
 * The driver parses the URL, since MikroORM would drop its parameters, such as `sslmode`. No option may become a startup parameter that
 * poolers refuse (ADR 0017).
 */
const postgresql = async ({ url, ...pool }: PostgresqlOptions): Promise<Partial<Options>> => {
  const { PostgreSqlDriver } = await import('@mikro-orm/postgresql');
  return {
    ...SHARED,
    driver: PostgreSqlDriver,
    dbName: databaseName(url),
    driverOptions: {
      onPoolCreated: (created: LimitedPool & WatchedPool) => {
        limitQueries(pool.statementTimeout)(created);
        leaveReadOnlyServers(created);
      },
      onConnect: prepareStatements(pool.statementTimeout),
      application_name: 'tandem',
      max: pool.poolSize,
      connectionTimeoutMillis: pool.connectionTimeout,
      idleTimeoutMillis: pool.idleTimeout,
      keepAlive: true,
      connectionString: url,
    },
  };
};

const databaseName = (url: string): string => {
  const [, name = ''] = /^[^:]+:\/\/[^/]*\/([^?#]+)/.exec(url) ?? [];
  if (name === '') throw new Error('DATABASE_URL names no database');
  return decodeURIComponent(name);
};
