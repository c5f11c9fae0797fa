import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Database, openDatabase } from '../../adapters/mikro-orm/open-database.ts';
import type { DatabaseOptions } from '../../adapters/mikro-orm/options.ts';
import { closing } from '../closing.ts';
import { CommandError } from '../command-error.ts';
import { copyRows, examineRows } from './copy-rows.ts';
import { assertHasDatabase, assertNotNewer, noTables } from './databases.ts';
import type { Source } from './rows.ts';

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
