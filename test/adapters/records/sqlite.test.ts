import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SQLITE } from '../../../src/adapters/mikro-orm/records/dialects.ts';
import { mikroOrmRecords } from '../../../src/adapters/mikro-orm/records/records.ts';
import type { Records } from '../../../src/adapters/records/records.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { type Database, openDatabase } from '../../../src/infrastructure/database/database.ts';
import { absent } from '../../contracts/hooks.ts';
import { describeRecords } from '../../contracts/records.contract.ts';
import { describeStorage } from '../../support/records/describe-storage.ts';
import { failing, QUOTING } from '../../support/records/failing.ts';
import { instanceInThread } from '../../support/records/sqlite-instance.ts';
import { onSqlite } from '../../support/storage/databases.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const { path: directory, remove } = temporaryDirectory();
const path = join(directory, 'tandem.sqlite');
const TABLES = ['users', 'outbox', 'mailboxes', 'used_values', 'operations'];

describe('in a file of SQLite', () => {
  let database: Database;
  let another: Awaited<ReturnType<typeof instanceInThread>>;
  beforeAll(async () => {
    database = await openDatabase(onSqlite(path), { migrate: true });
    another = await instanceInThread(path);
  });
  afterAll(async () => {
    await another?.close();
    await database?.close();
    remove();
  });

  /** Empties the file. */
  const empty = async () => {
    for (const table of TABLES) await database.em.execute(`delete from ${table}`);
  };
  const failingRecords = (): Records => mikroOrmRecords(() => failing(database.em.getKysely(), QUOTING.sqlite), SQLITE);

  describeRecords('mikroOrmRecords', async () => {
    await empty();
    return {
      records: database.records,
      another: async () => another.instance.records,
      failing: async () => failingRecords(),
      untilOneWaits: setImmediate,
    };
  });

  describeStorage('over records of MikroORM', async () => {
    await empty();
    return {
      storage: storageOver(database.records),
      another: async () => another.instance,
      failing: async () => storageOver(failingRecords()),
      interfere: absent('units take turns'),
    };
  });

  it.each([
    { synchronous: 'normal' as const, as: 1 },
    { synchronous: 'full' as const, as: 2 },
  ])('writes a log ahead, and to the disk at each commit if it is to: $synchronous', async ({ synchronous, as }) => {
    const opened = await openDatabase({ ...onSqlite(path), synchronous }, { migrate: true });
    onTestFinished(opened.close);
    const settings = await Promise.all(
      ['journal_mode', 'synchronous', 'foreign_keys'].map((name) => opened.em.execute(`pragma ${name}`)),
    );
    expect(settings).toEqual([[{ journal_mode: 'wal' }], [{ synchronous: as }], [{ foreign_keys: 1 }]]);
  });
});
