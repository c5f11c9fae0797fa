import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Database, openDatabase } from '../../adapters/mikro-orm/open-database.ts';
import type { DatabaseOptions } from '../../adapters/mikro-orm/options.ts';
import type { Records, Stored } from '../../application/storage/records.ts';
import { withoutVersion } from '../../application/storage/rows.ts';
import { TABLES, type TableName } from '../../application/storage/tables.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { closing } from '../closing.ts';
import { CommandError } from '../command-error.ts';
import { assertHasDatabase, assertNotNewer, noTables } from './databases.ts';
import { BATCH, type Compared, compareRows, type RowCounts, type Source, TABLE_NAMES } from './rows.ts';

/** The variable that names the source, as DATABASE_URL names the target. */
export const MOVE_FROM = 'MOVE_FROM';

type Options = {
  readonly source: DatabaseOptions;
  readonly target: DatabaseOptions;
  readonly dryRun: boolean;
  /** Called with a line of text about each table, and about many rows of one. */
  readonly onProgress: (line: string) => void;
};

/**
 * Copies every row of a database to another, which gets the tables first. The source is not changed.
 * @returns the rows of the source by table, and how many were copied, or are missing with `dryRun`.
 * @throws CommandError, and then the target has at most empty tables; Error, and then a repetition goes on.
 */
export const move = async ({ source, target, dryRun, onProgress }: Options) => {
  if (placeOf(source) === placeOf(target))
    throw new CommandError(
      'same-database',
      `${MOVE_FROM} and DATABASE_URL name the same database. Without a value, each is the file in DATA_DIR.`,
    );
  const opened = closing();
  const open = async (options: DatabaseOptions, migrate: boolean): Promise<Database> => {
    const database = await openDatabase(options, { migrate });
    opened.add(database.close);
    return database;
  };
  try {
    if (source.kind === 'sqlite') assertHasDatabase(source.path);
    const from = await open(source, false).catch((error: unknown) => {
      throw error instanceof Error ? new Error(error.message.replace('DATABASE_URL', MOVE_FROM)) : error;
    });
    if ((await stateOf(from, 'The source')) === 'empty') throw noTables('The source');
    for (const table of await from.ownTables())
      onProgress(`${table}: left out. It is a table of an application: copy it by the tools of the database.`);
    if (dryRun) {
      // SQLite would create a file.
      const isMissing = target.kind === 'sqlite' && !existsSync(target.path);
      const present = isMissing ? NOTHING : await contentOf(await open(target, false));
      return { moved: false, ...(await examineRows({ source: from.records, target: present })) };
    }
    const to = await open(target, true);
    await assertNotNewer(to, 'The target');
    return { moved: true, ...(await copyRows({ source: from.records, target: to.records, onProgress })) };
  } finally {
    await opened.closeAll();
  }
};

const placeOf = (options: DatabaseOptions) => (options.kind === 'sqlite' ? resolve(options.path) : options.url);

const NOTHING: Source = { list: async () => [] };

const contentOf = async (target: Database): Promise<Source> =>
  (await stateOf(target, 'The target')) === 'empty' ? NOTHING : target.records;

/** @throws CommandError unless it has no tables, or those of this version. */
const stateOf = async (database: Database, called: string): Promise<'empty' | 'current'> => {
  const pending = await assertNotNewer(database, called);
  if (pending.includes('tables')) return 'empty';
  if (pending.length === 0) return 'current';
  const advice = 'Let DATABASE_URL name it, and run `npx tandem migrate` first.';
  throw new CommandError('other-version', `${called} has tables of an older version. ${advice}`);
};

/** A source is read only; nothing is removed from a target. */
type Copying = {
  readonly source: Source;
  readonly target: Records;
  readonly onProgress: (line: string) => void;
};

/** After how many rows of a table there is another line of progress. */
const SHOWN = 20 * BATCH;

/**
 * Copies every row that the target has not. What an earlier call has copied stays. 1. Compares all rows, and writes nothing if the target has others
 * than the source. 2. Inserts missing rows, a batch in one unit. 3. Compares all rows again.
 * @returns how many rows each table has, and how many were copied now.
 * @throws CommandError when the target has other rows; Error that names the table of a row that cannot be stored.
 */
export const copyRows = async (copying: Copying): Promise<{ readonly rows: RowCounts; readonly copied: number }> => {
  const { onProgress } = copying;
  onProgress('Looking for rows that the target has …');
  const before = await compareAll(copying);
  let copied = 0;
  for (const table of TABLE_NAMES) copied += await copyTable(table, copying);
  onProgress('Comparing all rows …');
  const after = await compareAll(copying).catch((error: unknown) => {
    throw error instanceof CommandError ? changed() : error;
  });
  for (const table of TABLE_NAMES) {
    const { rows, present } = after[table];
    if (rows !== before[table].rows) throw changed();
    if (present !== rows) throw new Error(`${TABLES[table].name} has ${rows} rows, ${present} of them in the target.`);
  }
  return { rows: countsOf(after), copied };
};

/** What `copyRows` would do. */
export const examineRows = async (between: { readonly source: Source; readonly target: Source }) => {
  const compared = await compareAll(between);
  const missing = Object.values(compared).reduce((sum, { rows, present }) => sum + rows - present, 0);
  return { rows: countsOf(compared), missing };
};

type AllCompared = Readonly<Record<TableName, Compared>>;

const compareAll = async (between: Parameters<typeof examineRows>[0]): Promise<AllCompared> => {
  const compared: [TableName, Compared][] = [];
  for (const table of TABLE_NAMES)
    compared.push([table, await withTableName(table, () => compareRows(table, between))]);
  // `Object.fromEntries` is typed to return any names.
  return Object.fromEntries(compared) as AllCompared;
};

const countsOf = (compared: AllCompared): RowCounts =>
  Object.fromEntries(Object.entries(compared).map(([table, { rows }]) => [table, rows]));

const changed = (): Error =>
  new Error(
    'The source has changed meanwhile: a service still uses it. Stop it, and begin again with an empty target.',
  );

/** @returns how many rows were copied. */
const copyTable = async <Name extends TableName>(table: Name, { source, target, onProgress }: Copying) => {
  let batch: Stored<Name>[] = [];
  let copied = 0;
  const insertBatch = async (): Promise<void> => {
    await target.unit(async (records) => {
      for (const row of batch) await records.insert(table, withoutVersion(row));
    });
    copied += batch.length;
    batch = [];
    if (copied % SHOWN === 0) onProgress(`${TABLES[table].name}: ${copied} rows copied …`);
  };
  await withTableName(table, async () => {
    await compareRows(table, { source, target }, async (row) => {
      batch.push(row);
      if (batch.length === BATCH) await insertBatch();
    });
    if (batch.length > 0) await insertBatch();
  });
  onProgress(`${TABLES[table].name}: ${copied} rows copied.`);
  return copied;
};

/** Adds the name of the table to an error of the records, whose own message is for clients of the service. */
const withTableName = async <Result>(table: TableName, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const what = error.code === 'DB_UNIQUE_VIOLATION' ? 'the target has a row that is equal in ' : '';
    throw new Error(`${TABLES[table].name} could not be copied: ${what}${error.reason}. ${GO_ON}`);
  }
};

const GO_ON =
  'The source is unchanged, and what was copied stays in the target. Run the command again to copy the rest.';
