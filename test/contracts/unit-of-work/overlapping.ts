import { expect } from 'vitest';
import type { Stores } from '../../../src/application/ports/unit-of-work.ts';
import { SESSIONS_PER_USER } from '../../../src/domain/session.ts';
import { anEvent, aSession, aUser, NOW } from '../../support/builders.ts';
import { offered } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { changeAll, eventsOf, type GivenUnits, REFUSAL } from './store.ts';

export const overlapping = ({ it }: Tests<GivenUnits>): void => {
  /** Runs a unit that stops before its end, and meanwhile something else. */
  const during = async (
    { unitOfWork }: GivenUnits,
    work: (stores: Stores) => Promise<unknown>,
    other: () => unknown,
  ) => {
    const [reached, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ended = unitOfWork.run(async (stores) => {
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
        stores.events.add([event]),
      ]),
    );
    expect(await stores.users.findById(other.id)).toMatchObject({ disabledAt: NOW });
    expect(await stores.users.findById(added.id)).toStrictEqual(added);
    expect(await stores.sessions.find(session)).toStrictEqual(session);
    expect(await eventsOf(stores, other)).toStrictEqual([event]);
    expect(await stores.users.findById(user.id)).toStrictEqual(user);
  });

  it('runs the work again when it conflicts with another', async (given) => {
    const { unitOfWork, stores, user, other, store, run } = given;
    const interfere = offered(store.interfere, run);
    const [reached, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const [session, ended, old] = [1, 2, 3].map(() => aSession({ userId: user.id }));
    if (session === undefined || ended === undefined || old === undefined) return expect.unreachable();
    await stores.sessions.add(ended);
    await stores.sessions.add(old);
    const told: unknown[] = [];
    let runs = 0;
    const result = unitOfWork.run(async ({ users, sessions, events }) => {
      runs += 1;
      await users.update(user.id, { username: 'of.the.unit', now: NOW + 3 });
      await sessions.add(session);
      const ends = [await sessions.end(ended), await sessions.endByUser(user.id, session.id)];
      if (runs === 1) {
        reached.resolve();
        await going.promise;
      }
      await users.update(other.id, { username: 'of.the.unit.too', now: NOW + 3 });
      await events.add([anEvent({ userId: user.id })]);
      told.push(ends);
      return ends;
    });
    await Promise.race([reached.promise, result]);
    const { over } = await interfere(user, other);
    going.resolve();
    await expect(result).resolves.toEqual([true, [old.id]]);
    await over;
    expect(runs).toBeGreaterThan(1);
    expect(told.length).toBeGreaterThan(0);
    expect(await stores.users.findById(user.id)).toMatchObject({ username: 'of.the.unit', emailVerifiedAt: NOW });
    expect(await stores.users.findById(other.id)).toMatchObject({ username: 'of.the.unit.too' });
    expect(await eventsOf(stores, user)).toHaveLength(1);
    expect((await stores.sessions.listByUser(user.id, NOW)).map(({ id }) => id)).toEqual([session.id]);
  });

  it('makes other writers of a user whom it has locked or changed wait, and shows them its changes', async (given) => {
    const { unitOfWork, user, store } = given;
    const password = { isOfNewPassword: true, now: NOW + 1 };
    const firsts: readonly ((users: Stores['users']) => Promise<unknown>)[] = [
      (users) => users.lock(user.id),
      (users) => users.update(user.id, { disabledAt: NOW, now: NOW + 1 }),
      (users) => users.setPasswordHash(user.id, { ...password, passwordHash: 'first' }),
    ];
    const seconds: readonly ((stores: Stores) => Promise<unknown>)[] = [
      ({ events }) => events.add([anEvent({ userId: user.id })]),
      ({ users }) => users.lock(user.id),
      ({ users }) => users.update(user.id, { disabledAt: NOW, now: NOW + 2 }),
      ({ sessions }) => sessions.add(aSession({ userId: user.id })),
    ];
    const pairs = firsts.flatMap((first) => seconds.map((second) => ({ first, second })));
    for (const [at, { first, second }] of pairs.entries()) {
      const [reached, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const locking = unitOfWork.run(async ({ users }) => {
        await first(users);
        reached.resolve();
        await going.promise;
        await users.setPasswordHash(user.id, { ...password, passwordHash: `new ${at}` });
      });
      await Promise.race([reached.promise, locking]);
      const recording = unitOfWork.run(async (inside) => {
        await second(inside);
        return inside.users.findById(user.id);
      });
      await Promise.race([recording, store.untilOneWaits()]);
      going.resolve();
      await locking;
      expect(await recording).toMatchObject({ passwordHash: `new ${at}` });
    }
  });

  it('keeps exactly 50 sessions of a user who logs in many times at once', async ({ unitOfWork, stores, user }) => {
    const logins = Array.from({ length: SESSIONS_PER_USER + 10 }, () =>
      unitOfWork.run(async ({ sessions }) => {
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
