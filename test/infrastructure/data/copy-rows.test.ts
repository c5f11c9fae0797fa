// Proves operator-8
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import { memoryRecords } from '../../../src/adapters/records/memory.ts';
import type { Records, Stored } from '../../../src/application/storage/records.ts';
import { ROWS_PER_BATCH, withoutVersion } from '../../../src/application/storage/rows.ts';
import { copyRows, examineRows } from '../../../src/infrastructure/data/move.ts';
import { TABLE_NAMES } from '../../../src/infrastructure/data/rows.ts';
import { aUserRow } from '../../contracts/records/database.ts';
import { allRows, fill } from '../../support/records/sample-rows.ts';
import { canStartMariadb, startMariadb } from '../../support/servers/of-the-tests.ts';
import {
  createDatabase,
  onMariadb,
  onPostgresql,
  openEmbedded,
  TEST_DATABASE_URL,
} from '../../support/storage/databases.ts';

const opened = async (opening: Promise<Database>): Promise<Records> => {
  const { records, close } = await opening;
  onTestFinished(close);
  return records;
};
const onFile = () => opened(openEmbedded());
const onServer = async (): Promise<Records> => {
  const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
  return opened(openDatabase(onPostgresql(url), { migrate: true }));
};

/** Beside the tables of the server itself. */
const onMariadbAt = (url: string): Promise<Records> =>
  opened(openDatabase({ ...onMariadb(`${url}mysql`), tablePrefix: 'auth_' }, { migrate: true }));

/** All rows, by their tables. */
const contentOf = async (records: Records) => {
  const content: Record<string, unknown> = {};
  for (const table of TABLE_NAMES) {
    content[table] = (await allRows(records, table)).map(withoutVersion);
  }
  return content;
};
const total = (rows: object): number => Object.values(rows).reduce((sum, count) => sum + count, 0);

const copy = async (source: Pick<Records, 'list'>, target: Records) => {
  const lines: string[] = [];
  const result = await copyRows({ source, target, onProgress: (line) => lines.push(line) });
  return { ...result, lines };
};

/** So many that links are more than one batch. */
const USERS = 100;
const aSource = async (): Promise<Records> => {
  const source = await onFile();
  await fill(source, USERS);
  return source;
};

/** Records whose n-th insert fails, by an error that comes instead. */
const failingAt = (records: Records, nth: number, fail: () => unknown): Records => {
  let inserts = 0;
  const failing = (each: Records): Records => ({
    ...each,
    insert: async (...given) => {
      inserts += 1;
      if (inserts === nth) await fail();
      await each.insert(...given);
    },
  });
  return { ...records, unit: (work) => records.unit((inside) => work(failing(inside))) };
};

