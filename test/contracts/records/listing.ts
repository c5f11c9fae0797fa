import { expect } from 'vitest';
import type { Query } from '../../../src/application/storage/records.ts';
import type { Column, TableName } from '../../../src/application/storage/tables.ts';
import { anId, aPasskey, NOW } from '../../support/builders.ts';
import { expectTranslated, rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { aMessageRow, anEventRow, aSessionRow, aUserRow, type GivenDatabase, stored } from './database.ts';

type Given = Pick<GivenDatabase, 'records'>;

type WithId = { [Name in TableName]: 'id' extends Column<Name> ? Name : never }[TableName];

const idsOf = async <Name extends WithId>({ records }: Given, table: Name, query: Query<Name>): Promise<string[]> =>
  (await records.list(table, query)).map(({ id }) => id);

export const listing = ({ it }: Tests<GivenDatabase>): void => {
  it('lists the rows with given values, and only those', async (given) => {
    const { records, user, other, stranger } = given;
    const [first, second, ofOther] = [user, user, other].map(({ id }) => aSessionRow({ userId: id }));
    if (first === undefined || second === undefined || ofOther === undefined) return expect.unreachable();
    for (const session of [first, second, ofOther]) await records.insert('sessions', session);
    expect((await idsOf(given, 'sessions', { equal: { userId: user.id } })).sort()).toEqual([first.id, second.id]);
    expect(await idsOf(given, 'sessions', { equal: { id: first.id, userId: user.id } })).toEqual([first.id]);
    for (const equal of [{ id: first.id, userId: other.id }, { id: stranger }, { id: '' }, { userId: stranger }])
      expect(await records.list('sessions', { equal })).toEqual([]);
    const [polled, urgent] = [aMessageRow({ userId: null, waitsForPoll: true }), aMessageRow({ userId: null })];
    for (const message of [polled, urgent]) await records.insert('outbox', message);
    for (const message of [polled, urgent])
      expect(await idsOf(given, 'outbox', { equal: { waitsForPoll: message.waitsForPoll } })).toEqual([message.id]);
  });

  it('lists the rows in a range of a column, and none that has null there', async (given) => {
    const { records, user } = given;
    for (const at of [9, 10, 11]) await records.insert('usedValues', { id: `${at}`, expiresAt: at });
    const inRange = (is: '<' | '<=' | '>' | '>=') =>
      idsOf(given, 'usedValues', { range: ['expiresAt', is, 10], order: ['expiresAt'] });
    expect([await inRange('<'), await inRange('<='), await inRange('>'), await inRange('>=')]).toEqual([
      ['9'],
      ['9', '10'],
      ['11'],
      ['10', '11'],
    ]);
    const [none, unknown, known] = [null, '', '192.0.2.0/24'].map((network) => aMessageRow({ userId: null, network }));
    for (const message of [none, unknown, known]) if (message) await records.insert('outbox', message);
    const requests = await idsOf(given, 'outbox', { range: ['network', '>=', ''] });
    expect(requests.sort()).toEqual([unknown?.id, known?.id]);
    const events = Array.from({ length: 3 }, () => anEventRow({ userId: user.id }));
    for (const event of events) await records.insert('events', event);
    const earlier = { equal: { userId: user.id }, range: ['id', '<', events[1]?.id ?? ''] } as const;
    expect(await idsOf(given, 'events', earlier)).toEqual([events[0]?.id]);
    const [early, late] = [
      aPasskey({ userId: user.id, createdAt: NOW }),
      aPasskey({ userId: user.id, createdAt: NOW + 1 }),
    ];
    for (const passkey of [early, late]) await records.insert('passkeys', passkey);
    const sinceThen = { equal: { userId: user.id }, range: ['createdAt', '>', NOW] } as const;
    expect(await idsOf(given, 'passkeys', sinceThen)).toEqual([late.id]);
  });

  it('lists in the order of columns, either way, and orders texts by their bytes', async (given) => {
    const { records } = given;
    for (const id of ['b', 'B', 'é', 'a', 'aa', 'a b', '_']) await records.insert('usedValues', { id, expiresAt: NOW });
    const sorted = ['B', '_', 'a', 'a b', 'aa', 'b', 'é'];
    expect(await idsOf(given, 'usedValues', { order: ['id'] })).toEqual(sorted);
    expect(await idsOf(given, 'usedValues', { order: ['id'], descending: true })).toEqual(sorted.toReversed());
    const messages = [9, 10, 9, 11, 9].map((nextAttemptAt) => aMessageRow({ userId: null, nextAttemptAt }));
    for (const message of messages.toReversed()) await records.insert('outbox', message);
    const due = [messages[0], messages[2], messages[4], messages[1]].map((message) => message?.id);
    const query = { equal: { waitsForPoll: false }, range: ['nextAttemptAt', '<=', 10] } as const;
    expect(await idsOf(given, 'outbox', { ...query, order: ['nextAttemptAt', 'id'] })).toEqual(due);
  });

  it('leaves out the first rows, and lists at most as many as it is asked to', async (given) => {
    const { records } = given;
    for (const id of ['a', 'b', 'c', 'd']) await records.insert('usedValues', { id, expiresAt: NOW });
    const order = ['id'] as const;
    expect(await idsOf(given, 'usedValues', { order, limit: 2 })).toEqual(['a', 'b']);
    expect(await idsOf(given, 'usedValues', { order, skip: 1, limit: 2 })).toEqual(['b', 'c']);
    expect(await idsOf(given, 'usedValues', { order, skip: 3, limit: 2 })).toEqual(['d']);
    expect(await idsOf(given, 'usedValues', { order, descending: true, skip: 3, limit: 2 })).toEqual(['a']);
    const isMore = async (skip: number) =>
      (await records.list('usedValues', { range: ['expiresAt', '<=', NOW], skip, limit: 1 })).length;
    expect([await isMore(3), await isMore(4)]).toEqual([1, 0]);
  });

  it('lists every row with a text in a column by which its table is searched, and may list others', async (given) => {
    const { records } = given;
    const names = ['ada.l', 'b_da', 'c%da!', 'someone'];
    const rows = names.map((name, at) => aUserRow({ username: name, email: `${at}@lo've.example` }));
    for (const row of rows) await records.insert('users', row);
    const found = (contains: string, more: Query<'users'> = {}) =>
      idsOf(given, 'users', { contains, order: ['id'], limit: 100, ...more });
    for (const [text, places] of [
      ['da', [0, 1, 2]],
      ['_da', [1]],
      ['c%da!', [2]],
      ["lo've", [0, 1, 2, 3]],
      ['3@lo', [3]],
    ] as const) {
      const expected = places.map((at) => rows[at]?.id);
      expect((await found(text)).filter((id) => expected.includes(id))).toEqual(expected);
      const after = { range: ['id', '<', rows[3]?.id ?? ''], descending: true } as const;
      expect((await found(text, after)).filter((id) => expected.includes(id))).toEqual(
        expected.filter((id) => id !== rows[3]?.id).toReversed(),
      );
    }
  });

  it('is not affected by changes to a row that it was given or has returned', async ({ records, user }) => {
    const transports = ['usb'];
    const passkey = aPasskey({ userId: user.id, transports });
    await records.insert('passkeys', passkey);
    transports.push('nfc');
    const found = () => records.list('passkeys', { equal: { id: passkey.id } });
    const expected = { ...passkey, transports: ['usb'] };
    for (const row of await found()) {
      Object.assign(row, { name: 'changed' });
      (row.transports as string[]).push('ble');
    }
    expect(await found()).toStrictEqual([stored(expected)]);
    const [before = expect.unreachable()] = await found();
    const after = { ...before, transports: ['internal'] };
    await records.replace('passkeys', before, after);
    after.transports.push('ble');
    expect(await found()).toStrictEqual([stored({ ...expected, transports: ['internal'] })]);
  });

  it('lists what another instance over the same store has written', async ({ records, hook, user }) => {
    const another = await hook('another')();
    const session = aSessionRow({ userId: user.id });
    await records.insert('sessions', session);
    const [theirs = expect.unreachable()] = await another.list('sessions', { equal: { id: session.id } });
    expect(theirs).toStrictEqual(stored(session));
    const to = anId();
    expect(await another.replace('sessions', theirs, { ...theirs, currentTokenId: to })).toBe(true);
    const [ours = expect.unreachable()] = await records.list('sessions', { equal: { userId: user.id } });
    expect(ours).toStrictEqual(stored({ ...session, currentTokenId: to }));
    expect(await another.remove('sessions', [ours])).toHaveLength(1);
    expect(await records.list('sessions', { equal: { userId: user.id } })).toEqual([]);
  });

  it('rejects with DB_QUERY_FAILED alone when its store fails, and quotes nothing that is stored', async (given) => {
    const { records, user, hook, findUser } = given;
    const failing = await hook('failing')();
    const row = (await findUser(user.id)) ?? expect.unreachable();
    const calls = {
      insert: () => failing.insert('usedValues', { id: 'a secret value', expiresAt: NOW }),
      list: () => failing.list('users', { equal: { email: user.email } }),
      replace: () => failing.replace('users', row, { ...row, locale: 'de' }),
      remove: () => failing.remove('users', [row]),
      lock: () => failing.lock('users', { id: user.id }),
      unit: () => failing.unit((inside) => inside.insert('usedValues', { id: 'a secret value', expiresAt: NOW })),
    };
    const secrets = ['a secret value', user.id, user.email, user.passwordHash];
    for (const [name, call] of Object.entries(calls)) expectTranslated(await rejection(call(), name), secrets);
    expect(await records.list('usedValues', { equal: { id: 'a secret value' } })).toEqual([]);
    expect(await findUser(user.id)).toStrictEqual(stored(user));
  });
};
