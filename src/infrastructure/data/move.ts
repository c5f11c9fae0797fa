import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Database, openDatabase } from '../../adapters/mikro-orm/open-database.ts';
import type { DatabaseOptions } from '../../adapters/mikro-orm/options.ts';
import type { Records, Stored } from '../../application/storage/records.ts';
import { type Reader, ROWS_PER_BATCH, withoutVersion } from '../../application/storage/rows.ts';
import { TABLES, type TableName } from '../../application/storage/tables.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { openedParts } from '../closing.ts';
import { CommandError } from '../command-error.ts';
import { assertHasDatabase, assertNotNewer, noTablesError } from './databases.ts';
import { type Comparison, compareRows, type Databases, type RowCounts, TABLE_NAMES } from './rows.ts';

/** The variable with the URL of the source. DATABASE_URL is the target. */
export const MOVE_FROM = 'MOVE_FROM';

type Options = {
  readonly source: DatabaseOptions;
  readonly target: DatabaseOptions;
  readonly dryRun: boolean;
  readonly onProgress: (line: string) => void;
};

/**
 * Makes the tables in the target, and copies the rows of the service that it lacks, or with `dryRun` only counts them. No row of the source is changed.
 * @returns how many rows each table of the source has, and how many rows were copied, or with `dryRun` are missing in the target
 * @throws CommandError for a refusal, for instance of a target with other rows; Error for a failure, after which some rows may be copied
 */
export const move = async ({ source, target, dryRun, onProgress }: Options) => {
  if (locationOf(source) === locationOf(target))
    throw new CommandError(
      'same-database',
      `${MOVE_FROM} and DATABASE_URL name the same database. Without a value, each is the file in DATA_DIR.`,
    );
  const opened = openedParts();
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
    if ((await stateOf(from, 'The source')) === 'empty') throw noTablesError('The source');
    for (const table of await from.ownTables())
      onProgress(`${table}: left out. It is a table of an application: copy it by the tools of the database.`);
    if (dryRun) {
      // A target that does not exist is not opened, since SQLite would create the file.
      const to = target.kind === 'sqlite' && !existsSync(target.path) ? null : await open(target, false);
      const isEmpty = to === null || (await stateOf(to, 'The target')) === 'empty';
      return { moved: false, ...(await examineRows({ source: from.records, target: isEmpty ? EMPTY : to.records })) };
    }
    const to = await open(target, true);
    await assertNotNewer(to, 'The target');
    return { moved: true, ...(await copyRows({ source: from.records, target: to.records, onProgress })) };
  } finally {
    await opened.closeAll();
  }
};

const locationOf = (options: DatabaseOptions) => (options.kind === 'sqlite' ? resolve(options.path) : options.url);

const EMPTY: Reader = { list: async () => [] };

/** Whether a database has no tables yet, or those of this version. @throws CommandError if it has those of another version; Error of the driver */
const stateOf = async (database: Database, subject: string): Promise<'empty' | 'current'> => {
  const pending = await assertNotNewer(database, subject);
  if (pending.includes('tables')) return 'empty';
  if (pending.length === 0) return 'current';
  const advice = 'Let DATABASE_URL name it, and run `npx tandem migrate` first.';
  throw new CommandError('other-version', `${subject} has tables of an older version. ${advice}`);
};

type CopyRun = { readonly source: Reader; readonly target: Records; readonly onProgress: (line: string) => void };

/** Copied rows of a table between two lines of progress. */
const PROGRESS_INTERVAL = 20 * ROWS_PER_BATCH;

/**
 * Copies every row that the target lacks: all of them, or the rest after an interruption. First it compares all rows, and writes nothing if the target
 * has a row that the source lacks. Then it inserts the missing rows, each batch in a transaction. At the end it compares all rows again.
 * @returns how many rows each table has, and how many this call has copied
 * @throws CommandError if the target has a row that the source lacks; Error, for instance one that names the table of a row that cannot be stored
 */
export const copyRows = async (run: CopyRun): Promise<{ readonly rows: RowCounts; readonly copied: number }> => {
  const { onProgress } = run;
  onProgress('Looking for rows that the target has …');
  const before = await compareAll(run);
  let copied = 0;
  for (const table of TABLE_NAMES) copied += await copyTable(table, run);
  onProgress('Comparing all rows …');
  const after = await compareAll(run).catch((error: unknown) => {
    throw error instanceof CommandError ? sourceChangedError() : error;
  });
  for (const table of TABLE_NAMES) {
    const { rows, present } = after[table];
    if (rows !== before[table].rows) throw sourceChangedError();
    if (present !== rows) throw new Error(`${TABLES[table].name} has ${rows} rows, ${present} of them in the target.`);
  }
  return { rows: countsOf(after), copied };
};

/** Counts the rows of each table, and the rows that `copyRows` would copy. */
export const examineRows = async (databases: Databases) => {
  const comparisons = await compareAll(databases);
  const missing = Object.values(comparisons).reduce((sum, { rows, present }) => sum + rows - present, 0);
  return { rows: countsOf(comparisons), missing };
};

type Comparisons = Readonly<Record<TableName, Comparison>>;

const compareAll = async (databases: Databases): Promise<Comparisons> => {
  const comparisons: [TableName, Comparison][] = [];
  for (const table of TABLE_NAMES)
    comparisons.push([table, await withTableName(table, () => compareRows(table, databases))]);
  return Object.fromEntries(comparisons) as Comparisons;
};

const countsOf = (comparisons: Comparisons): RowCounts =>
  Object.fromEntries(Object.entries(comparisons).map(([table, { rows }]) => [table, rows]));

const sourceChangedError = (): Error =>
  new Error(
    'The source has changed meanwhile: a service still uses it. Stop it, and begin again with an empty target.',
  );

const copyTable = async <Name extends TableName>(table: Name, { source, target, onProgress }: CopyRun) => {
  let batch: Stored<Name>[] = [];
  let copied = 0;
  const insertBatch = async (): Promise<void> => {
    await target.unit(async (records) => {
      for (const row of batch) await records.insert(table, withoutVersion(row));
    });
    copied += batch.length;
    batch = [];
    if (copied % PROGRESS_INTERVAL === 0) onProgress(`${TABLES[table].name}: ${copied} rows copied …`);
  };
  await withTableName(table, async () => {
    await compareRows(table, { source, target }, async (row) => {
      batch.push(row);
      if (batch.length === ROWS_PER_BATCH) await insertBatch();
    });
    if (batch.length > 0) await insertBatch();
  });
  onProgress(`${TABLES[table].name}: ${copied} rows copied.`);
  return copied;
};

/** Replaces an AppError, whose message is for clients of the service, by an Error with the name of the table and the reason of the database. */
const withTableName = async <Result>(table: TableName, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const cause = error.code === 'DB_UNIQUE_VIOLATION' ? 'the target has a row that is equal in ' : '';
    throw new Error(`${TABLES[table].name} could not be copied: ${cause}${error.reason}. ${RETRY_ADVICE}`);
  }
};

const RETRY_ADVICE =
  'The source is unchanged, and what was copied stays in the target. Run the command again to copy the rest.';
