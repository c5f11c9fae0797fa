import { describe, expect, it } from 'vitest';
import { randomSecrets } from '../../../src/adapters/crypto/secrets.ts';
import {
  addEnded,
  addEvents,
  allEvents,
  countEvents,
  eventsOf,
  knowsDevice,
  listEnded,
  takeOperatorEvents,
} from '../../../src/application/storage/events.ts';
import {
  type AccountEvent,
  COUNTING_PERIOD,
  EVENT_KINDS,
  EVENTS_KEPT,
  SESSION_ENDINGS,
} from '../../../src/domain/event.ts';
import { anEnded, anEvent, anId, NOW } from '../../support/builders.ts';
import { storageOfTwo } from '../../support/storage/two-users.ts';

/** The start of a period. */
const HOUR = NOW - (NOW % COUNTING_PERIOD);
const ORIGIN = { requestId: anId(), userAgent: 'Mozilla/5.0 (“Ünïcode” / 1)', address: '203.0.113.0/24' };
const NOWHERE = { requestId: null, userAgent: null, address: null };
const deps = { secrets: randomSecrets };

const setUp = async () => {
  const stores = await storageOfTwo();
  return {
    ...stores,
    add: (...events: readonly AccountEvent[]) => addEvents(deps, stores, events),
    listed: (userId: string) => eventsOf(stores.records, { userId, before: null, limit: 2_000 }),
  };
};
/** Events of one user, each a millisecond after the one before. */
const series = (userId: string, count: number, given: Partial<AccountEvent> = {}): AccountEvent[] =>
  Array.from({ length: count }, (_, at) => anEvent({ userId, at: NOW + at, ...given }));

describe('events', () => {
  it('are listed for one user, the latest first, in pages, without those of unknown users', async () => {
    const { records, owner, otherUser, stranger, add, listed } = await setUp();
    const own = [
      ...EVENT_KINDS.map((kind) => anEvent({ userId: owner, kind, ...ORIGIN })),
      ...SESSION_ENDINGS.map((reason) => anEvent({ userId: owner, kind: 'session-ended', sessionId: anId(), reason })),
      anEvent({ userId: owner, actor: 'Ünna', note: 'gründlich' }),
    ];
    const [ofOther, ofNobody] = [anEvent({ userId: otherUser }), anEvent({ userId: stranger })];
    await add(ofNobody, ...own, ofOther);
    expect(await listed(owner)).toStrictEqual(own.toReversed());
    expect([await listed(otherUser), await listed(stranger)]).toEqual([[ofOther], []]);
    const before = own[10]?.id ?? null;
    const page = await eventsOf(records, { userId: owner, before, limit: 3 });
    expect(page).toStrictEqual(own.slice(7, 10).toReversed());
  });

  it('are listed for all users by their time, also in pages that end between events of one time', async () => {
    const { records, owner, otherUser, add } = await setUp();
    const [early, late] = [series(owner, 3), series(otherUser, 2, { at: NOW + 9 })];
    const tied = [owner, otherUser, owner, owner].map((userId) => anEvent({ userId, at: NOW + 5 }));
    await add(...late, ...early, ...tied);
    for (const limit of [1, 2, 3, 20]) {
      const listed: AccountEvent[] = [];
      for (let page = await allEvents(records, { before: null, limit }); page.length > 0; ) {
        listed.push(...page);
        page = await allEvents(records, { before: listed.at(-1) ?? null, limit });
      }
      expect(listed).toStrictEqual([...early, ...tied, ...late].toReversed());
    }
  });

  it('of refused log-ins in one hour are counted in one, as are log-ins on one device', async () => {
    const { owner, otherUser, add, listed } = await setUp();
    const event = (kind: AccountEvent['kind'], given: Partial<AccountEvent> = {}) =>
      anEvent({ userId: owner, kind, at: HOUR, sessionId: anId(), ...ORIGIN, ...given });
    const [refused, last] = [event('login-refused', { count: 3, ...NOWHERE }), event('login-refused', { count: 4 })];
    const [first, second] = [event('logged-in'), event('logged-in', { at: HOUR + COUNTING_PERIOD - 1 })];
    const others = [
      event('login-refused', { at: HOUR + COUNTING_PERIOD }),
      event('logged-in', { at: HOUR + COUNTING_PERIOD }),
      ...[{ userAgent: 'another' }, { address: '192.0.2.0/24' }, { userAgent: null }].map((device) =>
        event('logged-in', device),
      ),
      ...[event('registered'), event('session-ended', { reason: 'evicted' }), event('session-ended')],
    ];
    for (const each of [refused, last, first, ...others, second, event('logged-in', { userId: otherUser })])
      await add(each);
    expect(await listed(owner)).toStrictEqual([
      ...others.toReversed(),
      { ...second, id: first.id, count: 2 },
      { ...last, id: refused.id, count: 7 },
    ]);
    expect(await listed(otherUser)).toMatchObject([{ count: 1 }]);
  });

  it('are kept a thousand of a user, or a few more, and many of one kind push out none of another', async () => {
    const { owner, otherUser, add, listed } = await setUp();
    const rare = [
      ...series(owner, 3, { kind: 'password-changed' }),
      ...series(owner, 2, { kind: 'session-ended', reason: 'token-replayed' }),
    ];
    const ofOther = series(otherUser, 2);
    const flood = series(owner, 1_300, { kind: 'session-ended', reason: 'evicted' });
    await add(...rare, ...flood.slice(0, 800), ...ofOther);
    for (const [from, to] of [
      [800, 1_200],
      [1_200, 1_299],
      [1_299, 1_300],
    ] as const) {
      await add(...flood.slice(from, to));
      const kept = await listed(owner);
      expect(kept).toStrictEqual([...rare, ...flood.slice(rare.length - kept.length + to, to)].toReversed());
      expect(kept.length).toBeGreaterThanOrEqual(EVENTS_KEPT);
      expect(kept.length).toBeLessThanOrEqual(EVENTS_KEPT + 100);
    }
    expect(await listed(otherUser)).toStrictEqual(ofOther.toReversed());
  });

  it('tell on which devices a user was logged in or registered, and how many there are of a kind', async () => {
    const { records, owner, otherUser, add } = await setUp();
    const { userAgent, address } = ORIGIN;
    const knows = (device: Pick<AccountEvent, 'userAgent' | 'address'> = ORIGIN, user = owner) =>
      knowsDevice(deps, records, user, device);
    const asked = { kind: 'password-reset-requested' } as const;
    await add(...series(owner, 5, { ...asked, ...ORIGIN }), ...series(otherUser, 3, asked));
    await add(anEvent({ userId: owner, kind: 'login-refused', ...ORIGIN }));
    const count = (since: number) => countEvents(records, owner, asked.kind, since);
    expect([await count(0), await count(NOW + 2), await count(NOW + 5)]).toEqual([5, 3, 0]);
    expect(await knows()).toBe(false);
    await add(anEvent({ userId: owner, kind: 'logged-in', ...ORIGIN }));
    expect([await knows(), await knows(ORIGIN, otherUser)]).toEqual([true, false]);
    for (const other of [{ userAgent: 'another', address }, { userAgent, address: null }, NOWHERE])
      expect(await knows(other), JSON.stringify(other)).toBe(false);
    await add(anEvent({ userId: otherUser, kind: 'registered', ...NOWHERE }));
    expect(await knows(NOWHERE, otherUser)).toBe(true);
  });

  it('of operators are handed out once, the earliest first, also when the user is deleted', async () => {
    const { owner, otherUser, add, listed, ...stores } = await setUp();
    const ofOperators = [
      anEvent({ userId: owner, actor: 'Ünna', ...ORIGIN }),
      anEvent({ userId: otherUser, kind: 'session-ended', reason: 'operator', actor: 'Bo' }),
      anEvent({ userId: owner, kind: 'deleted', actor: 'Ünna' }),
    ];
    await add(...ofOperators.slice(0, 2), anEvent({ userId: owner }));
    await add(...ofOperators.slice(2));
    await stores.users.remove(owner);
    expect(await takeOperatorEvents(stores, 2)).toStrictEqual(ofOperators.slice(0, 2));
    expect(await takeOperatorEvents(stores, 2)).toStrictEqual(ofOperators.slice(2));
    expect(await takeOperatorEvents(stores, 2)).toEqual([]);
    expect(await listed(otherUser)).toStrictEqual(ofOperators.slice(1, 2));
  });
});

