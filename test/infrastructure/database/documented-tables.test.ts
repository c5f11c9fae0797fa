import { beforeAll, describe, expect, it } from 'vitest';
import { columnsOf } from '../../../src/adapters/mikro-orm/statements.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { TABLES } from '../../../src/application/storage/tables.ts';
import { anEvent, aSession, aUser } from '../../support/builders.ts';
import { codeBelow } from '../../support/checkout/documented-code.ts';
import { readText, tableBelow } from '../../support/checkout/repository.ts';
import { openOnPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import type { Database } from '../../support/storage/open-database.ts';
import { storeEvents } from '../../support/stored-events.ts';

const PAGE = 'docs/observe.md';
const TIMES = /(?:^|_)at$/;
const JSON_COLUMNS = ['attributes', 'amr'];

it('docs/observe.md names tables and columns as they are, with the types that it says', () => {
  for (const [table, columns = ''] of tableBelow(readText(PAGE), 'What may be read')) {
    const declared = Object.values(TABLES).find(({ name }) => name === table) ?? expect.unreachable(table);
    const kinds = new Map(columnsOf(declared).map(({ name, kind }) => [name, kind]));
    for (const column of columns.split(', ')) {
      const kind = JSON_COLUMNS.includes(column)
        ? 'json'
        : TIMES.test(column) || column === 'count'
          ? 'integer'
          : 'text';
      expect([table, column, kinds.get(column)]).toEqual([table, column, kind]);
    }
  }
});

describe.runIf(TEST_DATABASE_URL !== undefined)('the reports of docs/observe.md', () => {
  let database: Database;
  const reports = codeBelow(PAGE, 'Reports', 'sql');
  const report = async (at: number): Promise<object[]> =>
    await database.em.execute(reports[at] ?? expect.unreachable());
  const now = Date.now();
  const LONG_AGO = now - 300 * 86_400_000;

  beforeAll(async () => {
    database = await openOnPostgresql(TEST_DATABASE_URL ?? '');
    const stores = storageOver(database.records);
    const { users, sessions } = stores;
    const ada = aUser({ createdAt: now, emailVerifiedAt: now, attributes: { plan: 'paid' } });
    const bob = aUser({ createdAt: now });
    for (const user of [ada, bob, aUser({ createdAt: LONG_AGO })]) await users.add(user);
    const live = { rotatedAt: now, expiresAt: now + 3_600_000 };
    await sessions.add(
      aSession({ ...live, userId: ada.id, userAgent: 'Mozilla/5.0 Firefox/150.0', amr: ['pwd', 'otp', 'mfa'] }),
    );
    await sessions.add(
      aSession({ ...live, userId: ada.id, userAgent: 'Chrome/150.0 Safari/537.36 Edg/150.0', amr: ['pwd'] }),
    );
    await sessions.add(aSession({ ...live, userId: bob.id, userAgent: null, amr: ['pwd'] }));
    await sessions.add(aSession({ userId: bob.id, rotatedAt: LONG_AGO, expiresAt: now - 1 }));
    await storeEvents(stores, [
      ...[ada, bob].map(({ id: userId }) => anEvent({ userId, kind: 'registered', at: now })),
      anEvent({ userId: ada.id, kind: 'logged-in', at: now, count: 3 }),
      anEvent({ userId: bob.id, kind: 'logged-in', at: LONG_AGO }),
    ]);
  });

  it('count registrations per day, users per week and users of the last days', async () => {
    expect(reports).toHaveLength(4);
    expect(await report(0)).toEqual([{ day: expect.anything(), registrations: '2', verified: '1' }]);
    expect(await report(1)).toEqual([{ week: expect.anything(), users: '2', logins: '5' }]);
    expect(await report(2)).toEqual([{ users: '2' }]);
  });

  it('count sessions by client, and read attributes', async () => {
    expect(await report(3)).toEqual([
      { client: 'Edge', plan: 'paid', sessions: '1', with_second_factor: '0' },
      { client: 'Firefox', plan: 'paid', sessions: '1', with_second_factor: '1' },
      { client: 'other', plan: 'none', sessions: '1', with_second_factor: '0' },
    ]);
  });

  it('leave out the attributes that docs/operate.md finds', async () => {
    const [, find = ''] = /`(select id from users where attributes ~ [^`]*)`/.exec(readText('docs/operate.md')) ?? [];
    const { users } = storageOver(database.records);
    const old = [{ note: 'x\0' }, { '\udc00': [1] }].map((attributes) => aUser({ createdAt: LONG_AGO, attributes }));
    for (const user of old) await users.add(user);
    const found: { readonly id: string }[] = await database.em.execute(find);
    expect(found.map(({ id }) => id).sort()).toEqual(old.map(({ id }) => id).sort());
  });

  it('are the same once events are partitioned as docs/capacity.md says, and new events go into their month', async () => {
    const before = await report(1);
    const [statements = ''] = codeBelow('docs/capacity.md', 'Events by month', 'sql');
    await database.em.execute(statements);
    expect(await report(1)).toEqual(before);
    const stores = storageOver(database.records);
    const user = aUser({ createdAt: LONG_AGO });
    await stores.users.add(user);
    await storeEvents(stores, [
      anEvent({ id: `01M8${'0'.repeat(22)}`, userId: user.id, kind: 'logged-in', at: LONG_AGO }),
    ]);
    expect(await database.em.execute('select user_id from events_2026_11')).toContainEqual({ user_id: user.id });
    await stores.users.remove(user.id);
    expect(await database.em.execute(`select 1 from events where user_id = '${user.id}'`)).toEqual([]);
  });
});
