import { expect } from 'vitest';
import type { EventRepository, Refusals } from '../../src/application/ports/event-repository.ts';
import { type AccountEvent, EVENT_KINDS, REFUSALS_PERIOD, SESSION_ENDINGS } from '../../src/domain/event.ts';
import { anEvent, anId, NOW } from '../support/builders.ts';
import { expectTranslated, rejection } from './hooks.ts';
import { type GivenRecords, givenRecords, type RecordsStore } from './records/store.ts';
import { prepared, type Tests, vitestSuite } from './suite.ts';
import { atBoth } from './two-instances.ts';

export type EventStore = RecordsStore<EventRepository>;
type Given = GivenRecords<EventRepository>;

/** The start of a period. */
const HOUR = NOW - (NOW % REFUSALS_PERIOD);
const ORIGIN = { requestId: anId(), userAgent: 'Mozilla/5.0 (“Ünïcode” / 1)', address: '203.0.113.0/24' };
const NOWHERE = { requestId: null, userAgent: null, address: null };

const refusals = (given: Partial<Refusals>): Refusals => ({
  id: anId(),
  userId: anId(),
  at: HOUR,
  count: 1,
  ...ORIGIN,
  ...given,
});
const listAll = (events: EventRepository, userId: string): Promise<AccountEvent[]> =>
  events.list({ userId, before: null, limit: 1_000 });
/** Events of one user, each a millisecond after the one before. */
const series = (userId: string, count: number, given: Partial<AccountEvent> = {}): AccountEvent[] =>
  Array.from({ length: count }, (_, at) => anEvent({ userId, at: NOW + at, ...given }));

const listing = ({ it }: Tests<Given>): void => {
  it('lists the events of one user, the latest first', async ({ repository, owner, otherUser }) => {
    const events = [
      ...EVENT_KINDS.map((kind) => anEvent({ userId: owner, kind, ...ORIGIN })),
      ...SESSION_ENDINGS.map((reason) =>
        anEvent({ userId: owner, kind: 'session-ended', sessionId: anId(), reason, ...NOWHERE }),
      ),
    ];
    await repository.add([]);
    await repository.add(events.slice(0, 1));
    await repository.add([...events.slice(1), anEvent({ userId: otherUser })]);
    expect(await listAll(repository, owner)).toStrictEqual(events.toReversed());
    const [returned] = await listAll(repository, owner);
    Object.assign(returned ?? {}, { kind: 'registered', at: 0 });
    expect(await listAll(repository, owner)).toStrictEqual(events.toReversed());
  });

  it('continues a list after the last event of the page before', async ({ repository, owner }) => {
    // All at the same time: the ids decide.
    const events = series(owner, 25, { at: NOW }).toReversed();
    await repository.add(events);
    const pages: AccountEvent[][] = [];
    for (let before: string | null = null; pages.length < 10; ) {
      const page = await repository.list({ userId: owner, before, limit: 10 });
      if (page.length === 0) break;
      pages.push(page);
      before = page.at(-1)?.id ?? null;
    }
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(pages.flat()).toStrictEqual(events);
  });

  it('lists nothing of another user', async ({ repository, owner, otherUser, stranger }) => {
    const [own, others] = [series(owner, 2), series(otherUser, 2)];
    await repository.add([...own, ...others]);
    for (const id of [stranger, own[0]?.id ?? '', '', 'no id', '\0']) expect(await listAll(repository, id)).toEqual([]);
    // Also when the cursor is an event of another user.
    const page = await repository.list({ userId: owner, before: others[1]?.id ?? null, limit: 10 });
    expect(page).toStrictEqual(own.toReversed());
  });

  it('ignores an event of an unknown user, and adds those of others', async ({ repository, owner, stranger }) => {
    const own = anEvent({ userId: owner });
    await repository.add([anEvent({ userId: stranger }), own]);
    expect(await listAll(repository, stranger)).toEqual([]);
    expect(await listAll(repository, owner)).toStrictEqual([own]);
  });

  it('loses the events of a user who is deleted', async ({ repository, store, owner, otherUser }) => {
    const ofOther = series(otherUser, 2);
    await repository.add([...series(owner, 2), ...ofOther]);
    await store.deleteUser(owner);
    expect(await listAll(repository, owner)).toEqual([]);
    expect(await repository.countSince(owner, 'logged-in', 0)).toBe(0);
    expect(await listAll(repository, otherUser)).toStrictEqual(ofOther.toReversed());
  });
};

