import { DatabaseSync } from 'node:sqlite';
import { expect, it, vi } from 'vitest';
import { userRepositoryOver } from '../../../src/adapters/records/users.ts';
import { aUser, NOW } from '../../support/builders.ts';
import { openEmbedded } from '../../support/storage/databases.ts';

const open = async () => {
  const { em, records } = await openEmbedded();
  const users = userRepositoryOver(records);
  const user = aUser();
  await users.add(user);
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  return { em, records, users, user, prepare };
};

it('SQLite prepares the statements of a repository once, those of its transactions too', async () => {
  const { records, users, user, prepare } = await open();
  const change = (at: number) =>
    records.unit((inside) => userRepositoryOver(inside).update(user.id, { emailVerifiedAt: at, now: at }));
  await change(NOW + 2);
  const once = prepare.mock.calls.length;
  expect(once).toBeGreaterThan(0);
  for (const at of [3, 4, 5]) await change(NOW + at);
  expect(prepare).toHaveBeenCalledTimes(once);
  expect(await users.findById(user.id)).toMatchObject({ emailVerifiedAt: NOW + 5 });
});

it('SQLite removes any number of rows with few statements', async () => {
  const { records, prepare } = await open();
  for (let count = 1; count <= 70; count += 1) {
    for (let at = 0; at < count; at += 1) await records.insert('usedValues', { id: `value ${at}`, expiresAt: NOW });
    const rows = await records.list('usedValues', { order: ['id'] });
    expect(await records.remove('usedValues', rows)).toStrictEqual(rows);
  }
  expect(await records.list('usedValues', { order: ['id'] })).toEqual([]);
  const texts = prepare.mock.calls.map(([text]) => text).filter((text) => text.startsWith('delete'));
  expect(new Set(texts).size).toBe(7);
});

it('SQLite keeps no statement that nobody has named: there may be any number of them', async () => {
  const { em, prepare } = await open();
  for (const _ of [1, 2]) await em.execute('select 1 as one');
  expect(prepare.mock.calls.filter(([text]) => text === 'select 1 as one')).toHaveLength(2);
});
