import { isInsecure, overridden } from '../config/postgresql-url.ts';
import { isUrlOf } from '../config/schemas.ts';
import type { Values } from '../config/values.ts';
import type { StorageRow } from './storage.ts';

/** Times in milliseconds. */
type PoolOptions = {
  readonly poolSize: number;
  readonly connectionTimeout: number;
  readonly statementTimeout: number;
  readonly idleTimeout: number;
};

type PostgresqlOptions = { readonly kind: 'postgresql'; readonly url: string } & PoolOptions;

export const postgresql: StorageRow<PostgresqlOptions> = {
  isFor: (url) => url !== undefined && isUrlOf(url, ['postgres:', 'postgresql:']),
  expected: 'a postgres:// or postgresql:// URL with special characters percent-encoded',
  meaning: 'The URL of the PostgreSQL database. If it has no password, PGPASSWORD is used.',
  optionsOf: (values) => ({ kind: 'postgresql', url: values.DATABASE_URL ?? '', ...poolOf(values) }),
  refusals: ({ DATABASE_URL: url }) => {
    const given = overridden(url);
    return [[given !== undefined, `DATABASE_URL: must not set ${given}: DATABASE_STATEMENT_TIMEOUT does`]];
  },
  productionWarnings: ({ DATABASE_URL: url = '' }, env) => [
    [
      isInsecure(url, env.PGSSLMODE),
      'DATABASE_URL does not require TLS with a verified certificate: an attacker on the network can read and change the data (use sslmode=verify-full)',
    ],
  ],
  open: async (options, context) => (await import('./sql.ts')).openSql(options, context),
  migrate: async (options, onCreate) => (await import('./sql.ts')).migrateSql(options, onCreate),
};

/** The time-outs of the database are below that of a request, which can then still report the failure. */
const poolOf = (values: Values): PoolOptions => {
  const half = Math.max(1, Math.floor(values.REQUEST_TIMEOUT_MS / 2));
  return {
    poolSize: values.DATABASE_POOL_SIZE,
    connectionTimeout: values.DATABASE_CONNECTION_TIMEOUT ?? Math.min(3_000, half),
    statementTimeout: values.DATABASE_STATEMENT_TIMEOUT ?? Math.min(5_000, half),
    idleTimeout: values.DATABASE_IDLE_TIMEOUT ?? Math.min(10_000, half),
  };
};
