import { join } from 'node:path';
import { Migrator } from '@mikro-orm/migrations';
import type { Options } from '@mikro-orm/sql';
import { SessionEntity, UserEntity } from '../adapters/mikro-orm/entities.ts';
import { MIGRATIONS } from '../adapters/mikro-orm/migrations/migrations-list.ts';

/** Which database: an embedded one in a directory, or a PostgreSQL by its URL. */
export type DatabaseOptions =
  | { readonly kind: 'embedded'; readonly dataDir: string }
  | { readonly kind: 'postgresql'; readonly url: string };

/** Connections that one process keeps at most. */
const POOL_SIZE = 10;
/** Milliseconds. A statement must fail before its request does (SPEC "Time and size constants", request time-out). */
const CONNECT_TIMEOUT = 5_000;
const STATEMENT_TIMEOUT = 10_000;
const IDLE_TIMEOUT = 30_000;
const IDLE_IN_TRANSACTION_TIMEOUT = 60_000;

const SHARED: Partial<Options> = {
  entities: [UserEntity, SessionEntity],
  extensions: [Migrator],
  ensureDatabase: false,
  debug: false,
  migrations: { migrationsList: MIGRATIONS, snapshot: false },
};

/** What MikroORM is opened with, by the service and by its command line. Only the driver that is asked for is loaded. */
export const ormOptions = (options: DatabaseOptions): Promise<Partial<Options>> =>
  options.kind === 'embedded' ? embedded(options.dataDir) : postgresql(options.url);

const embedded = async (dataDir: string): Promise<Partial<Options>> => {
  const { PgliteDriver } = await import('@mikro-orm/pglite');
  return { ...SHARED, driver: PgliteDriver, dbName: join(dataDir, 'database') };
};

/** The driver reads the URL itself: MikroORM would drop its parameters, and `sslmode` is one. */
const postgresql = async (url: string): Promise<Partial<Options>> => {
  const { PostgreSqlDriver } = await import('@mikro-orm/postgresql');
  return {
    ...SHARED,
    driver: PostgreSqlDriver,
    dbName: databaseName(url),
    driverOptions: {
      application_name: 'tandem',
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      idleTimeoutMillis: IDLE_TIMEOUT,
      statement_timeout: STATEMENT_TIMEOUT,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT,
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
