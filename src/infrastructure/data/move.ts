import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Database, openDatabase } from '../../adapters/mikro-orm/open-database.ts';
import type { DatabaseOptions } from '../../adapters/mikro-orm/options.ts';
import type { Records } from '../../adapters/records/records.ts';
import { closing } from '../closing.ts';
import { CommandError } from '../command-error.ts';
import { type Copying, copyRows, examineRows } from './copy-rows.ts';
import { assertHasDatabase } from './database-file.ts';
import { noTables, schemaOf } from './schema-check.ts';

/** The variable that names the source, as DATABASE_URL names the target. */
export const MOVE_FROM = 'MOVE_FROM';

type Options = Pick<Copying, 'onProgress'> & {
  readonly source: DatabaseOptions;
  readonly target: DatabaseOptions;
  readonly dryRun: boolean;
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
  const open = async (opening: Promise<Database>): Promise<Database> => {
    const database = await opening;
    opened.add(database.close);
    return database;
  };
  try {
    const from = await open(openSource(source));
    await assertReadable(from);
    if (dryRun) {
      // SQLite would create a file.
      const isMissing = target.kind === 'sqlite' && !existsSync(target.path);
      const present = isMissing ? NOTHING : await contentOf(await open(openDatabase(target, { migrate: false })));
      return { moved: false, ...(await examineRows({ source: from.records, target: present })) };
    }
    const to = await open(openDatabase(target, { migrate: true }));
    await schemaOf(to, 'The target');
    return { moved: true, ...(await copyRows({ source: from.records, target: to.records, onProgress })) };
  } finally {
    await opened.closeAll();
  }
};

const placeOf = (options: DatabaseOptions) => (options.kind === 'sqlite' ? resolve(options.path) : options.url);

/** Changes nothing. @throws CommandError; Error, which names the variable of the source */
const openSource = async (options: DatabaseOptions): Promise<Database> => {
  if (options.kind === 'sqlite') assertHasDatabase(options.path);
  return openDatabase(options, { migrate: false }).catch((error: unknown) => {
    throw error instanceof Error ? new Error(error.message.replace('DATABASE_URL', MOVE_FROM)) : error;
  });
};

const assertReadable = async (source: Database): Promise<void> => {
  const { hasTables, isOlder } = await schemaOf(source, 'The source');
  if (!hasTables) throw noTables('The source');
  if (isOlder)
    throw new CommandError(
      'other-version',
      'The source is that of an older version. Let DATABASE_URL name it, and run `npx tandem migrate` first.',
    );
};

const NOTHING: Pick<Records, 'list'> = { list: async () => [] };

/** What is in a target, which is not changed. One without tables is empty. @throws CommandError */
const contentOf = async (target: Database): Promise<Pick<Records, 'list'>> => {
  const { hasTables, isOlder } = await schemaOf(target, 'The target');
  if (!hasTables) return NOTHING;
  if (isOlder) throw new CommandError('other-version', 'The target has tables of an older version.');
  return target.records;
};
