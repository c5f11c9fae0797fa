import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lockHolder } from '../data-dir/data-dir-lock.ts';
import { type Database, openDatabase } from '../database/database.ts';
import type { DatabaseOptions } from '../database/orm-options.ts';
import { failureText } from '../failure-text.ts';
import { Refusal } from '../refusal.ts';
import { appliedMigrations, compareMigrations } from '../tables/migrations.ts';
import { quoted, type Send, sendOver, type Table, tablesOf } from '../tables/tables.ts';
import { copyRows, copySequences, type Total, totalOf, useSameTexts } from './copy-rows.ts';

export type MoveReport = {
  /** Without it, nothing was written. */
  readonly moved: boolean;
  readonly tables: readonly (Total & { readonly name: string })[];
};

type Options = {
  readonly dataDir: string;
  readonly target: Extract<DatabaseOptions, { kind: 'postgresql' }>;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
};

/** Milliseconds that a statement may take. Those of requests have much less. */
const STATEMENT_TIMEOUT = 600_000;
/** Limits of the server or the role, which may be made for requests. PostgreSQL 17 added the last one. */
const LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];
const WAIT_FOR_TABLES = '3s';

/**
 * Copies every row of the embedded database of DATA_DIR to a PostgreSQL without rows, in one transaction, and compares both before the
 * commit. The embedded database is locked meanwhile, and keeps its rows.
 * @throws Refusal, and then the target has at most empty tables; Error, and then too, unless the commit itself failed.
 */
export const move = async ({ dataDir, target: options, dryRun, signal }: Options): Promise<MoveReport> => {
  assertIdle(dataDir);
  const source = await openDatabase({ kind: 'embedded', dataDir }, { migrate: false });
  try {
    await assertUpToDate(sendOver(source.em.getKysely()));
    const patient = { ...options, poolSize: 1, statementTimeout: STATEMENT_TIMEOUT };
    const target = await openDatabase(patient, { migrate: false });
    try {
      return await between(source, target, { dryRun, signal });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
};

const assertIdle = (dataDir: string): void => {
  if (!existsSync(join(dataDir, 'database', 'PG_VERSION')))
    throw new Refusal('no-database', `DATA_DIR (${dataDir}) has no embedded database.`);
  const holder = lockHolder(dataDir);
  if (holder !== null)
    throw new Refusal(
      'in-use',
      `Process ${holder} uses the embedded database in DATA_DIR (${dataDir}). Stop the service first.`,
    );
};

const assertUpToDate = async (send: Send): Promise<void> => {
  const { pending, unknown } = compareMigrations(await appliedMigrations(send));
  if (unknown.length > 0)
    throw new Refusal(
      'newer-version',
      'A newer version has changed the tables of the embedded database. Move it with that version.',
    );
  if (pending.length > 0)
    throw new Refusal(
      'migrations-pending',
      'The tables of the embedded database are those of an older version. Run `npm run migrate` with an empty DATABASE_URL first.',
    );
};

const between = async (
  source: Database,
  target: Database,
  { dryRun, signal }: Pick<Options, 'dryRun' | 'signal'>,
): Promise<MoveReport> => {
  const outside = sendOver(target.em.getKysely());
  // Before the migrations: a database that is in use is not migrated by this command.
  await assertEmpty(await tablesOf(outside), outside);
  if (!dryRun) await target.migrate();
  return reading(source, async (from) => {
    const sources = await totalsOf(await tablesOf(from), from);
    if (!dryRun) await writing(target, (to) => copyAll(sources, { from, to, signal }));
    return { moved: !dryRun, tables: sources.map(({ table, total }) => ({ name: table.name, ...total })) };
  });
};

const assertEmpty = async (tables: readonly Table[], send: Send): Promise<void> => {
  for (const { name } of tables) {
    const [row] = await send<{ found: boolean }>(`select exists (select from ${quoted(name)}) as found`);
    if (row?.found === true)
      throw new Refusal(
        'target-not-empty',
        `The PostgreSQL of DATABASE_URL has rows in the table ${name} already. Use an empty database.`,
      );
  }
};

type TableTotal = { readonly table: Table; readonly total: Total };

const totalsOf = async (tables: readonly Table[], send: Send): Promise<TableTotal[]> => {
  const totals: TableTotal[] = [];
  for (const table of tables) totals.push({ table, total: await totalOf(table, send) });
  return totals;
};

/** Runs `work` while the database shows one state, and lets nothing be written. */
const reading = <Result>({ em }: Database, work: (from: Send) => Promise<Result>): Promise<Result> =>
  em
    .getKysely()
    .transaction()
    .execute(async (transaction) => {
      const from = sendOver(transaction);
      await from('set transaction isolation level repeatable read, read only');
      await useSameTexts(from);
      return work(from);
    });

/** Runs `work` in a transaction. @throws Refusal; Error that says whether something was moved. */
const writing = async ({ em }: Database, work: (to: Send) => Promise<void>): Promise<void> => {
  let committing = false;
  try {
    await em
      .getKysely()
      .transaction()
      .execute(async (transaction) => {
        const to = sendOver(transaction);
        await to('select set_config(name, $1, true) from pg_settings where name = any($2)', ['0', LIMITS]);
        await to(`set local lock_timeout = '${WAIT_FOR_TABLES}'`);
        await useSameTexts(to);
        await work(to);
        committing = true;
      });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (!committing) throw new Error(`Nothing was moved: ${failureText(error)}`);
    throw new Error(
      'The connection failed at the commit, so that everything was moved, or nothing. Run `move --dry-run`: if it is refused because ' +
        'the target has rows, everything was moved; otherwise nothing was, and the command can be repeated.',
    );
  }
};

type Between = { readonly from: Send; readonly to: Send; readonly signal: AbortSignal };

const copyAll = async (sources: readonly TableTotal[], { from, to, signal }: Between): Promise<void> => {
  const tables = sources.map(({ table }) => table);
  const targets = await tablesOf(to);
  assertSameTables(tables, targets);
  // Nobody else writes until the end; instances that run already can read.
  await to(`lock table ${tables.map(({ name }) => quoted(name)).join(', ')} in exclusive mode`);
  await assertEmpty(targets, to);
  for (const table of tables) {
    signal.throwIfAborted();
    await copyRows(table, from, to);
  }
  for (const { table, total } of sources) assertSameTotal(table, total, await totalOf(table, to));
  for (const table of tables) await copySequences(table, from, to);
  signal.throwIfAborted();
};

const assertSameTables = (sources: readonly Table[], targets: readonly Table[]): void => {
  const different = sources.find(
    (table) => shapeOf(table) !== shapeOf(targets.find(({ name }) => name === table.name)),
  );
  if (different !== undefined)
    throw new Refusal(
      'schema-differs',
      `The table ${different.name} has other columns in the PostgreSQL of DATABASE_URL.`,
    );
};

const shapeOf = (table: Table | undefined): string =>
  JSON.stringify(table?.columns.map(({ name, type }) => `${name} ${type}`).sort());

const assertSameTotal = ({ name }: Table, source: Total, target: Total): void => {
  if (source.rows !== target.rows || source.sum !== target.sum)
    throw new Error(`The rows of ${name} are not the same in both databases: ${source.rows} and ${target.rows}.`);
};
