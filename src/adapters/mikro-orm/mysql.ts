import type { MySqlConnection } from '@mikro-orm/mysql';
import type { Options } from '@mikro-orm/sql';
import { Kysely, MysqlDialect } from 'kysely';
import { reasonOf } from '../log/redact-error.ts';
import { MARIADB, MYSQL, memberOf } from './dialects.ts';
import { type DriversPool, poolOfServers } from './mysql-servers.ts';
import type { DatabaseKind, OpenConnection, ServerOptions } from './options.ts';
import { connectionOver } from './statements.ts';

export const mariadbKind = async (options: ServerOptions): Promise<DatabaseKind> => {
  const { MariaDbDriver: driver } = await importOptional('@mikro-orm/mariadb', () => import('@mikro-orm/mariadb'));
  const session = mariadbSession(options.statementTimeout);
  return productKind({ name: 'MariaDB', dialect: MARIADB, driver, collation: 'utf8mb4_nopad_bin', session }, options);
};

export const mysqlKind = async (options: ServerOptions): Promise<DatabaseKind> => {
  const { MySqlDriver: driver } = await importOptional('@mikro-orm/mysql', () => import('@mikro-orm/mysql'));
  const session = mysqlSession(options.statementTimeout);
  return productKind({ name: 'MySQL', dialect: MYSQL, driver, collation: 'utf8mb4_0900_bin', session }, options);
};

/** Imports an optional package. @throws Error that names the package if it is not installed */
export const importOptional = async <Module>(name: string, load: () => Promise<Module>): Promise<Module> => {
  try {
    return await load();
  } catch (error) {
    if (memberOf(error, 'code') !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`DATABASE_URL needs the package ${name}, which is not installed: npm install ${name}`);
  }
};

/** The options of MikroORM for a URL. With `?ssl=true`, TLS verifies the certificate and the host. @throws Error if the URL names no database */
export const mysqlOptions = ({ url, others = [], ...pool }: ServerOptions): Partial<Options> => {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const dbName = decodeURIComponent(pathname.slice(1));
  if (dbName === '') throw new Error('DATABASE_URL names no database');
  return {
    dbName,
    host: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 3306 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    driverOptions: {
      // The time is divided, so that a request can try all servers within it.
      connectTimeout: Math.ceil(pool.connectionTimeout / (1 + others.length)),
      connectionLimit: pool.poolSize,
      maxIdle: pool.poolSize - 1,
      idleTimeout: pool.idleTimeout,
      ...(searchParams.get('ssl') === 'true' && {
        ssl: { minVersion: 'TLSv1.2', rejectUnauthorized: true, verifyIdentity: true },
      }),
    },
  };
};

/**
 * The first statements of each connection, which replace the defaults of the server.
 * - STRICT_ALL_TABLES: too long texts are refused instead of cut. NO_BACKSLASH_ESCAPES is left out: with it, the driver would quote values unsafely.
 * - English messages, since the message of a violation is parsed.
 * - UTC, since `unix_timestamp` converts the session's time, and a local time has one hour of the year twice.
 * - READ COMMITTED: each statement sees what was committed before it.
 * @param limit milliseconds that a statement may wait for the lock of a row, rounded up to seconds
 */
const mysqlSession = (limit: number): string[] => [
  `set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', lc_messages = 'en_US', time_zone = '+00:00',
    innodb_lock_wait_timeout = ${Math.max(1, Math.ceil(limit / 1_000))}`,
  'set session transaction isolation level read committed',
];

/** As `mysqlSession`. MariaDB can also end a statement that takes longer than `limit`, and a transaction that is idle for ten seconds. */
const mariadbSession = (limit: number): string[] => [
  ...mysqlSession(limit),
  `set session max_statement_time = ${limit / 1_000}, idle_transaction_timeout = 10`,
];

