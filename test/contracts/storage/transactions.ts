import { expect } from 'vitest';
import type { Stores } from '../../../src/application/storage/records.ts';
import { anEvent, aSession, aUser, NOW } from '../../support/builders.ts';
import { storeEvents } from '../../support/stored-events.ts';
import { offered } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { changeAll, eventsOf, REFUSAL } from './changes.ts';
import type { GivenStorage } from './given.ts';

export const transactions = ({ it }: Tests<GivenStorage>): void => {
  it('keeps all changes when the work succeeds, and returns its result', async ({ transactions, stores, user }) => {
    const { work, seenIn, prepare, after } = changeAll(user);
    await prepare(stores);
    const result = { of: 'the work' };
    expect(await transactions.run((inside) => work(inside).then(() => result))).toBe(result);
    expect(await seenIn(stores)).toStrictEqual(after);
  });

  it('keeps none when the work rejects, and rejects with the same error', async (given) => {
    const { transactions, stores, user } = given;
    const { work, seenIn, prepare, before } = changeAll(user);
    await prepare(stores);
    const failing = transactions.run(async (inside) => {
      await work(inside);
      throw REFUSAL;
    });
    await expect(failing).rejects.toBe(REFUSAL);
    expect(await seenIn(stores)).toStrictEqual(before);
    expect(await transactions.run(async () => 'the next one')).toBe('the next one');
  });

  it('keeps all changes or rejects, when the work goes on after a store has refused a change', async (given) => {
    const { transactions, stores, user, other } = given;
    for (const isLast of [true, false]) {
      const now = NOW + 10 + Number(isLast);
      const outcome = await transactions
        .run(async ({ users }) => {
          if (isLast) await users.update(user.id, { disabledAt: now, now });
          await users.add(aUser({ username: other.username })).catch(() => undefined);
          if (!isLast) await users.update(user.id, { disabledAt: now, now });
          return 'kept';
        })
        .catch(() => 'lost');
      const { disabledAt } = (await stores.users.findById(user.id)) ?? expect.unreachable();
      expect(disabledAt === now ? 'kept' : 'lost').toBe(outcome);
    }
  });

  it('shows the changes to the work, and to nobody else before it has ended', async (given) => {
    const { transactions, stores, user, gate } = given;
    const { work, seenIn, prepare, before, after } = changeAll(user);
    await prepare(stores);
    const [reached, going] = [gate(), gate()];
    const ended = transactions.run(async (inside) => {
      await work(inside);
      expect(await seenIn(inside)).toStrictEqual(after);
      reached.resolve();
      await going.promise;
      throw REFUSAL;
    });
    await Promise.race([reached.promise, ended]);
    const seen = seenIn(stores);
    going.resolve();
    await expect(ended).rejects.toBe(REFUSAL);
    expect(await seen).toStrictEqual(before);
  });

  it('runs the work again when it conflicts with another', async (given) => {
    const { transactions, stores, user, other, opened, run, gate, begun } = given;
    const interfere = offered(opened.interfere, run);
    const [reached, going] = [gate(), gate()];
    const [session, ended, old] = [
      aSession({ userId: user.id }),
      aSession({ userId: user.id }),
      aSession({ userId: user.id }),
    ];
    for (const each of [ended, old]) await stores.sessions.add(each);
    let runs = 0;
    const outcome = transactions.run(async (inside) => {
      runs += 1;
      const { users, sessions } = inside;
      await users.update(user.id, { username: 'of.the.unit', now: NOW + 3 });
      await sessions.add(session);
      const ends = [await sessions.end(ended), await sessions.endByUser(user.id, ({ id }) => id !== session.id)];
      reached.resolve();
      if (runs === 1) await going.promise;
      await users.update(other.id, { username: 'of.the.unit.too', now: NOW + 3 });
      await storeEvents(inside, [anEvent({ userId: user.id })]);
      return ends;
    });
    await Promise.race([reached.promise, outcome]);
    const { over } = await interfere(user, other);
    begun.push(over);
    going.resolve();
    expect(await outcome).toEqual([true, [old.id]]);
    await over;
    expect(runs).toBeGreaterThan(1);
    expect(await stores.users.findById(user.id)).toMatchObject({ username: 'of.the.unit', emailVerifiedAt: NOW });
    expect(await stores.users.findById(other.id)).toMatchObject({ username: 'of.the.unit.too' });
    expect(await eventsOf(stores, user)).toHaveLength(1);
    expect((await stores.sessions.listByUser(user.id, NOW)).map(({ id }) => id)).toEqual([session.id]);
  });

  it('makes other writers of a user whom it has locked or changed wait, and shows them its changes', async (given) => {
    const { transactions, user, opened, gate } = given;
    const password = { isOfNewPassword: true, now: NOW + 1 };
    const firsts: readonly ((users: Stores['users']) => Promise<unknown>)[] = [
      (users) => users.lock(user.id),
      (users) => users.update(user.id, { disabledAt: NOW, now: NOW + 1 }),
      (users) => users.setPasswordHash(user.id, { ...password, passwordHash: 'first' }),
    ];
    const seconds: readonly ((stores: Stores) => Promise<unknown>)[] = [
      (inside) => storeEvents(inside, [anEvent({ userId: user.id })]),
      ({ users }) => users.lock(user.id),
      ({ users }) => users.update(user.id, { disabledAt: NOW, now: NOW + 2 }),
      ({ sessions }) => sessions.add(aSession({ userId: user.id })),
    ];
    const pairs = firsts.flatMap((first) => seconds.map((second) => ({ first, second })));
    for (const [at, { first, second }] of pairs.entries()) {
      const [reached, going] = [gate(), gate()];
      const locking = transactions.run(async ({ users }) => {
        await first(users);
        reached.resolve();
        await going.promise;
        await users.setPasswordHash(user.id, { ...password, passwordHash: `new ${at}` });
      });
      await Promise.race([reached.promise, locking]);
      const recording = transactions.run(async (inside) => {
        await second(inside);
        return inside.users.findById(user.id);
      });
      await Promise.race([recording, opened.untilOneWaits()]);
      going.resolve();
      await locking;
      expect(await recording).toMatchObject({ passwordHash: `new ${at}` });
    }
  });
};
