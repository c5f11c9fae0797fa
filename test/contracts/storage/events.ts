import { expect } from 'vitest';
import type { EventRepository } from '../../../src/application/ports/event-repository.ts';
import {
  type AccountEvent,
  COUNTING_PERIOD,
  EVENT_KINDS,
  EVENTS_KEPT,
  SESSION_ENDINGS,
} from '../../../src/domain/event.ts';
import { anEvent, anId, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { type GivenStorage, idsOf, ORIGIN, raced } from './given.ts';

/** The start of a period. */
const HOUR = NOW - (NOW % COUNTING_PERIOD);
const NOWHERE = { requestId: null, userAgent: null, address: null };

const refusals = (given: Partial<AccountEvent>): AccountEvent =>
  anEvent({ kind: 'login-refused', at: HOUR, ...ORIGIN, ...given });
const listAll = (events: EventRepository, userId: string): Promise<AccountEvent[]> =>
  events.list({ userId, before: null, limit: 2_000 });
/** Events of one user, each a millisecond after the one before. */
const series = (userId: string, count: number, given: Partial<AccountEvent> = {}): AccountEvent[] =>
  Array.from({ length: count }, (_, at) => anEvent({ userId, at: NOW + at, ...given }));

export const events = (tests: Tests<GivenStorage>): void => {
  listing(tests);
  counting(tests);
  removing(tests);
};

const listing = ({ it }: Tests<GivenStorage>): void => {
  it('lists the events of one user, the latest first', async ({ events, owner, otherUser }) => {
    const own = [
      ...EVENT_KINDS.map((kind) => anEvent({ userId: owner, kind, ...ORIGIN })),
      ...SESSION_ENDINGS.map((reason) =>
        anEvent({ userId: owner, kind: 'session-ended', sessionId: anId(), reason, ...NOWHERE }),
      ),
      anEvent({ userId: owner, actor: 'Ünna', note: 'gründlich' }),
    ];
    await events.add([]);
    await events.add(own.slice(0, 1));
    await events.add([...own.slice(1), anEvent({ userId: otherUser })]);
    expect(await listAll(events, owner)).toStrictEqual(own.toReversed());
  });

  const ALL_OF =
    'lists the events of all users by their time, the latest first, and continues that list also between events of one time';
  it(ALL_OF, async ({ events, owner, otherUser }) => {
    const [early, late] = [series(owner, 3), series(otherUser, 2, { at: NOW + 9 })];
    const tied = [owner, otherUser, owner, owner].map((userId) => anEvent({ userId, at: NOW + 5 }));
    await events.add([...late, ...early, ...tied]);
    const expected = [...early, ...tied, ...late].toReversed();
    for (const limit of [1, 2, 3, 20]) {
      const listed: AccountEvent[] = [];
      for (let page = await events.listAll({ before: null, limit }); page.length > 0; ) {
        listed.push(...page);
        page = await events.listAll({ before: listed.at(-1) ?? null, limit });
      }
      expect(listed).toStrictEqual(expected);
    }
  });

  it('continues a list after the last event of the page before', async ({ events, owner }) => {
    // All at the same time: the ids decide.
    const all = series(owner, 25, { at: NOW }).toReversed();
    await events.add(all);
    const pages: AccountEvent[][] = [];
    for (let before: string | null = null; pages.length < 10; ) {
      const page = await events.list({ userId: owner, before, limit: 10 });
      if (page.length === 0) break;
      pages.push(page);
      before = page.at(-1)?.id ?? null;
    }
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(pages.flat()).toStrictEqual(all);
  });

  it('lists nothing of another user', async ({ events, owner, otherUser, stranger }) => {
    const [own, others] = [series(owner, 2), series(otherUser, 2)];
    await events.add([...own, ...others]);
    for (const id of [stranger, own[0]?.id ?? '', '', 'no id', '\0']) expect(await listAll(events, id)).toEqual([]);
    // Also when the cursor is an event of another user.
    const page = await events.list({ userId: owner, before: others[1]?.id ?? null, limit: 10 });
    expect(page).toStrictEqual(own.toReversed());
  });

  it('ignores an event of an unknown user, and adds those of others', async ({ events, owner, stranger }) => {
    const own = anEvent({ userId: owner });
    await events.add([anEvent({ userId: stranger }), own]);
    expect(await listAll(events, stranger)).toEqual([]);
    expect(await listAll(events, owner)).toStrictEqual([own]);
  });
};

const counting = ({ it }: Tests<GivenStorage>): void => {
  it('adds refused log-ins of one hour to one event', async ({ events, another, owner, otherUser }) => {
    const [first, last] = [
      refusals({ userId: owner, at: HOUR, count: 3, ...NOWHERE }),
      refusals({ userId: owner, at: HOUR + COUNTING_PERIOD - 1, count: 4 }),
    ];
    const next = refusals({ userId: owner, at: HOUR + COUNTING_PERIOD });
    const ofOther = refusals({ userId: otherUser });
    await events.add([anEvent({ userId: owner, at: HOUR })]);
    await events.add([first, last, next, ofOther]);
    const refused = async () => (await listAll(events, owner)).filter(({ kind }) => kind === 'login-refused');
    expect(await refused()).toStrictEqual([next, { ...last, id: first.id, count: 7 }]);
    expect(await listAll(events, otherUser)).toStrictEqual([ofOther]);
    await raced([events, another.events], 40, (instance) => instance.add([refusals({ userId: owner, count: 2 })]));
    expect((await refused()).map(({ count }) => count)).toEqual([1, 7 + 80]);
  });

  it('adds log-ins on one device within an hour to one event', async ({ events, another, owner, otherUser }) => {
    const logIn = (given: Partial<AccountEvent> = {}) =>
      anEvent({ userId: owner, kind: 'logged-in', at: HOUR, sessionId: anId(), ...ORIGIN, ...given });
    const [first, last] = [logIn(), logIn({ at: HOUR + COUNTING_PERIOD - 1, requestId: anId() })];
    const others = [
      logIn({ at: HOUR + COUNTING_PERIOD }),
      logIn({ userAgent: 'another' }),
      logIn({ address: '192.0.2.0/24' }),
      logIn({ userAgent: null }),
      logIn({ kind: 'registered' }),
      logIn({ kind: 'session-ended', reason: 'evicted' }),
      logIn({ kind: 'session-ended', reason: 'evicted' }),
    ];
    for (const event of [first, logIn(), ...others, last, logIn({ userId: otherUser })]) await events.add([event]);
    expect(await listAll(events, owner)).toStrictEqual([...others.toReversed(), { ...last, id: first.id, count: 3 }]);
    expect(await listAll(events, otherUser)).toMatchObject([{ count: 1 }]);
    await raced([events, another.events], 40, (instance) => instance.add([logIn({ ...NOWHERE })]));
    const [nowhere, ...before] = await listAll(events, owner);
    expect([nowhere?.count, before.length]).toEqual([40, others.length + 1]);
  });

  it('keeps a thousand events of a user, or a few more, and lets many of one kind push out none of another', async (given) => {
    const { events, owner, otherUser } = given;
    const rare = [
      ...series(owner, 3, { kind: 'password-changed' }),
      ...series(owner, 2, { kind: 'session-ended', reason: 'token-replayed' }),
    ];
    const ofOther = series(otherUser, 2);
    const flood = series(owner, 1_300, { kind: 'session-ended', reason: 'evicted' });
    await events.add([...rare, ...flood.slice(0, 800), ...ofOther]);
    for (const [from, to] of [
      [800, 1_200],
      [1_200, 1_299],
      [1_299, 1_300],
    ] as const) {
      await events.add(flood.slice(from, to));
      const kept = await listAll(events, owner);
      expect(kept).toStrictEqual([...rare, ...flood.slice(rare.length - kept.length + to, to)].toReversed());
      expect(kept.length).toBeGreaterThanOrEqual(EVENTS_KEPT);
      expect(kept.length).toBeLessThanOrEqual(EVENTS_KEPT + 100);
    }
    expect(await listAll(events, otherUser)).toStrictEqual(ofOther.toReversed());
  });

  it('knows whether a user has logged in on a device', async ({ events, owner, otherUser }) => {
    const { userAgent, address } = ORIGIN;
    const knows = (device: Pick<AccountEvent, 'userAgent' | 'address'> = { userAgent, address }, user = owner) =>
      events.knowsDevice(user, device);
    await events.add([anEvent({ userId: owner, kind: 'password-changed', ...ORIGIN })]);
    await events.add([refusals({ userId: owner })]);
    expect(await knows()).toBe(false);
    await events.add([anEvent({ userId: owner, kind: 'logged-in', ...ORIGIN })]);
    expect(await knows()).toBe(true);
    for (const other of [
      { userAgent: 'another', address },
      { userAgent, address: '192.0.2.0/24' },
      { userAgent: null, address },
      { userAgent, address: null },
      { userAgent: null, address: null },
    ])
      expect(await knows(other), JSON.stringify(other)).toBe(false);
    expect(await knows(undefined, otherUser)).toBe(false);
    await events.add([anEvent({ userId: otherUser, kind: 'registered', ...NOWHERE })]);
    expect(await knows({ userAgent: null, address: null }, otherUser)).toBe(true);
  });

  it('counts the events of a kind since a time', async ({ events, owner, otherUser }) => {
    const asked = { kind: 'password-reset-requested' } as const;
    await events.add([...series(owner, 5, asked), anEvent({ userId: owner, at: NOW + 9 })]);
    await events.add(series(otherUser, 3, asked));
    const count = (since: number) => events.countSince(owner, asked.kind, since);
    expect([await count(0), await count(NOW + 2), await count(NOW + 4), await count(NOW + 5)]).toEqual([5, 3, 1, 0]);
  });
};

const removing = ({ it }: Tests<GivenStorage>): void => {
  it('purges events from before a time, at most as many as it is asked to, the oldest first, each once', async (given) => {
    const { events, another, owner, otherUser } = given;
    // Not in the order of their ids.
    await events.add([...series(owner, 6), ...series(otherUser, 6)].toReversed());
    const left = async () =>
      [...(await listAll(events, owner)), ...(await listAll(events, otherUser))].map(({ at }) => at - NOW);
    expect(await events.purge(NOW + 4, 3)).toBe(3);
    expect((await left()).filter((age) => age === 0)).toEqual([]);
    expect((await left()).filter((age) => age > 1)).toHaveLength(8);
    expect([await events.purge(NOW + 4, 100), await events.purge(NOW + 4, 100)]).toEqual([5, 0]);
    expect(await left()).toEqual([5, 4, 5, 4]);

    await events.add(series(owner, 60, { at: NOW }));
    const purged = await raced([events, another.events], 8, (instance) => instance.purge(NOW + 1, 5));
    const rest = await events.purge(NOW + 1, 1_000);
    expect(purged.reduce((sum, count) => sum + count, rest)).toBe(60);
    expect(Math.max(...purged)).toBeLessThanOrEqual(5);
  });

  it('hands out each event of an operator once, the earliest first, also when two instances ask and the user is deleted', async (given) => {
    const { events, another, users, owner, otherUser } = given;
    const ofOperators = [
      anEvent({ userId: owner, actor: 'Ünna', ...ORIGIN }),
      anEvent({ userId: otherUser, kind: 'session-ended', reason: 'operator', actor: 'Bo' }),
      anEvent({ userId: owner, kind: 'deleted', actor: 'Ünna' }),
    ];
    // Those of earlier tests: they outlive their users.
    await events.takeOperated(1_000);
    await events.add([...ofOperators.slice(0, 2), anEvent({ userId: owner })]);
    await events.add(ofOperators.slice(2));
    await users.remove(owner);
    expect(await events.takeOperated(2)).toStrictEqual(ofOperators.slice(0, 2));
    expect(await events.takeOperated(2)).toStrictEqual(ofOperators.slice(2));
    expect(await events.takeOperated(2)).toEqual([]);
    expect(await listAll(events, otherUser)).toStrictEqual(ofOperators.slice(1, 2));
    const many = series(otherUser, 40, { actor: 'Bo' });
    await events.add(many);
    const taken = await raced([events, another.events], 8, (instance) => instance.takeOperated(3));
    const ids = idsOf([...taken.flat(), ...(await events.takeOperated(100))]);
    expect(ids.toSorted()).toEqual(idsOf(many));
    expect(Math.max(...taken.map(({ length }) => length))).toBeLessThanOrEqual(3);
  });
};
