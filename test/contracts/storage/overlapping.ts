import { expect } from 'vitest';
import type { Stores } from '../../../src/application/storage/stores.ts';
import { SESSIONS_PER_USER } from '../../../src/domain/session.ts';
import { anEvent, aSession, aUser, NOW } from '../../support/builders.ts';
import { storeEvents } from '../../support/stored-events.ts';
import { offered } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { changeAll, eventsOf, REFUSAL } from './changes.ts';
import type { GivenStorage } from './given.ts';

export const overlapping = ({ it }: Tests<GivenStorage>): void => {
  /** Runs a unit that stops before its end, and meanwhile something else. */
  const during = async (
    { transactions, gate }: GivenStorage,
    work: (stores: Stores) => Promise<unknown>,
    other: () => unknown,
  ) => {
    const [reached, going] = [gate(), gate()];
    const ended = transactions.run(async (stores) => {
      await work(stores);
      reached.resolve();
      await going.promise;
      throw REFUSAL;
    });
    await Promise.race([reached.promise, ended]);
    const begun = other();
    going.resolve();
    await expect(ended).rejects.toBe(REFUSAL);
    return begun;
  };

  it('shows the changes to nobody before the work has ended', async (given) => {
    const { stores, user } = given;
    const { work, seenIn, prepare, before } = changeAll(user);
    await prepare(stores);
    expect(await during(given, work, () => seenIn(stores))).toStrictEqual(before);
  });

  it('neither undoes nor delays for long what others change meanwhile', async (given) => {
    const { stores, user, other } = given;
    const [event, added, session] = [anEvent({ userId: other.id }), aUser(), aSession({ userId: other.id })];
    await during(given, changeAll(user).work, () =>
      Promise.all([
        stores.users.update(other.id, { disabledAt: NOW, now: NOW }),
        stores.users.add(added),
        stores.sessions.add(session),
        storeEvents(stores, [event]),
      ]),
    );
    expect(await stores.users.findById(other.id)).toMatchObject({ disabledAt: NOW });
    expect(await stores.users.findById(added.id)).toStrictEqual(added);
    expect(await stores.sessions.find(session)).toStrictEqual(session);
    expect(await eventsOf(stores, other)).toStrictEqual([event]);
    expect(await stores.users.findById(user.id)).toStrictEqual(user);
  });

  /** Runs a unit that changes the first user and then the second, and meanwhile something that is in the way of its first run. */
  const disturbed = async <Result>(
    { transactions, user, other, opened, run, gate, begun }: GivenStorage,
    work: (stores: Stores, untilDisturbed: () => Promise<void>) => Promise<Result>,
  ) => {
    const interfere = offered(opened.interfere, run);
    const [reached, going] = [gate(), gate()];
    let runs = 0;
    const result = transactions.run((stores) => {
      runs += 1;
      const isFirst = runs === 1;
      return work(stores, async () => {
        reached.resolve();
        if (isFirst) await going.promise;
      });
    });
    await Promise.race([reached.promise, result]);
    const { over } = await interfere(user, other);
    begun.push(over);
    going.resolve();
    const [outcome] = await Promise.allSettled([result, over]);
    return { outcome, runs };
  };

  it('runs the work again when it conflicts with another', async (given) => {
    const { stores, user, other } = given;
    const [session, ended, old] = [1, 2, 3].map(() => aSession({ userId: user.id }));
    if (session === undefined || ended === undefined || old === undefined) return expect.unreachable();
    await stores.sessions.add(ended);
    await stores.sessions.add(old);
    const { outcome, runs } = await disturbed(given, async (inside, untilDisturbed) => {
      const { users, sessions } = inside;
      await users.update(user.id, { username: 'of.the.unit', now: NOW + 3 });
      await sessions.add(session);
      const ends = [await sessions.end(ended), await sessions.endByUser(user.id, ({ id }) => id !== session.id)];
      await untilDisturbed();
      await users.update(other.id, { username: 'of.the.unit.too', now: NOW + 3 });
      await storeEvents(inside, [anEvent({ userId: user.id })]);
      return ends;
    });
    expect(outcome).toEqual({ status: 'fulfilled', value: [true, [old.id]] });
    expect(runs).toBeGreaterThan(1);
    expect(await stores.users.findById(user.id)).toMatchObject({ username: 'of.the.unit', emailVerifiedAt: NOW });
    expect(await stores.users.findById(other.id)).toMatchObject({ username: 'of.the.unit.too' });
    expect(await eventsOf(stores, user)).toHaveLength(1);
    expect((await stores.sessions.listByUser(user.id, NOW)).map(({ id }) => id)).toEqual([session.id]);
  });

  it('keeps all changes or rejects, when the work goes on after a conflict', async (given) => {
    const { stores, user, other } = given;
    for (const isLast of [true, false]) {
      const event = anEvent({ userId: user.id });
      const changed = { username: `of.the.unit.${isLast}`, now: NOW + 3 };
      const { outcome } = await disturbed(given, async (inside, untilDisturbed) => {
        const { users } = inside;
        await users.update(user.id, changed);
        await untilDisturbed();
        await users.update(other.id, { disabledAt: NOW, now: NOW + 3 }).catch(() => undefined);
        if (!isLast) await storeEvents(inside, [event]);
      });
      const isKept = outcome.status === 'fulfilled';
      const { username } = (await stores.users.findById(user.id)) ?? expect.unreachable();
      const seen = [username === changed.username, (await eventsOf(stores, user)).some(({ id }) => id === event.id)];
      expect(seen).toEqual([isKept, isKept && !isLast]);
    }
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

  it('keeps exactly 50 sessions of a user who logs in many times at once', async ({ transactions, stores, user }) => {
    const logins = Array.from({ length: SESSIONS_PER_USER + 10 }, () =>
      transactions.run(async ({ sessions }) => {
        const session = aSession({ userId: user.id });
        const evicted = await sessions.add(session);
        return { id: session.id, evicted };
      }),
    );
    const opened = await Promise.all(logins);
    const left = (await stores.sessions.listByUser(user.id, NOW)).map(({ id }) => id);
    expect(left).toHaveLength(SESSIONS_PER_USER);
    const ended = opened.map(({ id }) => id).filter((id) => !left.includes(id));
    expect(opened.flatMap(({ evicted }) => evicted).sort()).toEqual(ended.sort());
  });
};
