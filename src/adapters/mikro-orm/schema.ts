import { setTimeout as pause } from 'node:timers/promises';
import { CompiledQuery, sql } from 'kysely';
import { TABLES, type TableName } from '../../application/storage/tables.ts';
import { reasonOf } from '../log/redact-error.ts';
import { OWN_PREFIX } from '../records/own-tables.ts';
import { failureClassOf } from '../records/storage.ts';
import { memberOf } from './dialects.ts';
import { columnTypesOf, MIGRATIONS, type Migration } from './migrations.ts';
import type { DatabaseKind } from './options.ts';
import { searchIndex } from './search.ts';
import { type Send, type Sql, sqlTables } from './statements.ts';

/** The database cannot be used as it is, because of its encoding, tables or migration. The message says what the operator has to change. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

export type SchemaContext = {
  readonly db: Sql;
  readonly kind: DatabaseKind;
  readonly prefix: string;
  readonly tables?: typeof TABLES;
  readonly migrations?: readonly Migration[];
};

/** The name of the table with the names of the applied migrations. `TABLES_CREATED` is among them once the tables are created. */
const migrationsTable = (prefix: string): string => `${prefix}tandem_migrations`;
const TABLES_CREATED = 'tables';

export const sendTo =
  (db: Sql): Send =>
  async (text, parameters = []) =>
    (await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, [...parameters]))).rows;

/**
 * Creates the declared tables, or the missing ones, and applies the pending migrations, in one transaction (which MySQL and MariaDB commit at each change
 * of the schema). On PostgreSQL, those with `upOutsideTransaction` run after it. Several processes may do so at the same time.
 * @throws SchemaError, or the error of the driver
 */
export const bringUpToDate = async (context: SchemaContext): Promise<void> => {
  try {
    if (await isPending(context)) {
      await context.kind.dialect.withRetry(() => createOrMigrate(context));
      await applyOutsideTransaction(context);
    }
  } catch (error) {
    // If nothing is pending any more, another process has brought the schema up to date, and may have caused the error.
    if (error instanceof SchemaError || (await isPending(context))) throw withAdvice(error);
  }
  await assertComplete(context);
};

const withAdvice = (error: unknown): unknown =>
  failureClassOf(reasonOf(error) ?? '') === 'timeout'
    ? new SchemaError(
        `The migration of the database takes longer than a sixth of REQUEST_TIMEOUT_MS, or waits for a lock (${reasonOf(error)}): run "npm run migrate" with a higher REQUEST_TIMEOUT_MS.`,
      )
    : error;

/** Checks that the declared columns of the service's tables exist, by a query that reads no row. @throws SchemaError, or the error of the driver */
const assertComplete = async ({ db, prefix, tables = TABLES }: SchemaContext): Promise<void> => {
  const tablesOfService = (Object.keys(tables) as TableName[])
    .map(sqlTables(prefix, tables))
    .filter(({ name }) => !name.startsWith(`${prefix}${OWN_PREFIX}`));
  const reads = tablesOfService.map(({ name, columns }) => {
    const rows = db.selectFrom(`${name} as part`).select(columns.map((column) => `part.${column.name}`));
    return sql`exists ${rows.where(sql<boolean>`1 = 0`)}`;
  });
  try {
    await sql`select ${sql.join(reads)}`.execute(db);
  } catch (error) {
    if (!isMissing(error)) throw withAdvice(error);
    // The message may be shown, since the statement has no values that it could quote.
    const reason = error instanceof Error ? error.message : String(error);
    throw new SchemaError(
      `The tables of the database are those of no version that was released: ${reason}. Restore a backup, or move the users to an empty database: docs/operate.md.`,
    );
  }
};

export type SchemaState = {
  /** The names of migrations that are not applied (`TABLES_CREATED`: creating the tables), and of missing tables if there is a table of migrations. */
  readonly pending: readonly string[];
  /** The names of applied migrations that this version does not know: a newer version has applied them. */
  readonly unknown: readonly string[];
};

export const schemaState = async (context: SchemaContext): Promise<SchemaState> => {
  const { db, kind, prefix, tables = TABLES, migrations = MIGRATIONS } = context;
  const names = [TABLES_CREATED, ...migrations.map(({ name }) => name)];
  const send = sendTo(db);
  const found = (await tablesOf(send, kind)).filter(({ isHere }) => isHere).map(({ name }) => name);
  if (!found.includes(migrationsTable(prefix))) return { pending: names, unknown: [] };
  const missing = Object.values(tables)
    .map(({ name }) => `${prefix}${name}`)
    .filter((name) => !found.includes(name));
  const applied = (await send(`select name from ${migrationsTable(prefix)}`)).map(({ name }) => String(name));
  return {
    pending: [...names.filter((name) => !applied.includes(name)), ...missing],
    unknown: applied.filter((name) => !names.includes(name)),
  };
};

const isPending = async (context: SchemaContext): Promise<boolean> => (await schemaState(context)).pending.length > 0;

type FoundTable = { readonly name: string; readonly isHere: boolean };

export const tablesOf = async (send: Send, { tablesQuery }: DatabaseKind): Promise<readonly FoundTable[]> =>
  (await send(tablesQuery)).map((row) => ({ name: String(row.name), isHere: Boolean(row.is_here) }));

