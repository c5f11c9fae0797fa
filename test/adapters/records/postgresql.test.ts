import { CompiledQuery } from 'kysely';
import { describe, expect, it } from 'vitest';
import { POSTGRESQL } from '../../../src/adapters/mikro-orm/dialects.ts';
import { mikroOrmRecords } from '../../../src/adapters/mikro-orm/records.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { userRepositoryOver } from '../../../src/adapters/records/users.ts';
import { describeRecords } from '../../contracts/records.contract.ts';
import type { OpenedStorage } from '../../contracts/storage/given.ts';
import { describeStorage } from '../../contracts/storage.contract.ts';
import { aUser, NOW } from '../../support/builders.ts';
import { databaseSendingBy, failing, QUOTING } from '../../support/records/statements.ts';
import { inTransaction, TEST_DATABASE_URL, twoOnPostgresql, waitingIn } from '../../support/storage/databases.ts';
import { removeAllRows } from '../../support/storage/open-database.ts';

describe.runIf(TEST_DATABASE_URL !== undefined)('on PostgreSQL', () => {
  const [database, other] = twoOnPostgresql();
  const empty = () => removeAllRows(database());
  const failingRecords = () => mikroOrmRecords(failing(database().em.getKysely(), QUOTING.postgresql), POSTGRESQL);
  const untilOneWaits = () => expect.poll(() => waitingIn(other())).toBe(1);

  /** Locks the second user, and then wants the first: a deadlock, of which the unit is the victim. */
  const interfere: Exclude<OpenedStorage['interfere'], { absent: string }> = async (first, second) => {
    const locked = Promise.withResolvers<void>();
    const over = inTransaction(other(), async (send) => {
      await send(`set local deadlock_timeout = '1h'`);
      await send('select id from users where id = $1 for update', [second.id]);
      locked.resolve();
      await send('update users set email_verified_at = $2 where id = $1', [first.id, NOW]);
    });
    await locked.promise;
    await untilOneWaits();
    return { over };
  };

  describeRecords('mikroOrmRecords', async () => {
    await empty();
    return {
      records: database().records,
      another: async () => other().records,
      failing: async () => failingRecords(),
      untilOneWaits,
    };
  });

  describeStorage('over records of MikroORM', async () => {
    await empty();
    return {
      storage: storageOver(database().records),
      another: async () => storageOver(other().records),
      failing: async () => storageOver(failingRecords()),
      interfere,
      untilOneWaits,
    };
  });

  it('has tables that are compared by their bytes', async () => {
    const collations = `select count(*) as count from information_schema.columns
      where table_name = 'users' and data_type = 'text' and collation_name = 'C'`;
    const [row] = await database().em.execute<{ count: string }[]>(collations);
    expect(Number(row?.count)).toBeGreaterThan(5);
  });

  it('keeps nothing of a unit that could not begin', async () => {
    await empty();
    const isBeginning = (text: string) => text.startsWith('begin');
    const unbegun = databaseSendingBy(database().em.getKysely(), (query, send) =>
      send(isBeginning(query.sql) ? CompiledQuery.raw('select 1 / 0') : query),
    );
    const records = mikroOrmRecords(unbegun, POSTGRESQL);
    const [first, second] = [
      { id: 'a', expiresAt: NOW },
      { id: 'b', expiresAt: NOW },
    ];
    const insertTwo = records.unit((inside) =>
      Promise.all([
        inside.insert('usedValues', first),
        inside.list('usedValues', {}),
        inside.insert('usedValues', second),
      ]),
    );
    await expect(insertTwo).rejects.toMatchObject({
      code: 'DB_QUERY_FAILED',
      reason: expect.stringContaining('22012'),
    });
    const readAlone = records.unit((inside) => inside.list('usedValues', { equal: { id: 'a' } }));
    await expect(readAlone).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
    expect(await database().records.list('usedValues', {})).toEqual([]);
  });

  it('carries out the calls of a unit in their order, though none waits for another', async () => {
    await empty();
    const { records } = database();
    const counts = await records.unit(async (inside) => {
      const asked: Promise<number>[] = [];
      for (const id of ['a', 'b', 'c']) {
        asked.push(inside.insert('usedValues', { id, expiresAt: NOW }).then(() => 0));
        asked.push(inside.list('usedValues', {}).then(({ length }) => length));
      }
      return Promise.all(asked);
    });
    expect(counts).toEqual([0, 1, 0, 2, 0, 3]);
  });

  it('rejects a unit with the failure of the call that was made first, and runs it once', async () => {
    await empty();
    const { records } = database();
    const users = userRepositoryOver(records);
    const [ada, bob] = [aUser(), aUser()];
    for (const user of [ada, bob]) await users.add(user);
    const [row] = await records.list('users', { equal: { id: ada.id } });
    let runs = 0;
    const unit = records.unit((inside) => {
      runs += 1;
      return Promise.all([
        row && inside.replace('users', row, { ...row, email: bob.email }),
        inside.insert('usedValues', { id: 'a', expiresAt: NOW }),
        inside.list('usedValues', {}),
      ]);
    });
    await expect(unit).rejects.toMatchObject({ code: 'DB_UNIQUE_VIOLATION', reason: 'users_email' });
    expect(runs).toBe(1);
  });

  it('locks a row as it is after the changes of the unit that were sent before', async () => {
    await empty();
    const { records } = database();
    await records.insert('usedValues', { id: 'a', expiresAt: NOW });
    const expiries = await records.unit(async (inside) => {
      const expiry = async () => (await inside.lock('usedValues', { id: 'a' }))?.expiresAt;
      const row = await inside.lock('usedValues', { id: 'a' });
      const change = (expiresAt: number, version: number) =>
        row && inside.replace('usedValues', { ...row, version }, { id: 'a', expiresAt });
      const version = row?.version ?? 0;
      const [, sentAfter] = await Promise.all([change(NOW + 1, version), expiry()]);
      await Promise.all([expiry(), change(NOW + 2, version + 1)]);
      return [sentAfter, await expiry()];
    });
    expect(expiries).toEqual([NOW + 1, NOW + 2]);
  });
});