describe('what has ended', () => {
  it('is listed since a time, the latest first, as much as is asked for', async () => {
    const { records, ...stores } = await setUp();
    const [session, user, first, second] = [0, 1, 3, 3].map((after) => anEnded({ at: NOW + after }));
    if (session === undefined || user === undefined || first === undefined || second === undefined)
      return expect.unreachable();
    for (const each of [second, session, first, user]) await addEnded({ records, ...stores }, each);
    expect(await listEnded(records, NOW, 9)).toStrictEqual([second, first, user, session]);
    expect(await listEnded(records, NOW + 1, 2)).toStrictEqual([second, first]);
    expect(await listEnded(records, NOW + 4, 9)).toEqual([]);
  });

  it('are the sessions that events say ended early, and users who were disabled or deleted, unless they are told as one', async () => {
    const { records, owner, stranger, add, ...stores } = await setUp();
    const ofSession = (reason: (typeof SESSION_ENDINGS)[number], given: Partial<AccountEvent> = {}) =>
      anEvent({ userId: owner, kind: 'session-ended', sessionId: anId(), reason, ...given });
    const ended = SESSION_ENDINGS.map((reason) => ofSession(reason));
    const others = EVENT_KINDS.filter((kind) => !['session-ended', 'disabled', 'deleted'].includes(kind));
    await add(...others.map((kind) => anEvent({ userId: owner, kind, sessionId: anId() })));
    await addEvents(deps, { records, ...stores }, [ofSession('operator')], false);
    const ofOperators = [
      ofSession('account-deleted', { actor: 'Jo' }),
      anEvent({ userId: owner, kind: 'deleted', actor: 'Jo' }),
    ];
    const ofUsers = [
      anEvent({ userId: owner, kind: 'disabled' }),
      anEvent({ userId: stranger, kind: 'deleted' }),
    ] as const;
    await add(...ended, ...ofOperators, ...ofUsers);
    await stores.users.remove(owner);
    const row = ({ sessionId, userId }: AccountEvent, reason: string | null) =>
      JSON.stringify(sessionId === null ? [null, userId, reason] : [sessionId, null, reason]);
    const listed = await listEnded(records, 0, 99);
    expect(listed.map((each) => JSON.stringify([each.sessionId, each.userId, each.reason])).toSorted()).toEqual(
      [
        ...ended.filter(({ reason }) => reason !== 'expired').map((each) => row(each, each.reason)),
        ...ofOperators.map((each) => row(each, 'operator')),
        ...[row(ofUsers[0], 'operator'), row(ofUsers[1], 'account-deleted')],
      ].toSorted(),
    );
  });
});
