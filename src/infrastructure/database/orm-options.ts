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

/** Milliseconds that PostgreSQL has to report that a statement timed out, before the client gives up. */
const REPORT_TIME = 500;

const SHARED: Partial<Options> = {
  entities: [UserEntity, SessionEntity],
  extensions: [Migrator],
  ensureDatabase: false,
  debug: false,
  migrations: { migrationsList: MIGRATIONS, snapshot: false },
};

/** The options of MikroORM, for the service and for MikroORM's command line. Loads only the driver that is needed. */
export const ormOptions = (options: DatabaseOptions): Promise<Partial<Options>> =>
  options.kind === 'embedded' ? embedded(options.dataDir) : postgresql(options);

const embedded = async (dataDir: string): Promise<Partial<Options>> => {
  const { PgliteDriver } = await import('@mikro-orm/pglite');
  return { ...SHARED, driver: PgliteDriver, dbName: join(dataDir, 'database') };
};

/** The driver parses the URL itself: MikroORM would drop its parameters, such as `sslmode`. */
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
      query_timeout: pool.statementTimeout + REPORT_TIME,
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
