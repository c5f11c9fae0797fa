import { expect } from 'vitest';
import { anId, aPasskey, NOW } from '../../support/builders.ts';
import { rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { atBoth, untilClose } from '../two-instances.ts';
import {
  aMessageRow,
  anEventRow,
  aSessionRow,
  aUserRow,
  expectViolation,
  type GivenDatabase,
  stored,
  successes,
} from './database.ts';

const RACERS = 30;
/** All that JSON has, and texts that some stores refuse. */
const ATTRIBUTES = { roles: ['admin', ''], level: -1.5e3, team: { lead: true, deputy: null }, note: 'ä🔑"\\\0\ud800' };

export const inserting = ({ it }: Tests<GivenDatabase>): void => {
  it('lists a row as it was inserted, with every type of value', async ({ records, user }) => {
    const userId = user.id;
    const full = aUserRow({ emailVerifiedAt: 0, disabledAt: NOW, locale: 'de-AT', attributes: ATTRIBUTES });
    await records.insert('users', full);
    expect(await records.list('users', { equal: { id: full.id } })).toStrictEqual([stored(full)]);
    const proofs = [Number.MAX_SAFE_INTEGER, 2 ** 40, 0];
    for (const session of [
      aSessionRow({ userId, rotation: 2 ** 40, proofs, userAgent: '“Ünïcode” 🔑', amr: ['pwd', 'mfa'] }),
      aSessionRow({ userId, deviceKey: '', amr: [] }),
    ]) {
      await records.insert('sessions', session);
      expect(await records.list('sessions', { equal: { id: session.id } })).toStrictEqual([stored(session)]);
    }
    for (const passkey of [
      aPasskey({ userId, isSynced: true, lastUsedAt: NOW, transports: [] }),
      aPasskey({ userId, isBackedUp: true, counter: 2 ** 32 - 1 }),
    ]) {
      await records.insert('passkeys', passkey);
      expect(await records.list('passkeys', { equal: { id: passkey.id } })).toStrictEqual([stored(passkey)]);
    }
  });

  it('distinguishes texts by letter case, by spaces at either end, and by the last character of long ones', async (given) => {
    const { records } = given;
    const long = 'x'.repeat(1_000);
    const ids = ['value', 'Value', 'value ', ' value', 'valué', 'value%', '', ' ', `${long}x`, `${long}y`];
    for (const id of ids)
      await expect(records.insert('usedValues', { id, expiresAt: NOW }), id).resolves.toBeUndefined();
    for (const id of ids)
      expect(await records.list('usedValues', { equal: { id } })).toStrictEqual([stored({ id, expiresAt: NOW })]);
  });

  it('rejects a second row with the same key, or the same values of a unique index, and names the index', async (given) => {
    const { records, user, other, findUser } = given;
    const { id, email } = user;
    const refused = [
      [aUserRow({ id }), 'users_pkey'],
      [aUserRow({ email }), 'users_email'],
      [aUserRow({ username: user.username }), 'users_username'],
    ] as const;
    for (const [row, index] of refused) {
      const error = await rejection(records.insert('users', row));
      expectViolation(error, index);
      if (row.id !== id) expect(await findUser(row.id)).toBeUndefined();
    }
    expect(await findUser(id)).toStrictEqual(stored(user));
    const counted = anEventRow({ userId: id, countedBy: 'an hour' });
    await records.insert('events', counted);
    for (const different of [
      { userId: other.id, countedBy: 'an hour' },
      { userId: id, countedBy: 'another hour' },
    ])
      await expect(records.insert('events', anEventRow(different))).resolves.toBeUndefined();
    const again = await rejection(records.insert('events', anEventRow({ userId: id, countedBy: 'an hour' })));
    expectViolation(again, 'events_counted');
    expectViolation(await rejection(records.insert('events', { ...counted, countedBy: null })), 'events_pkey');
  });

  it('treats rows with null in a unique index as different', async ({ records, user }) => {
    for (let count = 0; count < 2; count += 1) {
      await expect(records.insert('events', anEventRow({ userId: user.id }))).resolves.toBeUndefined();
      await expect(records.insert('outbox', aMessageRow({ userId: user.id }))).resolves.toBeUndefined();
    }
    expect(await records.list('events', { equal: { userId: user.id } })).toHaveLength(2);
    expect(await records.list('outbox', { equal: { userId: user.id } })).toHaveLength(2);
  });

  it('rejects a row whose user is not stored, and stores nothing of it', async ({ records, stranger }) => {
    const rows = [
      () => records.insert('sessions', aSessionRow({ userId: stranger })),
      () => records.insert('recoveryCodes', { userId: stranger, hash: 'a hash' }),
      () => records.insert('outbox', aMessageRow({ userId: stranger })),
    ];
    for (const insert of rows) expect(await rejection(insert())).toMatchObject({ code: 'DB_QUERY_FAILED' });
    expect(await records.list('sessions', { equal: { userId: stranger } })).toEqual([]);
    expect(await records.list('outbox', { equal: { userId: stranger } })).toEqual([]);
    await records.insert('outbox', aMessageRow({ userId: null }));
  });

  it('accepts exactly one of many concurrent inserts with the same key', async ({ records }) => {
    const inserts = Array.from({ length: RACERS }, (_, at) =>
      records.insert('usedValues', { id: 'value', expiresAt: at }),
    );
    const outcomes = await Promise.allSettled(inserts);
    expect(successes(outcomes)).toBe(1);
    const [row] = await records.list('usedValues', { equal: { id: 'value' } });
    expect(outcomes[row?.expiresAt ?? -1]).toMatchObject({ status: 'fulfilled' });
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expectViolation(outcome.reason, 'used_values_pkey');
  });

  it('accepts exactly one of two inserts by two instances', async ({ records, hook }) => {
    const another = await hook('another')();
    await untilClose(async () => {
      const ids = Array.from({ length: 40 }, anId);
      const [theirs, ours] = await atBoth(another, records, (instance) =>
        Promise.allSettled(ids.map((id) => instance.insert('usedValues', { id, expiresAt: NOW }))),
      );
      for (const at of ids.keys())
        expect([theirs[at]?.status, ours[at]?.status].sort()).toEqual(['fulfilled', 'rejected']);
      return theirs.map(({ status }) => status === 'fulfilled');
    });
  });

  it('finds nothing by a text that cannot be stored, and rejects a row that has one', async (given) => {
    const { records, user, findUser } = given;
    for (const text of ['\0', 'a\0b', '\ud800', 'a\udfff', `${user.id}\0`]) {
      await expect(records.list('users', { equal: { email: text } })).resolves.toEqual([]);
      expect(await records.list('users', { equal: { id: user.id, email: text } })).toEqual([]);
      expect(await records.list('usedValues', { range: ['id', '<', text] })).toEqual([]);
      expect(await records.lock('users', { id: text })).toBeNull();
      const inserted = records.insert('usedValues', { id: text, expiresAt: NOW });
      expect(await rejection(inserted)).toMatchObject({ code: 'DB_QUERY_FAILED' });
      const [row = expect.unreachable()] = await records.list('users', { equal: { id: user.id } });
      const replaced = records.replace('users', row, { ...row, locale: text });
      expect(await rejection(replaced)).toMatchObject({ code: 'DB_QUERY_FAILED' });
    }
    expect(await findUser(user.id)).toStrictEqual(stored(user));
  });
};
