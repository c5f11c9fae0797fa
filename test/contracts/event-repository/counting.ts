import { expect } from 'vitest';
import { type AccountEvent, COUNTING_PERIOD, EVENTS_KEPT } from '../../../src/domain/event.ts';
import { anEvent, anId, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth } from '../two-instances.ts';
import { type GivenEvents, HOUR, listAll, NOWHERE, ORIGIN, refusals, series } from './store.ts';

export const counting = ({ it }: Tests<GivenEvents>): void => {
  it('adds refused log-ins of one hour to one event', async (given) => {
    const { repository, owner, otherUser, anotherIfAny } = given;
    const [first, last] = [
      refusals({ userId: owner, at: HOUR, count: 3, ...NOWHERE }),
      refusals({ userId: owner, at: HOUR + COUNTING_PERIOD - 1, count: 4 }),
    ];
    const next = refusals({ userId: owner, at: HOUR + COUNTING_PERIOD });
    const ofOther = refusals({ userId: otherUser });
    await repository.add([anEvent({ userId: owner, at: HOUR })]);
    await repository.add([first, last, next, ofOther]);
    const refused = async () => (await listAll(repository, owner)).filter(({ kind }) => kind === 'login-refused');
    expect(await refused()).toStrictEqual([next, { ...last, id: first.id, count: 7 }]);
    expect(await listAll(repository, otherUser)).toStrictEqual([ofOther]);
    await atBoth(await anotherIfAny(), repository, (events) =>
      Promise.all(Array.from({ length: 20 }, () => events.add([refusals({ userId: owner, count: 2 })]))),
    );
    expect((await refused()).map(({ count }) => count)).toEqual([1, 7 + 80]);
  });

  it('adds log-ins on one device within an hour to one event', async ({
    repository,
    owner,
    otherUser,
    anotherIfAny,
  }) => {
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
    for (const event of [first, logIn(), ...others, last, logIn({ userId: otherUser })]) await repository.add([event]);
    expect(await listAll(repository, owner)).toStrictEqual([
      ...others.toReversed(),
      { ...last, id: first.id, count: 3 },
    ]);
    expect(await listAll(repository, otherUser)).toMatchObject([{ count: 1 }]);
    await atBoth(await anotherIfAny(), repository, (events) =>
      Promise.all(Array.from({ length: 20 }, () => events.add([logIn({ ...NOWHERE })]))),
    );
    const [nowhere, ...before] = await listAll(repository, owner);
    expect([nowhere?.count, before.length]).toEqual([40, others.length + 1]);
  });

  it('keeps a thousand events of a user, or a few more, and lets many of one kind push out none of another', async (given) => {
    const { repository, owner, otherUser } = given;
    const rare = [
      ...series(owner, 3, { kind: 'password-changed' }),
      ...series(owner, 2, { kind: 'session-ended', reason: 'token-replayed' }),
    ];
    const ofOther = series(otherUser, 2);
    const flood = series(owner, 1_300, { kind: 'session-ended', reason: 'evicted' });
    await repository.add([...rare, ...flood.slice(0, 800), ...ofOther]);
    for (const [from, to] of [
      [800, 1_200],
      [1_200, 1_299],
      [1_299, 1_300],
    ]) {
      await repository.add(flood.slice(from, to));
      const kept = await listAll(repository, owner);
      expect(kept).toStrictEqual([...rare, ...flood.slice(rare.length - kept.length + (to ?? 0), to)].toReversed());
      expect(kept.length).toBeGreaterThanOrEqual(EVENTS_KEPT);
      expect(kept.length).toBeLessThanOrEqual(EVENTS_KEPT + 100);
    }
    expect(await listAll(repository, otherUser)).toStrictEqual(ofOther.toReversed());
  });

  it('knows whether a user has logged in on a device', async ({ repository, owner, otherUser }) => {
    const { userAgent, address } = ORIGIN;
    const knows = (device = { userAgent, address } as Pick<AccountEvent, 'userAgent' | 'address'>, user = owner) =>
      repository.knowsDevice(user, device);
    expect(await knows()).toBe(false);
    await repository.add([anEvent({ userId: owner, kind: 'password-changed', ...ORIGIN })]);
    await repository.add([refusals({ userId: owner })]);
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
