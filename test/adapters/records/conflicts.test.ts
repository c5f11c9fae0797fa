import { describe, expect, it } from 'vitest';
import { MARIADB, POSTGRESQL, SQLITE } from '../../../src/adapters/mikro-orm/dialects.ts';
import { rejection } from '../../contracts/hooks.ts';
import { aUserRow } from '../../contracts/records/database.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { openDatabase } from '../../support/storage/open-database.ts';

/** Rejects with these errors in turn, then resolves. */
const failing = (...errors: readonly object[]) => {
  let sent = 0;
  const send = async () => {
    const error = errors[sent];
    sent += 1;
    if (error !== undefined) throw Object.assign(new Error('refused'), error);
    return 'done';
  };
  return { send, sent: () => sent };
};

describe('a statement that fails', () => {
  it.each([
    ['40001', POSTGRESQL, { code: '40001' }],
    ['40P01', POSTGRESQL, { code: '40P01' }],
    ['1020', MARIADB, { errno: 1020 }],
    ['1213', MARIADB, { errno: 1213 }],
    ['SQLITE_BUSY', SQLITE, { errcode: 5 }],
    ['SQLITE_BUSY_SNAPSHOT', SQLITE, { errcode: 517 }],
  ])('is sent again after %s until it is carried out, since it was undone', async (_code, { repeated }, error) => {
    const { send, sent } = failing(error, error, error);
    expect(await repeated(send)).toBe('done');
    expect(sent()).toBe(4);
  });

  it.each([
    ...['08006', '08P01', '57P01', '57014', '40003', '23505', 'ECONNRESET'].map(
      (code) => [code, POSTGRESQL, { code }] as const,
    ),
    ...[1205, 1062, 2013].map((errno) => [`error ${errno}`, MARIADB, { errno }] as const),
    ...[8, 13, 1555].map((errcode) => [`result code ${errcode}`, SQLITE, { errcode }] as const),
  ])('is not sent again after %s', async (_code, { repeated }, error) => {
    const { send, sent } = failing(error);
    expect(await rejection(repeated(send))).toMatchObject(error);
    expect(sent()).toBe(1);
  });
});

describe.runIf(TEST_DATABASE_URL !== undefined)('records in a PostgreSQL', () => {
  const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

  /** Two users in a database with a default isolation level. */
  const open = async (isolation: string) => {
    const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
    const other = await openDatabase(onPostgresql(url), { migrate: true });
    const [{ name } = expect.unreachable()] = await other.em.execute<{ name: string }[]>(
      'select current_database() as name',
    );
    await other.em.execute(`alter database "${name}" set default_transaction_isolation = '${isolation}'`);
    const { records } = await openDatabase(onPostgresql(url), { migrate: false });
    for (const id of ['a', 'b']) await records.insert('users', aUserRow({ id }));
    const untilOneWaits = () => expect.poll(async () => (await other.em.execute(WAITING)).length).toBe(1);
    const rows = await records.list('users', { order: ['id'] });
    return { other, records, rows, untilOneWaits };
  };

  it.each(['repeatable read', 'serializable'])('let exactly one of many replacements win in %s', async (level) => {
    const { records, rows } = await open(level);
    const [row = expect.unreachable()] = rows;
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, updatedAt) => records.replace('users', row, { ...row, updatedAt })),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(1);
  });
});
