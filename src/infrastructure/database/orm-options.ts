import { join } from 'node:path';
import { Migrator } from '@mikro-orm/migrations';
import type { Options } from '@mikro-orm/sql';
import { SessionEntity, UserEntity } from '../../adapters/mikro-orm/entities.ts';
import { MIGRATIONS } from '../../adapters/mikro-orm/migrations/migrations-list.ts';
import type { Config } from '../config.ts';
import { dropSilentConnections } from './drop-silent-connections.ts';

/** Which database: an embedded one in a directory, or a PostgreSQL by its URL. */
export type DatabaseOptions = Exclude<Config['database'], { kind: 'memory' }>;
type PostgresqlOptions = Extract<DatabaseOptions, { kind: 'postgresql' }>;

/** Milliseconds that PostgreSQL gets to report a statement's time-out before this side takes it for gone. */
const REPORT = 500;

const SHARED: Partial<Options> = {
  entities: [UserEntity, SessionEntity],
  extensions: [Migrator],
  ensureDatabase: false,
  debug: false,
  migrations: { migrationsList: MIGRATIONS, snapshot: false },
};

/** What MikroORM is opened with, by the service and by its command line. Only the driver that is asked for is loaded. */
export const ormOptions = (options: DatabaseOptions): Promise<Partial<Options>> =>
  options.kind === 'embedded' ? embedded(options.dataDir) : postgresql(options);

const embedded = async (dataDir: string): Promise<Partial<Options>> => {
  const { PgliteDriver } = await import('@mikro-orm/pglite');
  return { ...SHARED, driver: PgliteDriver, dbName: join(dataDir, 'database') };
};

/** The driver reads the URL itself: MikroORM would drop its parameters, and `sslmode` is one. */
const postgresql = async ({ url, ...pool }: PostgresqlOptions): Promise<Partial<Options>> => {
  const { PostgreSqlDriver } = await import('@mikro-orm/postgresql');
  return {
    ...SHARED,
    driver: PostgreSqlDriver,
    dbName: databaseName(url),
    driverOptions: {
      onPoolCreated: dropSilentConnections,
      application_name: 'tandem',
      max: pool.poolSize,
      connectionTimeoutMillis: pool.connectionTimeout,
      idleTimeoutMillis: pool.idleTimeout,
      statement_timeout: pool.statementTimeout,
      idle_in_transaction_session_timeout: pool.statementTimeout,
      query_timeout: pool.statementTimeout + REPORT,
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