/** Makes the pools by MikroORM, whose packages bring the driver. @param servers the options for each server, the preferred one first */
export const connectServers = async (
  servers: readonly Partial<Options>[],
  session: readonly string[],
  { statementTimeout, connectionTimeout, onFailOver }: ServerOptions,
): Promise<OpenConnection> => {
  const { MikroORM } = await import('@mikro-orm/sql');
  const open = (options: Partial<Options>): Promise<object> => {
    const { em } = new MikroORM({
      ...options,
      entities: [],
      discovery: { warnWhenNoEntities: false },
      // With `true`, MikroORM would use a connection for which the statements of `session` were not sent.
      ensureDatabase: false,
      logger: () => undefined,
    });
    // The cast: MikroORM's driver of MariaDB extends that of MySQL, and has its connection.
    return (em.getConnection() as MySqlConnection).getNativeClient();
  };
  const pools = (await Promise.all(servers.map(open))) as DriversPool[];
  const limits = { statement: statementTimeout, connection: connectionTimeout };
  const pool = poolOfServers(pools, session, limits, (at, error) =>
    onFailOver?.(`${servers[at]?.host}:${servers[at]?.port}`, error),
  );
  const connection = connectionOver(new Kysely({ dialect: new MysqlDialect({ pool }) }));
  return { ...connection, connections: pool.state, isCluster: pool.isCluster };
};

type Product = Pick<DatabaseKind, 'dialect'> & {
  readonly name: 'MariaDB' | 'MySQL';
  readonly driver: NonNullable<Options['driver']>;
  readonly collation: string;
  readonly session: readonly string[];
};

const productKind = ({ name, dialect, driver, collation, session }: Product, options: ServerOptions): DatabaseKind => ({
  dialect,
  // A key of an index has at most 3,072 bytes. Those of the service have up to two texts; the longest is the id of a credential: 1,364 characters of ASCII
  // (WebAuthn Level 3 §6.5.1). `varbinary` compares bytes, without a collation that folds letters or ignores spaces.
  types: { integer: 'bigint', text: 'longtext', indexedText: 'varbinary(1500)', collation },
  connect() {
    const urls = [options.url, ...(options.others ?? [])];
    return connectServers(
      urls.map((url) => ({ driver, ...mysqlOptions({ ...options, url }) })),
      session,
      options,
    );
  },
  orm: async () => ({ driver, ...mysqlOptions(options) }),
  settingStatements: [],
  probeQuery: `select _utf8mb4 'a' collate ${collation}`,
  tablesQuery: `select table_name as name, true as is_here from information_schema.tables where table_schema = database()`,
  completeSchema: oneStatementPerTable,
  timeQuery: 'select unix_timestamp(sysdate(6)) * 1000 as now',
  aboutQuery: `select concat('${name} ', version()) as version, @@global.read_only = 0 and exists (
      select 1 from (
        select grantee, privilege_type from information_schema.user_privileges union all
        select grantee, privilege_type from information_schema.schema_privileges where database() like table_schema
      ) as granted
      where privilege_type = 'CREATE' and grantee = concat('''', replace(current_user(), '@', '''@'''), '''')
    ) as may_create`,
  emptyWrite: (tables) => `delete ${tables.join(', ')} from ${tables.join(' join ')} where false`,
  openFailure: (error) =>
    `The database of DATABASE_URL cannot be opened: ${reasonOf(error)}${otherProductHint(name, error)}`,
});

/** A server of the other product lacks a variable or a collation: ER_UNKNOWN_SYSTEM_VARIABLE, ER_UNKNOWN_COLLATION. */
const OTHER_PRODUCT_ERRORS: readonly unknown[] = [1193, 1273];
const otherProductHint = (name: Product['name'], error: unknown): string => {
  if (!OTHER_PRODUCT_ERRORS.includes(memberOf(error, 'errno'))) return '';
  const other = name === 'MySQL' ? 'MariaDB' : 'MySQL';
  return `. The server is no ${name}, or one of an old version: the URL of a ${other} begins with ${other.toLowerCase()}://`;
};

/** One statement for each table, with its indexes: these databases commit after each of them, and another process may create tables at the same time. */
const oneStatementPerTable = (statements: readonly string[]): string[] => {
  const create = 'create table ';
  return statements
    .filter((statement) => statement.startsWith(create))
    .map((statement) => {
      const [table] = statement.slice(create.length).split(' ', 1);
      const addition = `alter table ${table} add `;
      const additions = statements.filter((each) => each.startsWith(addition));
      const parts = additions.map((each) => `, ${each.slice(addition.length)}`).join('');
      const end = statement.lastIndexOf(')');
      return `${create}if not exists ${statement.slice(create.length, end)}${parts}${statement.slice(end)}`;
    });
};
