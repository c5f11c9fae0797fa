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
  ])(
    'is sent again after %s until it is carried out, since it was undone',
    async (_code, { withRetry: repeated }, error) => {
      const { send, sent } = failing(error, error, error);
      expect(await repeated(send)).toBe('done');
      expect(sent()).toBe(4);
    },
  );

  it.each([
    ...['08006', '08P01', '57P01', '57014', '40003', '23505', 'ECONNRESET'].map(
      (code) => [code, POSTGRESQL, { code }] as const,
    ),
    ...[1205, 1062, 2013].map((errno) => [`error ${errno}`, MARIADB, { errno }] as const),
    ...[8, 13, 1555].map((errcode) => [`result code ${errcode}`, SQLITE, { errcode }] as const),
  ])('is not sent again after %s', async (_code, { withRetry: repeated }, error) => {
    const { send, sent } = failing(error);
    expect(await rejection(repeated(send))).toMatchObject(error);
    expect(sent()).toBe(1);
  });
});

it.runIf(TEST_DATABASE_URL !== undefined).each(['repeatable read', 'serializable'])(
  'records in a PostgreSQL let exactly one of many replacements win in %s',
  async (level) => {
    const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
    const { em } = await openDatabase(onPostgresql(url), { migrate: true });
    await em.execute(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation = '${level}'`);
    const { records } = await openDatabase(onPostgresql(url), { migrate: false });
    await records.insert('users', aUserRow());
    const [row = expect.unreachable()] = await records.list('users', { order: ['id'] });
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, updatedAt) => records.replace('users', row, { ...row, updatedAt })),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(1);
  },
);
