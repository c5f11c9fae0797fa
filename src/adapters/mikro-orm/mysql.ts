import type { Options, SqlEntityManager } from '@mikro-orm/sql';
import { reasonOf } from '../log/redact-error.ts';
import type { DatabaseKind } from './kind.ts';
import { type MysqlPool, prepareConnections } from './mysql-connections.ts';
import { MARIADB, MARIADB_TYPES, MYSQL, MYSQL_TYPES, mariadbSession, mysqlSession } from './mysql-dialect.ts';
import type { ServerOptions } from './options.ts';

/** @throws Error that names the package which is missing */
export const mariadbKind = async (options: ServerOptions): Promise<DatabaseKind> => {
  const { MariaDbDriver } = await installed('@mikro-orm/mariadb', () => import('@mikro-orm/mariadb'));
  return {
    ...sharedKind('MariaDB', mariadbSession(options.statementTimeout), options),
    dialect: MARIADB,
    types: MARIADB_TYPES,
    options: { driver: MariaDbDriver, ...mysqlOptions(options) },
  };
};

/** @throws Error that names the package which is missing */
export const mysqlKind = async (options: ServerOptions): Promise<DatabaseKind> => {
  const { MySqlDriver } = await installed('@mikro-orm/mysql', () => import('@mikro-orm/mysql'));
  return {
    ...sharedKind('MySQL', mysqlSession(options.statementTimeout), options),
    dialect: MYSQL,
    types: MYSQL_TYPES,
    options: { driver: MySqlDriver, ...mysqlOptions(options) },
  };
};

/** Imports an optional package. @throws Error that names it, if it is not installed */
export const installed = async <Module>(name: string, load: () => Promise<Module>): Promise<Module> => {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error && Reflect.get(error, 'code') === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new Error(`DATABASE_URL needs the package ${name}, which is not installed: npm install ${name}`);
  }
};

/**
 * The options of MikroORM. With `?ssl=true` the connection has TLS, and the certificate and the name of the host are verified.
 * @throws Error if the URL names no database
 */
export const mysqlOptions = ({ url, ...pool }: ServerOptions): Partial<Options> => {
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
      connectTimeout: pool.connectionTimeout,
      connectionLimit: pool.poolSize,
      maxIdle: pool.poolSize - 1,
      idleTimeout: pool.idleTimeout,
      ...(searchParams.get('ssl') === 'true' && {
        ssl: { minVersion: 'TLSv1.2', rejectUnauthorized: true, verifyIdentity: true },
      }),
    },
  };
};

const sharedKind = (
  name: string,
  session: readonly string[],
  { statementTimeout, connectionTimeout }: ServerOptions,
) => ({
  settings: [],
  tables: `select table_name as name, true as is_here from information_schema.tables where table_schema = database()`,
  schema: inOneStatement,
  time: 'select unix_timestamp(sysdate(6)) * 1000 as now',
  about: `select concat('${name} ', version()) as version, @@global.read_only = 0 and exists (
      select 1 from (
        select grantee, privilege_type from information_schema.user_privileges union all
        select grantee, privilege_type from information_schema.schema_privileges where database() like table_schema
      ) as granted
      where privilege_type = 'CREATE' and grantee = concat('''', replace(current_user(), '@', '''@'''), '''')
    ) as may_create`,
  pool: async (em: SqlEntityManager) => {
    // Every driver has this method; the type of a connection, which all of them share, does not.
    const connection = em.getConnection() as unknown as { getNativeClient(): Promise<MysqlPool> };
    const limits = { statement: statementTimeout, connection: connectionTimeout };
    return prepareConnections(await connection.getNativeClient(), session, limits);
  },
  openFailure: (error: unknown) => `The database of DATABASE_URL cannot be opened: ${reasonOf(error)}`,
});

/**
 * Each table in one statement, which does nothing where there is such a table: these databases commit after each, so another process may have
 * created some, or this one may have been interrupted.
 */
const inOneStatement = (sql: string): string => {
  const added = Map.groupBy(sql.matchAll(/^alter table (`\w+`) add (.+);$/gm), ([, table]) => table);
  return sql
    .replaceAll(/^alter table .*$/gm, '')
    .replaceAll(/^create table (`\w+`) \((.*)\) (default .*);$/gm, (_all, table, columns, options) => {
      const parts = [columns, ...(added.get(table) ?? []).map(([, , part]) => part)];
      return `create table if not exists ${table} (${parts.join(', ')}) ${options};`;
    });
};
