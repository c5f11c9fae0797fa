import { closing } from '../closing.ts';
import { CommandError, failureText } from '../command-error.ts';
import type { DatabaseOptions } from '../config/stores.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { STATEMENT_TIMEOUT } from '../database/migrate.ts';
import { assertKnown, countRows, openEmbedded, type RowCounts, type Send, sendOver, TABLE_NAMES } from './tables.ts';

type Options = {
  readonly dataDir: string;
  readonly target: Extract<DatabaseOptions, { kind: 'postgresql' }>;
  readonly dryRun: boolean;
};

/** Rows that are read and written at once. */
const BATCH = 1000;

/**
 * Copies every row of the embedded database of DATA_DIR to an empty PostgreSQL, in one transaction, and compares the numbers of rows before
 * the commit. The embedded database is migrated if necessary, locked meanwhile, and not changed otherwise.
 * @returns whether it was moved, and the rows of each table.
 * @throws CommandError, and then the target has at most empty tables; Error, and then too, unless the commit failed.
 */
export const move = async ({ dataDir, target: options, dryRun }: Options) => {
  const opened = closing();
  try {
    const source = await openEmbedded(dataDir, { migrate: true });
    opened.add(source.close);
    const from = sendOver(source.em.getKysely());
    await assertKnown(from);
    const oneConnection = { ...options, poolSize: 1, statementTimeout: STATEMENT_TIMEOUT };
    const target = await openDatabase(oneConnection, { migrate: false });
    opened.add(target.close);
    await assertEmpty(sendOver(target.em.getKysely()));
    const rows = await countRows(from);
    if (!dryRun) await write(target, (to) => copyAll(rows, { from, to }));
    return { moved: !dryRun, rows };
  } finally {
    await opened.closeAll();
  }
};

const assertEmpty = async (to: Send): Promise<void> => {
  const [name] = Object.entries(await countRows(to)).find(([, count]) => count > 0) ?? [];
  if (name !== undefined)
    throw new CommandError(
      'target-not-empty',
      `The PostgreSQL of DATABASE_URL has rows in the table ${name} already. Use an empty database.`,
    );
};

/** Makes the tables, then runs `work` in a transaction. */
const write = async (target: Database, work: (to: Send) => Promise<void>): Promise<void> => {
  try {
    await target.migrate();
    await target.em
      .getKysely()
      .transaction()
      .execute((transaction) => work(sendOver(transaction)));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    // The connection may have failed at the commit.
    throw new Error(
      `${failureText(error)} Nothing was moved, unless \`move --dry-run\` is refused because the target has rows.`,
    );
  }
};

type Between = { readonly from: Send; readonly to: Send };

const copyAll = async (rows: RowCounts, { from, to }: Between): Promise<void> => {
  await to(`set local lock_timeout = '3s'`);
  // Blocks writes of other instances until the end, but not their reads.
  await to(`lock table ${TABLE_NAMES.join(', ')} in exclusive mode`);
  await assertEmpty(to);
  for (const name of TABLE_NAMES) await copyTable(name, { from, to });
  const copied = await countRows(to);
  const different = TABLE_NAMES.find((name) => copied[name] !== rows[name]);
  if (different !== undefined) throw new Error(`${different} has ${rows[different]} rows, ${copied[different]} copied`);
};

/** Copies rows as PostgreSQL's own JSON, by the names of the columns. */
const copyTable = async (name: string, { from, to }: Between): Promise<void> => {
  await from(`declare moved no scroll cursor with hold for select to_json(${name})::text as row from ${name}`);
  for (;;) {
    const rows = await from<{ row: string }>(`fetch ${BATCH} from moved`);
    if (rows.length === 0) break;
    const batch = `[${rows.map(({ row }) => row).join(',')}]`;
    await to(`insert into ${name} select * from json_populate_recordset(null::${name}, $1)`, [batch]);
  }
  await from('close moved');
};
