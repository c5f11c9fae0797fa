import { expect, it } from 'vitest';
import { memoryRecords } from '../../../src/adapters/records/memory.ts';
import { ROWS_PER_BATCH } from '../../../src/application/storage/rows.ts';
import { TABLES } from '../../../src/application/storage/tables.ts';
import { TABLE_NAMES } from '../../../src/infrastructure/data/rows.ts';
import { aUserRow } from '../../contracts/records/database.ts';
import { allRows, fill } from '../../support/records/sample-rows.ts';
import { openEmbedded } from '../../support/storage/databases.ts';

const keysOf = (table: keyof typeof TABLES, rows: readonly object[]) =>
  rows.map((row) => TABLES[table].key.map((column) => Reflect.get(row, column)));

/** By their bytes, as the stores order them. */
const compared = (a: readonly unknown[], b: readonly unknown[]): number => {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (a[at] as string) < (b[at] as string) ? -1 : 1;
};

it('lists all rows of every table by the index of its key', async () => {
  // Refuses what no index serves.
  const records = memoryRecords();
  await fill(records, 3);
  for (const table of TABLE_NAMES) {
    const rows = await allRows(records, table);
    const keys = keysOf(table, rows);
    expect([table, rows.length]).toEqual([table, expect.toSatisfy((length) => length >= 3)]);
    expect([table, keys]).toEqual([table, [...keys].sort(compared)]);
    expect(new Set(keys.map((key) => JSON.stringify(key))).size).toBe(rows.length);
  }
});

it('lists them in batches, also where a batch ends among rows that have the first columns of the key in common', async () => {
  const { records, close } = await openEmbedded();
  const users = [aUserRow(), aUserRow(), aUserRow()];
  // With fewer, more and as many codes as are read at once, each of which comes twice.
  const counts = [ROWS_PER_BATCH / 2 - 1, 2 * ROWS_PER_BATCH + 1, ROWS_PER_BATCH];
  await records.unit(async (inside) => {
    for (const [at, user] of users.entries()) {
      await inside.insert('users', user);
      for (let code = 0; code < (counts[at] ?? 0); code += 1)
        await inside.insert('recoveryCodes', { userId: user.id, hash: `${code}`.padStart(5, '0') });
    }
  });
  let calls = 0;
  const counted = {
    list: (...given: Parameters<typeof records.list<'recoveryCodes'>>) => {
      calls += 1;
      return records.list(...given);
    },
  } as typeof records;
  const rows = await allRows(counted, 'recoveryCodes');
  await close();
  const expected = users
    .flatMap(({ id }, at) => Array.from({ length: counts[at] ?? 0 }, (_, code) => [id, `${code}`.padStart(5, '0')]))
    .sort(compared);
  expect(keysOf('recoveryCodes', rows)).toEqual(expected);
  expect(calls).toBeLessThan(15);
});
