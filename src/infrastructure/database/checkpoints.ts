import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from './database.ts';

/** Bytes of WAL after which a checkpoint is made. */
export const WAL_LIMIT = 64 * 1024 ** 2;
/** Milliseconds between two checks of the WAL. */
const INTERVAL_MS = 10_000;

/** `redo_lsn` is where the last checkpoint began. */
const WAL_SINCE_CHECKPOINT = `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes
  from pg_control_checkpoint()`;

type Options = {
  /** Where the files of the database are. */
  readonly directory: string;
  readonly logger: Pick<Logger, 'warn'>;
  readonly interval?: number;
};

/**
 * Makes checkpoints of an embedded database while it is open: PGlite makes none, and its WAL would grow without end.
 * @returns the database, whose `close` also ends the checkpoints, and then writes all files to the disk: PGlite leaves that to the system, so a
 *   loss of power after a stop could take the database.
 */
export const withCheckpoints = (database: Database, options: Options): Database => {
  const ending = new AbortController();
  const running = checkpoints(database, options, ending.signal);
  return {
    ...database,
    close: async () => {
      ending.abort();
      await running;
      await database.close();
      await writeToDisk(options.directory).catch((error: unknown) => {
        options.logger.warn({ err: error }, 'the embedded database could not be written to the disk');
      });
    },
  };
};

/** fsync of each file and directory. */
const writeToDisk = async (directory: string): Promise<void> => {
  for (const name of ['', ...(await readdir(directory, { recursive: true }))]) {
    await using file = await open(join(directory, name));
    await file.sync();
  }
};

const checkpoints = async (
  { em }: Database,
  { logger, interval = INTERVAL_MS }: Options,
  signal: AbortSignal,
): Promise<void> => {
  const checkpoint = async () => {
    const [wal] = await em.execute<{ bytes: number }[]>(WAL_SINCE_CHECKPOINT);
    if (wal !== undefined && wal.bytes >= WAL_LIMIT) await em.execute('checkpoint');
  };
  while (!signal.aborted) {
    await checkpoint().catch((error: unknown) => {
      logger.warn({ err: error }, 'no checkpoint of the embedded database could be made');
    });
    await pause(interval, undefined, { signal, ref: false }).catch(() => undefined);
  }
};
