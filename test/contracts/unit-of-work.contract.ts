import { expect } from 'vitest';
import type { Stores, UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { SESSIONS_PER_USER } from '../../src/domain/session.ts';
import type { User } from '../../src/domain/user.ts';
import { aLink, aMessage, anEvent, aSession, aUser, NOW } from '../support/builders.ts';
import { type Absent, expectTranslated, offered, rejection } from './hooks.ts';
import { prepared, type Run, type Tests, vitestSuite } from './suite.ts';

/** A unit of work under test, and the stores as everybody else sees them. A hook that cannot be offered is `absent(why)`. */
export type UnitOfWorkStore = {
  readonly unitOfWork: UnitOfWork;
  readonly stores: Stores;
  /** Whether the changes of users, events, links and messages are kept together; else each is kept at once. */
  readonly together: true | Absent;
  /** Whether sessions are kept together with these. */
  readonly sessionsTogether: true | Absent;
  /** Whether there are events, links and messages. */
  readonly records: true | Absent;
  /** Gets in the way of a unit that has changed the first user, and will change the second. `over` resolves when that is over. */
  readonly interfere: ((first: User, second: User) => Promise<{ readonly over: Promise<unknown> }>) | Absent;
  /** Resolves when a unit waits for another. Where units take turns: when it has had the chance to run. */
  readonly untilOneWaits: () => Promise<unknown>;
  /** Opens an instance whose store fails at every call, with an error of the driver. */
  readonly failing: (() => Promise<UnitOfWork>) | Absent;
  readonly close?: () => Promise<void>;
};

const givenUnits = async (make: () => Promise<UnitOfWorkStore>, run: Run) => {
  const store = await make();
  const { unitOfWork, stores } = store;
  const [user, other] = [aUser(), aUser()];
  for (const each of [user, other]) await stores.users.add(each);
  /** The test is skipped unless the store does that. */
  const needs = (what: 'together' | 'sessionsTogether' | 'records') => offered(store[what], run);
  return { store, unitOfWork, stores, user, other, needs, run };
};
type Given = Awaited<ReturnType<typeof givenUnits>>;

const REFUSAL = new Error('the work failed');
const eventsOf = ({ events }: Stores, { id }: User) => events.list({ userId: id, before: null, limit: 1_000 });

/** Changes every store, and returns what is stored then. */
const changeAll = (user: User) => {
  const [added, session, ended] = [aUser(), aSession({ userId: user.id }), aSession({ userId: user.id })];
  const event = anEvent({ userId: user.id });
  const [link, message] = [aLink({ userId: user.id }), aMessage({ userId: user.id })];
  const changed = { ...user, username: `${user.username}.new`, passwordHash: 'new', updatedAt: NOW + 2 };
  const work = async ({ users, sessions, events, links, outbox }: Stores): Promise<void> => {
    await users.add(added);
    await users.update(user.id, { username: changed.username, now: NOW + 1 });
    await users.setPasswordHash(user.id, { passwordHash: 'new', isOfNewPassword: false, now: NOW + 2 });
    await sessions.end(ended);
    await sessions.add(session);
    await events.add([event]);
    await links.put(link);
    await outbox.add([message]);
  };
  const seenIn = async (stores: Stores) => ({
    added: await stores.users.findById(added.id),
    user: await stores.users.findById(user.id),
    session: await stores.sessions.find(session),
    ended: await stores.sessions.find(ended),
    events: await eventsOf(stores, user),
    link: await stores.links.find(link.purpose, link.tokenHash, NOW),
    messages: await stores.outbox.listByUser(user.id),
  });
  return {
    work,
    seenIn,
    prepare: ({ sessions }: Stores) => sessions.add(ended),
    before: { added: null, user, session: null, ended, events: [], link: null, messages: [] },
    after: { added, user: changed, session, ended: null, events: [event], link, messages: [message] },
  };
};

const keeping = ({ it }: Tests<Given>): void => {
  it('keeps all changes when the work succeeds, and returns its result', async ({
    unitOfWork,
    stores,
    user,
    needs,
  }) => {
    needs('records');
    const { work, seenIn, prepare, after } = changeAll(user);
    await prepare(stores);
    const result = { of: 'the work' };
    expect(await unitOfWork.run((inside) => work(inside).then(() => result))).toBe(result);
    expect(await seenIn(stores)).toStrictEqual(after);
  });

  it('keeps none when the work rejects, and rejects with the same error', async (given) => {
    const { unitOfWork, stores, user, needs, store } = given;
    needs('together');
    const { work, seenIn, prepare, before } = changeAll(user);
    await prepare(stores);
    const failing = unitOfWork.run(async (inside) => {
      await work(inside);
      throw REFUSAL;
    });
    await expect(failing).rejects.toBe(REFUSAL);
    // In a store of their own, those that were added have ended, and those that have ended stay so.
    const expected = store.sessionsTogether === true ? before : { ...before, ended: null };
    expect(await seenIn(stores)).toStrictEqual(expected);
    expect(await unitOfWork.run(async () => 'the next one')).toBe('the next one');
  });

  it('shows its own changes to the work', async ({ unitOfWork, user, stores, needs }) => {
    needs('records');
    const { work, seenIn, prepare, after } = changeAll(user);
    await prepare(stores);
    const seen = await unitOfWork.run(async (inside) => {
      await work(inside);
      return seenIn(inside);
    });
    expect(seen).toStrictEqual(after);
  });

  it('keeps all changes or rejects, when the work goes on after a store has refused a change', async (given) => {
    const { unitOfWork, stores, user, other } = given;
    for (const isLast of [true, false]) {
      const now = NOW + 10 + Number(isLast);
      const outcome = await unitOfWork
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
};

const overlapping = ({ it }: Tests<Given>): void => {
  /** Runs a unit that stops before its end, and meanwhile something else. */
  const during = async ({ unitOfWork }: Given, work: (stores: Stores) => Promise<unknown>, other: () => unknown) => {
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
    const { stores, user, needs } = given;
    needs('together');
    needs('sessionsTogether');
    const { work, seenIn, prepare, before } = changeAll(user);
    await prepare(stores);
    expect(await during(given, work, () => seenIn(stores))).toStrictEqual(before);
  });

  it('neither undoes nor delays for long what others change meanwhile', async (given) => {
    const { stores, user, other, needs } = given;
    needs('together');
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

  it('holds back whoever records something about a user whom it has locked or changed, and shows them its changes', async (given) => {
    const { unitOfWork, user, needs, store } = given;
    needs('together');
    needs('records');
    const password = { isOfNewPassword: true, now: NOW + 1 };
    const firsts: readonly ((users: Stores['users']) => Promise<unknown>)[] = [
      (users) => users.lock(user.id),
      (users) => users.update(user.id, { disabledAt: NOW, now: NOW + 1 }),
      (users) => users.setPasswordHash(user.id, { ...password, passwordHash: 'first' }),
    ];
    for (const [at, first] of firsts.entries()) {
      const [reached, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const locking = unitOfWork.run(async ({ users }) => {
        await first(users);
        reached.resolve();
        await going.promise;
        await users.setPasswordHash(user.id, { ...password, passwordHash: `new ${at}` });
      });
      await Promise.race([reached.promise, locking]);
      const recording = unitOfWork.run(async ({ users, events }) => {
        await events.add([anEvent({ userId: user.id })]);
        return users.findById(user.id);
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
        const surplus = await sessions.add(session);
        return { id: session.id, surplus };
      }),
    );
    const opened = await Promise.all(logins);
    const left = (await stores.sessions.listByUser(user.id, NOW)).map(({ id }) => id);
    expect(left).toHaveLength(SESSIONS_PER_USER);
    const ended = opened.map(({ id }) => id).filter((id) => !left.includes(id));
    expect(opened.flatMap(({ surplus }) => surplus).sort()).toEqual(ended.sort());
  });
};

const refusing = ({ it }: Tests<Given>): void => {
  it('rejects a unit of work within another', async ({ unitOfWork, stores, user }) => {
    const nested = unitOfWork.run(async ({ users }) => {
      await users.update(user.id, { disabledAt: NOW, now: NOW }, { disabledAt: 1 });
      await unitOfWork.run(async () => undefined);
    });
    await expect(nested).rejects.toMatchObject({ code: 'SYS_UNEXPECTED_ERROR' });
    expect(await unitOfWork.run((inside) => inside.users.findById(user.id))).toStrictEqual(user);
    expect(await stores.users.findById(user.id)).toStrictEqual(user);
  });

  it('rejects with DB_QUERY_FAILED alone when its store fails', async ({ store, run, stores, user }) => {
    const failing = await offered(store.failing, run)();
    const outcome = await rejection(
      failing.run(async ({ users }) => {
        await users.update(user.id, { username: 'changed', now: NOW });
      }),
    );
    expectTranslated(outcome, [user.id, user.username, 'changed']);
    expect(await stores.users.findById(user.id)).toStrictEqual(user);
  });
};

const PARTS = { keeping, overlapping, refusing };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes empty stores and the unit of work over them, for each test anew.
 */
export const describeUnitOfWork = (name: string, make: () => Promise<UnitOfWorkStore>, suite = vitestSuite): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenUnits(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as a UnitOfWork`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
