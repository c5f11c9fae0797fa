import { expect } from 'vitest';
import type { Records } from '../../../src/application/storage/records.ts';
import { NOW } from '../../support/builders.ts';
import { rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { aSessionRow, aUserRow, expectViolation, type GivenDatabase, stored, successes } from './database.ts';

const REFUSAL = new Error('the work failed');

/** Changes several tables, and returns what is stored then. */
const changeAll = ({ user, other }: Pick<GivenDatabase, 'user' | 'other'>) => {
  const session = aSessionRow({ userId: user.id });
  const work = async (inside: Records) => {
    await inside.insert('usedValues', { id: 'a value', expiresAt: NOW });
    await inside.insert('sessions', session);
    const row = (await inside.lock('users', { id: user.id })) ?? expect.unreachable();
    expect(await inside.replace('users', row, { ...row, locale: 'de' })).toBe(true);
    expect(await inside.remove('users', await inside.list('users', { equal: { id: other.id } }))).toHaveLength(1);
  };
  const seenIn = async (records: Pick<Records, 'list'>) => ({
    value: await records.list('usedValues', { equal: { id: 'a value' } }),
    session: await records.list('sessions', { equal: { userId: user.id } }),
    user: await records.list('users', { equal: { id: user.id } }),
    other: await records.list('users', { equal: { id: other.id } }),
  });
  return {
    work,
    seenIn,
    before: { value: [], session: [], user: [stored(user)], other: [stored(other)] },
    after: {
      value: [stored({ id: 'a value', expiresAt: NOW })],
      session: [stored(session)],
      user: [stored({ ...user, locale: 'de' })],
      other: [],
    },
  };
};

export const uniting = ({ it }: Tests<GivenDatabase>): void => {
  it('keeps all changes of a unit when the work succeeds, and returns its result', async (given) => {
    const { work, seenIn, after } = changeAll(given);
    const result = { of: 'the work' };
    expect(await given.unit((inside) => work(inside).then(() => result))).toBe(result);
    expect(await seenIn(given.records)).toStrictEqual(after);
  });

  it('keeps none when the work rejects, and rejects with the same error', async (given) => {
    const { work, seenIn, before } = changeAll(given);
    const failing = given.unit(async (inside) => {
      await work(inside);
      throw REFUSAL;
    });
    await expect(failing).rejects.toBe(REFUSAL);
    expect(await seenIn(given.records)).toStrictEqual(before);
    expect(await given.unit(async () => 'the next one')).toBe('the next one');
  });

  it('shows the changes of a unit to itself alone until it ends', async (given) => {
    const { work, seenIn, before, after } = changeAll(given);
    const [reached, going] = [given.gate(), given.gate()];
    const unit = given.unit(async (inside) => {
      await work(inside);
      expect(await seenIn(inside)).toStrictEqual(after);
      reached.resolve();
      await going.promise;
      throw REFUSAL;
    });
    await Promise.race([reached.promise, unit]);
    const seen = seenIn(given.records);
    going.resolve();
    expect(await seen).toStrictEqual(before);
    await expect(unit).rejects.toBe(REFUSAL);
  });

  it('makes other units that lock the same row wait, and shows them its changes', async (given) => {
    const { user, database, gate, unit } = given;
    const key = { id: user.id };
    const firsts: readonly ((inside: Records) => Promise<unknown>)[] = [
      (inside) => inside.lock('users', key),
      async (inside) => {
        const row = (await inside.lock('users', key)) ?? expect.unreachable();
        await inside.replace('users', row, { ...row, updatedAt: row.updatedAt + 1 });
      },
    ];
    for (const [at, first] of firsts.entries()) {
      const [reached, going] = [gate(), gate()];
      const locking = unit(async (inside) => {
        await first(inside);
        reached.resolve();
        await going.promise;
        const [row = expect.unreachable()] = await inside.list('users', { equal: key });
        expect(await inside.replace('users', row, { ...row, locale: `x-${at}` })).toBe(true);
      });
      await Promise.race([reached.promise, locking]);
      const waiting = unit((inside) => inside.lock('users', key));
      await Promise.race([waiting, database.untilOneWaits()]);
      going.resolve();
      await locking;
      expect(await waiting).toMatchObject({ locale: `x-${at}` });
    }
  });

  it('keeps all changes of a unit or rejects it, if its work catches a violation', async ({ records, unit, user }) => {
    for (const isLast of [true, false]) {
      const id = `value ${isLast}`;
      const outcome = await unit(async (inside) => {
        if (isLast) await inside.insert('usedValues', { id, expiresAt: NOW });
        await inside.insert('users', aUserRow({ email: user.email })).catch(() => undefined);
        if (!isLast) await inside.insert('usedValues', { id, expiresAt: NOW });
        return 'kept';
      }).catch(() => 'lost');
      const isKept = (await records.list('usedValues', { equal: { id } })).length > 0;
      expect(isKept ? 'kept' : 'lost').toBe(outcome);
    }
  });

  it('runs the work again if it makes another call after a violation', async ({ records, unit, user, findUser }) => {
    let runs = 0;
    const added = aUserRow();
    const repeated = unit(async (inside) => {
      runs += 1;
      if (runs === 1) await inside.insert('users', aUserRow({ email: user.email })).catch(() => undefined);
      await inside.insert('users', added);
    });
    await expect(repeated).resolves.toBeUndefined();
    expect(runs).toBe(2);
    expect(await findUser(added.id)).toStrictEqual(stored(added));
    // Not a unit that ends with it.
    runs = 0;
    const refused = unit(async (inside) => {
      runs += 1;
      await inside.insert('users', aUserRow({ email: user.email }));
    });
    expect(await rejection(refused)).toMatchObject({ code: 'DB_UNIQUE_VIOLATION' });
    expect(runs).toBe(1);
    expect(await records.list('users', { equal: { email: user.email } })).toHaveLength(1);
  });

  it('rejects a unit within another, calls of a unit to the records outside of it, and calls to one that is over', async (given) => {
    const { records, unit, user, findUser } = given;
    const calls: readonly ((inside: Records) => Promise<unknown>)[] = [
      (inside) => inside.unit(async () => undefined),
      () => records.unit(async () => undefined),
      () => records.list('users', { equal: { id: user.id } }),
    ];
    for (const call of calls) {
      const nested = unit(async (inside) => {
        const [row = expect.unreachable()] = await inside.list('users', { equal: { id: user.id } });
        await inside.replace('users', row, { ...row, locale: 'de' });
        await call(inside);
      });
      await expect(nested).rejects.toMatchObject({ code: 'SYS_UNEXPECTED_ERROR' });
      expect(await findUser(user.id)).toStrictEqual(stored(user));
    }
    const kept = await unit(async (inside) => ({ inside }));
    const late = kept.inside.insert('usedValues', { id: 'late', expiresAt: NOW });
    await expect(late).rejects.toMatchObject({ code: 'SYS_UNEXPECTED_ERROR' });
    expect(await records.list('usedValues', { order: ['id'] })).toEqual([]);
  });

  it('carries out what the work has not waited for before the unit ends', async ({ records, unit }) => {
    const ids = Array.from({ length: 5 }, (_, at) => `value ${at}`);
    const insertAll = (inside: Records) => {
      for (const id of ids) void inside.insert('usedValues', { id, expiresAt: NOW }).catch(() => undefined);
    };
    const failing = unit(async (inside) => {
      insertAll(inside);
      throw REFUSAL;
    });
    await expect(failing).rejects.toBe(REFUSAL);
    expect(await records.list('usedValues', { order: ['id'] })).toEqual([]);
    await unit(async (inside) => insertAll(inside));
    expect(await records.list('usedValues', { order: ['id'] })).toHaveLength(5);
  });

  it('accepts one of two units that insert the same values of a unique index', async (given) => {
    const { records, database, gate, unit } = given;
    const email = 'both@example.org';
    const [inserted, going] = [gate(), gate()];
    const first = unit(async (inside) => {
      await inside.insert('users', aUserRow({ email }));
      inserted.resolve();
      await going.promise;
    });
    await Promise.race([inserted.promise, first]);
    const second = unit((inside) => inside.insert('users', aUserRow({ email })));
    await Promise.race([second.catch(() => undefined), database.untilOneWaits()]);
    going.resolve();
    const outcomes = await Promise.allSettled([first, second]);
    expect(successes(outcomes)).toBe(1);
    for (const outcome of outcomes) if (outcome.status === 'rejected') expectViolation(outcome.reason, 'users_email');
    expect(await records.list('users', { equal: { email } })).toHaveLength(1);
  });

  it('rejects the second of two rows of a unit with the same values of a unique index', async ({ records, unit }) => {
    const email = 'twice@example.org';
    const both = unit(async (inside) => {
      await inside.insert('users', aUserRow({ email }));
      await inside.insert('users', aUserRow({ email }));
    });
    expectViolation(await rejection(both), 'users_email');
    expect(await records.list('users', { equal: { email } })).toEqual([]);
  });

  it('loses no change to a row that a unit and a call outside of it change', async (given) => {
    const { records, database, user, gate, unit, findUser } = given;
    const before = (await findUser(user.id)) ?? expect.unreachable();
    const [replaced, going] = [gate(), gate()];
    const changing = unit(async (inside) => {
      const row = (await inside.lock('users', { id: user.id })) ?? expect.unreachable();
      expect(await inside.replace('users', row, { ...row, locale: 'de' })).toBe(true);
      replaced.resolve();
      await going.promise;
    });
    await Promise.race([replaced.promise, changing]);
    const outside = records.replace('users', before, { ...before, passwordHash: 'another' });
    await Promise.race([outside, database.untilOneWaits()]);
    going.resolve();
    await changing;
    const { passwordHash } = (await outside) ? { passwordHash: 'another' } : user;
    expect(await findUser(user.id)).toMatchObject({ locale: 'de', passwordHash });
  });

  it('keeps no row of a unit whose user is removed meanwhile', async (given) => {
    const { records, database, user, gate, unit, findUser } = given;
    const before = (await findUser(user.id)) ?? expect.unreachable();
    const [inserted, going] = [gate(), gate()];
    const adding = unit(async (inside) => {
      await inside.insert('sessions', aSessionRow({ userId: user.id }));
      inserted.resolve();
      await going.promise;
    });
    await Promise.race([inserted.promise, adding]);
    const removing = records.remove('users', [before]);
    await Promise.race([removing, database.untilOneWaits()]);
    going.resolve();
    await Promise.allSettled([adding, removing]);
    const kept = await records.list('sessions', { equal: { userId: user.id } });
    expect(kept).toHaveLength((await findUser(user.id)) === undefined ? 0 : 1);
  });
};
