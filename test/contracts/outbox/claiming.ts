import { expect } from 'vitest';
import { MESSAGE_KINDS, type Message } from '../../../src/domain/message.ts';
import { aMessage, anId, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth } from '../two-instances.ts';
import { aRequest, claim, type GivenMessages, idsOf, LEASE, ORIGIN, series } from './store.ts';

export const claiming = ({ it }: Tests<GivenMessages>): void => {
  it('claims messages whose time has come, the oldest first, at most as many as it is asked to', async (given) => {
    const { repository: outbox, owner } = given;
    const messages = series(owner, 5);
    await outbox.add(messages.toReversed());
    expect(await claim(outbox, NOW - 1)).toEqual([]);
    const [first, second, third] = [
      await claim(outbox, NOW + 3, 2),
      await claim(outbox, NOW + 3, 100),
      await claim(outbox, NOW + 4, 100),
    ];
    expect([first, second, third].map(idsOf)).toEqual([
      idsOf(messages.slice(0, 2)),
      idsOf(messages.slice(2, 4)),
      idsOf(messages.slice(4)),
    ]);
  });

  it('claims messages that may wait only if they were due at the last poll', async ({ repository: outbox, owner }) => {
    const [before, urgent] = [aRequest({ createdAt: NOW }), aMessage({ userId: owner, createdAt: NOW + 2 })];
    const [after, ...others] = [
      aRequest({ kind: 'email-verification-request', createdAt: NOW + 1 }),
      aMessage({ kind: 'email-verification', userId: owner, createdAt: NOW + 1 }),
      aMessage({ kind: 'address-taken', userId: owner, createdAt: NOW + 1 }),
    ];
    await outbox.add([before, urgent, after, ...others]);
    const claimAt = (lastPolledAt: number) =>
      outbox.claim({ now: NOW + 2, lastPolledAt, until: NOW + LEASE, limit: 100 });
    expect(idsOf(await claimAt(NOW))).toEqual(idsOf([before, urgent]));
    await outbox.postpone(urgent.id, NOW + 2);
    expect(await claimAt(NOW)).toEqual([]);
    expect(idsOf(await claimAt(NOW + 1))).toEqual(idsOf([after, ...others]));
    expect(await claimAt(NOW + 2)).toStrictEqual([{ ...urgent, attempts: 2 }]);
  });

  it('claims a message as it was added', async ({ repository: outbox, owner }) => {
    const messages = MESSAGE_KINDS.map((kind, at) =>
      aMessage({
        kind,
        userId: at % 2 ? owner : null,
        to: `${at}@example.org`,
        email: at % 3 ? null : 'Ü',
        locale: at % 2 ? 'de-AT' : null,
        wasVerified: at % 4 === 0,
        origin: ORIGIN,
      }),
    );
    await outbox.add([]);
    await outbox.add(messages);
    const claimed = await claim(outbox);
    const byId = (a: Message, b: Message) => (a.id < b.id ? -1 : 1);
    expect(claimed.sort(byId)).toStrictEqual(messages.map((message) => ({ ...message, attempts: 1 })));
  });

  it('claims each message for one of several instances, until the lease ends', async ({ repository, owner, hook }) => {
    const another = await hook('another')();
    const messages = series(owner, 60);
    await repository.add(messages);
    const claimed = await atBoth(another, repository, (outbox) =>
      Promise.all(Array.from({ length: 4 }, () => claim(outbox, NOW + 60, 10))),
    );
    const rest = await claim(repository, NOW + 60);
    expect(idsOf([...claimed.flat(2), ...rest])).toEqual(idsOf(messages));
    expect(await claim(another, NOW + 60 + LEASE - 1)).toEqual([]);
    expect(idsOf(await claim(another, NOW + 60 + LEASE))).toEqual(idsOf(messages));
  });

  it('counts the attempts of a message', async ({ repository: outbox, owner }) => {
    const [message, other] = [aMessage({ userId: owner }), aMessage({ userId: owner, createdAt: NOW + 3 * LEASE })];
    await outbox.add([message, other]);
    for (const attempts of [1, 2, 3]) {
      expect(await claim(outbox, NOW + (attempts - 1) * LEASE)).toStrictEqual([{ ...message, attempts }]);
    }
    await outbox.remove([message.id]);
    expect(await claim(outbox, NOW + 3 * LEASE)).toStrictEqual([{ ...other, attempts: 1 }]);
  });

  it('claims a message again at the time to which it was postponed', async ({ repository: outbox, owner }) => {
    const [early, late] = [aMessage({ userId: owner }), aMessage({ userId: owner })];
    await outbox.add([early, late]);
    await claim(outbox);
    await outbox.postpone(early.id, NOW + 10);
    await outbox.postpone(late.id, NOW + 2 * LEASE);
    await outbox.postpone(anId(), NOW);
    expect(await claim(outbox, NOW + 9)).toEqual([]);
    expect(await claim(outbox, NOW + 10)).toStrictEqual([{ ...early, attempts: 2 }]);
    await outbox.postpone(early.id, NOW + 3 * LEASE);
    expect(await claim(outbox, NOW + 2 * LEASE - 1)).toEqual([]);
    // The one whose time came first, not the one that was added first.
    expect(await claim(outbox, NOW + 3 * LEASE, 1)).toStrictEqual([{ ...late, attempts: 2 }]);
    expect(await claim(outbox, NOW + 3 * LEASE, 1)).toStrictEqual([{ ...early, attempts: 3 }]);
  });
};