describe('copyRows', () => {
  it.runIf(TEST_DATABASE_URL !== undefined)(
    'copies all rows of every table as they are, from SQLite to PostgreSQL and back',
    async () => {
      const source = await aSource();
      const [server, back] = [await onServer(), await onFile()];
      const { rows, copied, lines } = await copy(source, server);
      const content = await contentOf(source);
      expect(rows).toEqual(
        Object.fromEntries(Object.entries(content).map(([table, all]) => [table, (all as []).length])),
      );
      expect([rows.users, copied]).toEqual([USERS, total(rows)]);
      expect(lines).toContain(`sessions: ${2 * USERS} rows copied.`);
      expect((await copy(server, back)).copied).toBe(total(rows));
      expect(await contentOf(server)).toEqual(content);
      expect(await contentOf(back)).toEqual(content);
    },
  );

  it.runIf(canStartMariadb())('copies them from SQLite to MariaDB and back', async () => {
    const server = await startMariadb();
    const source = await aSource();
    const [there, back] = [await onMariadbAt(server.url), await onFile()];
    const content = await contentOf(source);
    expect((await copy(source, there)).copied).toBe((await copy(there, back)).copied);
    expect(await contentOf(there)).toEqual(content);
    expect(await contentOf(back)).toEqual(content);
    expect((await copy(source, there)).copied).toBe(0);
  });

  it('copies the rest when it was interrupted, and nothing when all is there', async () => {
    const source = await aSource();
    const target = await onFile();
    const { rows } = await examineRows({ source, target });
    const { users = 0, sessions = 0, events = 0, operations = 0, endedSessions = 0 } = rows;
    const { operatorEvents = 0, hourlyCounts = 0 } = rows;
    const kept =
      users + sessions + events + operations + operatorEvents + hourlyCounts + endedSessions + ROWS_PER_BATCH;
    const interrupted = failingAt(target, kept + 10, () => {
      throw new Error('interrupted');
    });
    await expect(copy(source, interrupted)).rejects.toThrow('interrupted');
    // Of the links, the first batch was kept, the second was not.
    const before = await examineRows({ source, target });
    expect([before.rows, total(before.rows) - before.missing]).toEqual([rows, kept]);
    expect((await copy(source, target)).copied).toBe(before.missing);
    expect((await copy(source, target)).copied).toBe(0);
    expect(await contentOf(target)).toEqual(await contentOf(source));
  });

  it('copies rows between others that are there already', async () => {
    const source = await onFile();
    await fill(source, 5);
    const target = memoryRecords();
    const users = await source.list('users', { order: ['id'] });
    for (const at of [1, 3]) await target.insert('users', withoutVersion(users[at] as Stored<'users'>));
    expect(await copy(source, target)).toMatchObject({ rows: { users: 5 } });
    expect(await contentOf(target)).toEqual(await contentOf(source));
  });

  it('writes nothing where the target has rows of its own, or other values in a row', async () => {
    const source = await onFile();
    await fill(source, 3);
    const [first] = await source.list('users', { order: ['id'] });
    if (first === undefined) return expect.unreachable();
    for (const row of [aUserRow(), { ...withoutVersion(first), passwordHash: 'another' }]) {
      const target = memoryRecords();
      await target.insert('users', row);
      await expect(copy(source, target)).rejects.toMatchObject({ code: 'target-not-empty', status: 3 });
      await expect(copy(source, target)).rejects.toThrow('rows in users that are not those of the source');
      expect(await contentOf(target)).toMatchObject({ users: [row], sessions: [], mailboxes: [] });
    }
    const target = memoryRecords();
    await copy(source, target);
    await target.insert('recoveryCodes', { userId: first.id, hash: 'zzz' });
    await expect(copy(source, target)).rejects.toThrow('rows in recovery_codes');
  });

  it('names the table of a row that cannot be stored, and leaves the source as it is', async () => {
    const source = memoryRecords();
    await fill(source, 2);
    const content = await contentOf(source);
    const [user] = await source.list('users', { order: ['id'] });
    const withNul: Pick<Records, 'list'> = {
      list: async (table, query) => {
        const rows = await source.list(table, query);
        return table === 'sessions' ? rows.map((row) => ({ ...row, userAgent: 'a\0b' })) : rows;
      },
    };
    await expect(copy(withNul, await onFile())).rejects.toThrow(
      /^sessions could not be copied: a text that cannot be stored: .+ The source is unchanged/,
    );
    const target = await onFile();
    const violating: Records = {
      ...target,
      unit: (work) =>
        target.unit(async (inside) => {
          await inside.insert('users', aUserRow({ email: user?.email ?? '' }));
          return work(inside);
        }),
    };
    await expect(copy(source, violating)).rejects.toThrow(
      'users could not be copied: the target has a row that is equal in users_email. ',
    );
    expect(await contentOf(source)).toEqual(content);
  });

  it('fails when the source has changed meanwhile', async () => {
    const changes: readonly ((source: Records) => Promise<unknown>)[] = [
      (source) => source.insert('users', aUserRow()),
      async (source) => {
        const [row] = await source.list('sessions', { order: ['id'], limit: 1 });
        return row && source.replace('sessions', row, { ...row, rotation: row.rotation + 1 });
      },
      async (source) => source.remove('mailboxes', await source.list('mailboxes', { order: ['mailbox'], limit: 1 })),
    ];
    for (const change of changes) {
      const source = memoryRecords();
      await fill(source, 3);
      let readings = 0;
      const changing: Pick<Records, 'list'> = {
        list: async (table, query) => {
          if (table === 'users' && query.range === undefined) readings += 1;
          // All rows are read before the copy, for it, and after it.
          if (readings === 3) await change(source);
          if (readings === 3) readings += 1;
          return source.list(table, query);
        },
      };
      await expect(copy(changing, memoryRecords())).rejects.toThrow('The source has changed meanwhile');
    }
  });

  it('fails when the target keeps fewer rows', async () => {
    const source = memoryRecords();
    await fill(source, 3);
    const target = memoryRecords();
    const forgetting: Records = {
      ...target,
      unit: (work) =>
        target.unit((inside) =>
          work({
            ...inside,
            insert: async (table, row) => (table === 'mailboxes' ? undefined : inside.insert(table, row)),
          }),
        ),
    };
    await expect(copy(source, forgetting)).rejects.toThrow('mailboxes has 3 rows, 0 of them in the target.');
  });
});
