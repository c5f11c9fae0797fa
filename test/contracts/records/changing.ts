import { expect } from 'vitest';
import { TABLES } from '../../../src/application/storage/tables.ts';
import { anId, NOW } from '../../support/builders.ts';
import { insertRows, sampleRows } from '../../support/records/sample-rows.ts';
import { rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { atBoth, untilClose } from '../two-instances.ts';
import { aSessionRow, expectViolation, type GivenDatabase, stored, successes } from './database.ts';

const RACERS = 30;

export const changing = ({ it }: Tests<GivenDatabase>): void => {
  it('replaces a row that has not changed since it was read', async (given) => {
    const { records, user, other, findUser, findSession } = given;
    const session = aSessionRow({ userId: user.id, userAgent: 'a phone', proofs: [1] });
    await records.insert('sessions', session);
    const before = (await findSession(session.id)) ?? expect.unreachable();
    const changes = {
      currentTokenId: anId(),
      previousTokenId: session.currentTokenId,
      rotation: 2 ** 40,
      proofs: [3, 1],
    };
    const after = { ...session, ...changes, userAgent: null, address: '192.0.2.0/24' };
    expect(await records.replace('sessions', before, after)).toBe(true);
    const now = (await findSession(session.id)) ?? expect.unreachable();
    expect(now).toStrictEqual(stored(after));
    expect(await records.replace('sessions', now, session)).toBe(true);
    expect(await findSession(session.id)).toStrictEqual(stored(session));
    const row = (await findUser(user.id)) ?? expect.unreachable();
    expect(await records.replace('users', row, { ...row, email: 'new@example.org', attributes: {} })).toBe(true);
    expect(await records.list('users', { equal: { email: user.email } })).toEqual([]);
    expect(await records.list('users', { equal: { email: 'new@example.org' } })).toHaveLength(1);
    expect(await findUser(other.id)).toStrictEqual(stored(other));
  });

  it('replaces no row that has changed since it was read, or is gone', async ({ records, user, findUser }) => {
    const before = (await findUser(user.id)) ?? expect.unreachable();
    expect(await records.replace('users', before, { ...before, locale: 'de' })).toBe(true);
    expect(await records.replace('users', before, { ...before, locale: 'fr' })).toBe(false);
    const now = (await findUser(user.id)) ?? expect.unreachable();
    expect(now).toStrictEqual(stored({ ...user, locale: 'de' }));
    // Also when its values are those that were read.
    expect(await records.replace('users', now, user)).toBe(true);
    expect(await records.replace('users', before, { ...before, locale: 'fr' })).toBe(false);
    const last = (await findUser(user.id)) ?? expect.unreachable();
    await records.remove('users', [last]);
    expect(await records.replace('users', last, { ...last, locale: 'fr' })).toBe(false);
    expect(await findUser(user.id)).toBeUndefined();
  });

  it('treats a row that was removed and inserted again as another', async ({ records, user }) => {
    const code = { userId: user.id, hash: 'a hash' };
    await records.insert('recoveryCodes', code);
    const [before = expect.unreachable()] = await records.list('recoveryCodes', { equal: code });
    await records.remove('recoveryCodes', [before]);
    await records.insert('recoveryCodes', code);
    expect(await records.replace('recoveryCodes', before, code)).toBe(false);
    expect(await records.remove('recoveryCodes', [before])).toEqual([]);
    expect(await records.list('recoveryCodes', { equal: code })).toHaveLength(1);
  });

  it('rejects a replacement that violates a unique index, names it, and changes nothing', async (given) => {
    const { records, user, other, findUser } = given;
    const before = (await findUser(user.id)) ?? expect.unreachable();
    const refused = [
      [{ email: other.email, locale: 'de' }, 'users_email'],
      [{ usernameKey: other.usernameKey }, 'users_username'],
    ] as const;
    for (const [change, index] of refused) {
      expectViolation(await rejection(records.replace('users', before, { ...before, ...change })), index);
      expect(await findUser(user.id)).toStrictEqual(before);
    }
  });

  it('accepts exactly one of many concurrent replacements', async ({ records, user, findUser }) => {
    const before = (await findUser(user.id)) ?? expect.unreachable();
    const outcomes = await Promise.allSettled(
      Array.from({ length: RACERS }, (_, updatedAt) => records.replace('users', before, { ...before, updatedAt })),
    );
    expect(successes(outcomes)).toBe(1);
    const { updatedAt = -1 } = (await findUser(user.id)) ?? {};
    expect(outcomes[updatedAt]).toEqual({ status: 'fulfilled', value: true });
  });

  it('accepts exactly one of two replacements by two instances', async ({ records, hook }) => {
    const another = await hook('another')();
    await untilClose(async () => {
      const ids = Array.from({ length: 40 }, anId);
      for (const id of ids) await records.insert('usedValues', { id, expiresAt: NOW });
      const read = ids.map(
        async (id) => (await records.list('usedValues', { equal: { id } }))[0] ?? expect.unreachable(),
      );
      const rows = await Promise.all(read);
      const [theirs, ours] = await atBoth(another, records, (instance) =>
        Promise.all(rows.map((row) => instance.replace('usedValues', row, { ...row, expiresAt: NOW + 1 }))),
      );
      for (const at of rows.keys()) expect([theirs[at], ours[at]].sort()).toEqual([false, true]);
      return theirs;
    });
  });

  it('removes the rows that have not changed since they were read, and returns them', async (given) => {
    const { records, user, other } = given;
    for (let at = 0; at < 250; at += 1) await records.insert('usedValues', { id: `${at}`, expiresAt: at });
    const rows = await records.list('usedValues', { range: ['expiresAt', '<', 240], order: ['expiresAt'] });
    const [first = expect.unreachable(), second = expect.unreachable(), ...others] = rows;
    await records.replace('usedValues', first, { ...first, expiresAt: 1_000 });
    await records.remove('usedValues', [second]);
    const removed = await records.remove('usedValues', rows);
    expect(removed.toSorted((a, b) => a.expiresAt - b.expiresAt)).toStrictEqual(others);
    const left = await records.list('usedValues', { range: ['expiresAt', '>=', 0], order: ['expiresAt'] });
    expect(left.map(({ expiresAt }) => expiresAt)).toEqual([240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 1_000]);
    expect(await records.remove('usedValues', [])).toEqual([]);
    // Keys of two columns.
    for (const { id } of [user, other])
      for (const hash of ['a', 'b']) await records.insert('recoveryCodes', { userId: id, hash });
    const codes = await records.list('recoveryCodes', { equal: { userId: user.id, hash: 'a' } });
    expect(await records.remove('recoveryCodes', codes)).toStrictEqual(codes);
    expect(await records.list('recoveryCodes', { equal: { userId: user.id } })).toHaveLength(1);
    expect(await records.list('recoveryCodes', { equal: { userId: other.id } })).toHaveLength(2);
  });

  it('says of each row once that it was removed, however many remove it at the same time', async ({ records }) => {
    for (let at = 0; at < 20; at += 1) await records.insert('usedValues', { id: `${at}`, expiresAt: at });
    const rows = await records.list('usedValues', { range: ['expiresAt', '>=', 0] });
    const removed = await Promise.all(
      Array.from({ length: 10 }, (_, at) => records.remove('usedValues', at % 2 === 0 ? rows : rows.toReversed())),
    );
    const ids = removed.flat().map(({ id }) => id);
    expect(ids.sort()).toEqual(rows.map(({ id }) => id).sort());
  });

  it('removes with a user the rows that belong to the user', async ({ records, user, other, findUser }) => {
    for (const [at, each] of [user, other].entries())
      await insertRows(records, { ...sampleRows(each, NOW + at), users: [] });
    const tables = Object.entries(TABLES).flatMap(([name, { ofUser }]) => (ofUser ? [name] : []));
    const leftOf = async (userId: string) => {
      const lists = tables.map((table) => records.list(table as 'sessions', { equal: { userId } }));
      return (await Promise.all(lists)).map(({ length }) => length);
    };
    const ofOther = await leftOf(other.id);
    expect(ofOther).not.toContain(0);
    const row = (await findUser(user.id)) ?? expect.unreachable();
    expect(await records.remove('users', [row])).toStrictEqual([row]);
    expect(await leftOf(user.id)).toEqual(tables.map(() => 0));
    expect(await leftOf(other.id)).toEqual(ofOther);
    expect(await records.list('operations', { order: ['id'] })).toHaveLength(2);
  });

  it('returns the row that it locks, and null for none', async ({ records, user, stranger }) => {
    expect(await records.lock('users', { id: user.id })).toStrictEqual(stored(user));
    expect(await records.lock('users', { id: stranger })).toBeNull();
    const inside = await records.unit(async ({ lock }) => [
      await lock('users', { id: user.id }),
      await lock('users', { id: stranger }),
    ]);
    expect(inside).toStrictEqual([stored(user), null]);
  });
};
