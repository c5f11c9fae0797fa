import { CompiledQuery, type Kysely } from 'kysely';
import { ENTITIES } from '../../adapters/mikro-orm/entities.ts';
import { MIGRATION_NAMES } from '../../adapters/mikro-orm/migrations/migrations.ts';
import { CommandError } from '../command-error.ts';
import { hasDatabase, lockHolder } from '../data-dir/data-dir-lock.ts';
import { type Database, openDatabase } from '../database/database.ts';

/** @throws CommandError */
export const assertHasDatabase = (dataDir: string): void => {
  if (!hasDatabase(dataDir)) throw new CommandError('no-database', `DATA_DIR (${dataDir}) has no embedded database.`);
};

/** @throws CommandError */
export const assertNotInUse = (dataDir: string): void => {
  const holder = lockHolder(dataDir);
  if (holder !== null) throw new CommandError('in-use', `Process ${holder} uses DATA_DIR (${dataDir}). Stop it first.`);
};

/** Opens the embedded database of DATA_DIR, which no other process uses. @throws CommandError */
export const openEmbedded = (dataDir: string, { migrate }: { readonly migrate: boolean }): Promise<Database> => {
  assertHasDatabase(dataDir);
  assertNotInUse(dataDir);
  return openDatabase({ kind: 'embedded', dataDir }, { migrate });
};

/** Sends a statement with `$1`, `$2` … over one connection or transaction. */
export type Send = <Row extends object>(statement: string, parameters?: readonly unknown[]) => Promise<Row[]>;

export const sendOver =
  (connection: Pick<Kysely<unknown>, 'executeQuery'>): Send =>
  async <Row extends object>(statement: string, parameters: readonly unknown[] = []) =>
    (await connection.executeQuery<Row>(CompiledQuery.raw(statement, [...parameters]))).rows;

/** The tables with data, as SQL names them. Tables that others reference come first. */
export const TABLE_NAMES: readonly string[] = ENTITIES.map((entity) => entity.meta.tableName);

export type RowCounts = Readonly<Record<string, number>>;

export const countRows = async (send: Send): Promise<RowCounts> => {
  const counts: [string, number][] = [];
  for (const name of TABLE_NAMES) {
    const [row] = await send<{ exists: boolean }>('select to_regclass($1) is not null as exists', [name]);
    const rows = row?.exists ? await send<{ count: string | number }>(`select count(*) as count from ${name}`) : [];
    if (rows[0] !== undefined) counts.push([name, Number(rows[0].count)]);
  }
  return Object.fromEntries(counts);
};

/** Refuses a database that a newer version has migrated: this one would leave out what it does not know. @throws CommandError */
export const assertKnown = async (send: Send): Promise<void> => {
  const [table] = await send<{ exists: boolean }>(`select to_regclass('mikro_orm_migrations') is not null as exists`);
  const applied = table?.exists ? await send<{ name: string }>('select name from mikro_orm_migrations') : [];
  if (applied.some(({ name }) => !MIGRATION_NAMES.includes(name)))
    throw new CommandError('other-version', 'The database is that of a newer version of Tandem. Use that version.');
};
