import { readdirSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WAL_LIMIT, withCheckpoints } from '../../../src/infrastructure/database/checkpoints.ts';
import { type Database, openDatabase } from '../../../src/infrastructure/database/database.ts';
import { openForService } from '../../../src/infrastructure/storages/sql.ts';
import { copyEmbedded } from '../../support/storage/embedded-template.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

/** Milliseconds, to catch what hangs. */
const timeout = 60_000;
const NOBODY = { info: () => undefined, warn: () => undefined };

const newDataDir = async (): Promise<string> => {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  await copyEmbedded(path, { migrated: true });
  return path;
};

const open = (dataDir: string): Promise<Database> => openDatabase({ kind: 'embedded', dataDir }, { migrate: false });

/** Writes more WAL than may be there without a checkpoint. */
const writeWal = async ({ em }: Database): Promise<void> => {
  for (let written = 0; written < WAL_LIMIT; written += 1_000_000)
    await em.execute(`select pg_logical_emit_message(false, 'filler', repeat('x', 1000000))`);
};

const sinceCheckpoint = async ({ em }: Database): Promise<number> => {
  const [row] = await em.execute<{ bytes: number }[]>(
    'select (pg_current_wal_insert_lsn() - redo_lsn)::float8 as bytes from pg_control_checkpoint()',
  );
  return row?.bytes ?? Number.NaN;
};

const isCheckpointed = (database: Database) =>
  expect.poll(() => sinceCheckpoint(database), { timeout }).toBeLessThan(WAL_LIMIT);

const walFiles = (dataDir: string): string[] =>
  readdirSync(join(dataDir, 'database', 'pg_wal')).filter((name) => /^[0-9A-F]{24}$/.test(name));

describe('checkpoints of the embedded database', () => {
  it('keep the WAL small, however much is written', async () => {
    const dataDir = await newDataDir();
    const directory = join(dataDir, 'database');
    const database = withCheckpoints(await open(dataDir), { directory, logger: NOBODY, interval: 1 });
    onTestFinished(database.close);
    for (let round = 0; round < 3; round += 1) {
      await writeWal(database);
      await isCheckpointed(database);
    }
    // 12 files of 16 MiB were written.
    expect(walFiles(dataDir).length).toBeLessThan(10);
  });

  it('end with the database, whose files and directories are then written to the disk', async () => {
    const dataDir = await newDataDir();
    const directory = join(dataDir, 'database');
    const database = withCheckpoints(await open(dataDir), { directory, logger: NOBODY });
    const file = await openFile(join(directory, 'PG_VERSION'));
    const synced = vi.spyOn(Object.getPrototypeOf(file), 'sync');
    onTestFinished(() => synced.mockRestore());
    await file.close();
    await database.close();
    expect(synced).toHaveBeenCalledTimes(readdirSync(directory, { recursive: true }).length + 1);
  });

  it('are made by the service', async () => {
    const dataDir = await newDataDir();
    const context = { migrate: false, onCreate: () => undefined, logger: NOBODY };
    const database = await openForService({ kind: 'embedded', dataDir }, context);
    onTestFinished(database.close);
    await writeWal(database);
    await isCheckpointed(database);
  });
});