const counting = ({ it }: Tests<Given>): void => {
  it('adds refused log-ins of one hour to one event', async (given) => {
    const { repository, owner, otherUser, anotherIfAny } = given;
    const [first, last] = [
      refusals({ userId: owner, at: HOUR, count: 3, ...NOWHERE }),
      refusals({ userId: owner, at: HOUR + REFUSALS_PERIOD - 1, count: 4 }),
    ];
    const next = refusals({ userId: owner, at: HOUR + REFUSALS_PERIOD });
    const ofOther = refusals({ userId: otherUser });
    await repository.add([anEvent({ userId: owner, at: HOUR })]);
    await repository.addRefusals([first, last, next, ofOther]);
    const expected = { kind: 'login-refused', sessionId: null, reason: null };
    const refused = async () => (await listAll(repository, owner)).filter(({ kind }) => kind === 'login-refused');
    expect(await refused()).toStrictEqual([
      { ...next, ...expected },
      { ...last, ...expected, id: first.id, count: 7 },
    ]);
    expect(await listAll(repository, otherUser)).toStrictEqual([{ ...ofOther, ...expected }]);
    await atBoth(await anotherIfAny(), repository, (events) =>
      Promise.all(Array.from({ length: 20 }, () => events.addRefusals([refusals({ userId: owner, count: 2 })]))),
    );
    expect((await refused()).map(({ count }) => count)).toEqual([1, 7 + 80]);
  });

  it('ignores refused log-ins of a user who does not exist any more', async ({ repository, owner, stranger }) => {
    await repository.addRefusals([refusals({ userId: stranger }), refusals({ userId: owner })]);
    expect(await listAll(repository, stranger)).toEqual([]);
    expect(await listAll(repository, owner)).toHaveLength(1);
  });

  it('knows whether a user has logged in on a device', async ({ repository, owner, otherUser }) => {
    const { userAgent, address } = ORIGIN;
    const knows = (device = { userAgent, address } as Pick<AccountEvent, 'userAgent' | 'address'>, user = owner) =>
      repository.knowsDevice(user, device);
    expect(await knows()).toBe(false);
    await repository.add([anEvent({ userId: owner, kind: 'password-changed', ...ORIGIN })]);
    await repository.addRefusals([refusals({ userId: owner })]);
    expect(await knows()).toBe(false);
    await repository.add([anEvent({ userId: owner, kind: 'logged-in', ...ORIGIN })]);
    expect(await knows()).toBe(true);
    for (const other of [
      { userAgent: 'another', address },
      { userAgent, address: '192.0.2.0/24' },
      { userAgent: null, address },
      { userAgent, address: null },
      { userAgent: null, address: null },
    ]) {
      expect(await knows(other), JSON.stringify(other)).toBe(false);
    }
    expect(await knows(undefined, otherUser)).toBe(false);
    await repository.add([anEvent({ userId: otherUser, kind: 'registered', ...NOWHERE })]);
    expect(await knows({ userAgent: null, address: null }, otherUser)).toBe(true);
  });

  it('counts the events of a kind since a time', async ({ repository, owner, otherUser }) => {
    const asked = { kind: 'password-reset-requested' } as const;
    await repository.add([...series(owner, 5, asked), anEvent({ userId: owner, at: NOW + 9 })]);
    await repository.add(series(otherUser, 3, asked));
    const count = (since: number) => repository.countSince(owner, asked.kind, since);
    expect([await count(0), await count(NOW + 2), await count(NOW + 4), await count(NOW + 5)]).toEqual([5, 3, 1, 0]);
  });
};

const purging = ({ it }: Tests<Given>): void => {
  it('purges events from before a time, at most as many as it is asked to, the oldest first', async (given) => {
    const { repository, owner, otherUser } = given;
    const events = [...series(owner, 6), ...series(otherUser, 6)];
    // Not in the order of their ids.
    await repository.add(events.toReversed());
    const left = async () =>
      [...(await listAll(repository, owner)), ...(await listAll(repository, otherUser))].map(({ at }) => at - NOW);
    expect(await repository.purge(NOW + 4, 3)).toBe(3);
    expect((await left()).filter((age) => age === 0)).toEqual([]);
    expect((await left()).filter((age) => age > 1)).toHaveLength(8);
    expect([await repository.purge(NOW + 4, 100), await repository.purge(NOW + 4, 100)]).toEqual([5, 0]);
    expect(await left()).toEqual([5, 4, 5, 4]);
  });

  it('purges each event once when two instances purge', async ({ repository, owner, hook }) => {
    const another = await hook('another')();
    await repository.add(series(owner, 60));
    const purged = await atBoth(another, repository, (events) =>
      Promise.all(Array.from({ length: 4 }, () => events.purge(NOW + 1_000, 5))),
    );
    const rest = await repository.purge(NOW + 1_000, 1_000);
    expect(purged.flat().reduce((sum, count) => sum + count, rest)).toBe(60);
    expect(Math.max(...purged.flat())).toBeLessThanOrEqual(5);
  });
};

const failing = ({ it }: Tests<Given>): void => {
  it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
    const { repository, owner, hook } = given;
    const event = anEvent({ userId: owner, ...ORIGIN });
    await repository.add([event]);
    const store = await hook('failing')();
    const calls = [
      () => store.add([event]),
      () => store.addRefusals([refusals({ userId: owner })]),
      () => store.list({ userId: owner, before: event.id, limit: 1 }),
      () => store.knowsDevice(owner, ORIGIN),
      () => store.countSince(owner, 'logged-in', 0),
      () => store.purge(NOW + 1, 1),
    ];
    const secrets = [owner, event.id, ORIGIN.requestId, ORIGIN.userAgent, ORIGIN.address];
    for (const call of calls) expectTranslated(await rejection(call()), secrets);
    expect(await listAll(repository, owner)).toStrictEqual([event]);
  });
};

const PARTS = { listing, counting, purging, failing };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes an empty store and the adapter over it, for each test anew.
 */
export const describeEventRepository = (name: string, make: () => Promise<EventStore>, suite = vitestSuite): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenRecords(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as an EventRepository`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