const createOrMigrate = async (context: SchemaContext): Promise<void> => {
  const { db, kind, prefix, tables: declared, migrations = MIGRATIONS } = context;
  const search = searchIndex(kind.dialect.search, prefix);
  // Loaded on use, since its modules are slow to load, and needed only if the tables are not up to date.
  const { schemaStatements } = await import('./entities.ts');
  const schema = await schemaStatements(kind, prefix, declared);
  await kind.dialect.transact(db, async ({ db: transaction }) => {
    const send = sendTo(transaction);
    const record = (...names: string[]) => recordApplied(transaction, prefix, names);
    const tables = await tablesOf(send, kind);
    const isBegun = tables.some(({ name }) => name === migrationsTable(prefix));
    if (!isBegun) assertNoForeignTable(tables, context);
    // On MySQL and MariaDB, the table of migrations may exist before the others: another process is creating them, or was interrupted.
    if (!isBegun || (await schemaState({ ...context, db: transaction })).pending.includes(TABLES_CREATED)) {
      await transaction.schema
        .createTable(migrationsTable(prefix))
        .ifNotExists()
        .addColumn('name', 'varchar(100)', (column) => column.primaryKey())
        .execute();
      for (const statement of [...schema, ...search]) await send(statement);
      await record(TABLES_CREATED, ...migrations.map(({ name }) => name));
      return;
    }
    // Other processes that migrate wait for the lock of this row, or of SQLite's file. On MySQL and MariaDB, the first change ends the lock (`ignoreErrors`).
    const locked = kind.dialect.rowLock === null ? '' : ' for update';
    await send(`select name from ${migrationsTable(prefix)} where name = '${TABLES_CREATED}'${locked}`);
    const { pending } = await schemaState({ ...context, db: transaction });
    for (const migration of migrations) {
      if (!pending.includes(migration.name) || runsOutsideTransaction(context, migration)) continue;
      if (!pending.includes(`${prefix}${migration.table}`))
        await migration
          .up(transaction, { types: columnTypesOf(kind.types), prefix, search })
          .catch(ignoreErrors(1060, 1061));
      await record(migration.name).catch(ignoreErrors(1062));
    }
    for (const statement of schema) {
      const [, table = ''] = TABLE_IN_STATEMENT.exec(statement) ?? [];
      if (pending.includes(table)) await send(statement);
    }
  });
};

/** Ignores errors of MySQL and MariaDB for a change that another process has made: ER_DUP_FIELDNAME (1060), ER_DUP_KEYNAME (1061), ER_DUP_ENTRY (1062). */
const ignoreErrors =
  (...numbers: readonly unknown[]) =>
  (error: unknown): void => {
    if (!numbers.includes(memberOf(error, 'errno'))) throw error;
  };

const TABLE_IN_STATEMENT = /(?:table|on)(?: if not exists)? [`"](\w+)/;

/** Whether an error says that a column or a table is missing: by PostgreSQL's SQLSTATE, the number of MySQL and MariaDB, or SQLite's text. */
const isMissing = (error: unknown): boolean =>
  ['42703', '42P01', 1054, 1146].some((code) => [memberOf(error, 'code'), memberOf(error, 'errno')].includes(code)) ||
  (error instanceof Error && /^no such (?:column|table): /.test(error.message));

const runsOutsideTransaction = ({ kind }: SchemaContext, { upOutsideTransaction }: Migration): boolean =>
  upOutsideTransaction !== undefined && kind.dialect.system === 'postgresql';

/** Runs in one process at a time. Others do not wait for its lock, but ask again: `create index concurrently` would wait for their statement to end. */
const applyOutsideTransaction = async (context: SchemaContext): Promise<void> => {
  const { kind, prefix, migrations = MIGRATIONS } = context;
  const dueMigrations = async (db: Sql) => {
    const { pending } = await schemaState({ ...context, db });
    return migrations.filter(
      (migration) => pending.includes(migration.name) && runsOutsideTransaction(context, migration),
    );
  };
  const applyLocked = () =>
    kind.dialect.transact(context.db, async ({ db: transaction }) => {
      const send = sendTo(transaction);
      const [row] = await send(`select pg_try_advisory_xact_lock(hashtext('${migrationsTable(prefix)}')) as is_locked`);
      if (row?.is_locked !== true) return pause(500);
      await send('set local idle_in_transaction_session_timeout = 0');
      // A pool of its own, since `context.db` may have only the one connection that this transaction uses.
      const { db } = await kind.connect();
      try {
        for (const { name, upOutsideTransaction } of await dueMigrations(db)) {
          await upOutsideTransaction?.(sendTo(db), prefix);
          await recordApplied(db, prefix, [name]);
        }
      } finally {
        await db.destroy();
      }
    });
  while ((await dueMigrations(context.db)).length > 0) await applyLocked();
};

const recordApplied = (db: Sql, prefix: string, names: readonly string[]) =>
  db
    .insertInto(migrationsTable(prefix))
    .values(names.map((name) => ({ name })))
    .execute();

/** @throws SchemaError if the schema already has a table or view with the name of a declared table */
const assertNoForeignTable = (found: readonly FoundTable[], { prefix, tables = TABLES }: SchemaContext): void => {
  const declared = new Set(Object.values(tables).map(({ name }) => `${prefix}${name}`));
  const takenTable = found.find(({ name, isHere }) => isHere && declared.has(name));
  if (takenTable === undefined) return;
  throw new SchemaError(
    `The database has a table ${takenTable.name} already, which is not Tandem's. Set DATABASE_TABLE_PREFIX, for example to auth_, or let DATABASE_URL name an empty schema or database.`,
  );
};
