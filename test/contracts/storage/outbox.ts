import { expect } from 'vitest';
import { type Outbox, REQUESTS_PER_NETWORK, REQUESTS_WAITING } from '../../../src/application/ports/outbox.ts';
import { MESSAGE_KINDS, type Message } from '../../../src/domain/message.ts';
import { aMessage, anId, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { byId, type GivenStorage, idsOf, ORIGIN, raced } from './given.ts';

const LEASE = 60_000;
const INTERVAL = 1_000;

/** A request of somebody who is not logged in. */
const aRequest = (given: Partial<Message> = {}): Message =>
  aMessage({ kind: 'password-reset-request', userId: null, ...given });
const fromNetwork = (network: number, at: number) =>
  aRequest({ to: `${network}.${at}@example.org`, origin: { ...ORIGIN, address: `network ${network}` } });
/** As many of each network as may wait. */
const fromManyNetworks = (count: number) =>
  Array.from({ length: count }, (_, at) => fromNetwork(Math.floor(at / REQUESTS_PER_NETWORK), at));
const series = (userId: string, count: number): Message[] =>
  Array.from({ length: count }, (_, at) => aMessage({ userId, createdAt: NOW + at }));

const claim = (outbox: Outbox, now = NOW, limit = 100): Promise<Message[]> =>
  outbox.claim({ now, until: now + LEASE, limit });
const sortedIds = (messages: readonly Message[]): string[] => idsOf(messages).sort();
const countOf = async (outbox: Outbox): Promise<number> => (await outbox.waiting()).count;

export const outbox = (tests: Tests<GivenStorage>): void => {
  claiming(tests);
  requesting(tests);
  admitting(tests);
};

const claiming = ({ it }: Tests<GivenStorage>): void => {
  it('claims messages whose time has come, the oldest first, at most as many as it is asked to', async (given) => {
    const { outbox, owner } = given;
    const messages = series(owner, 5);
    await outbox.add(messages.toReversed());
    expect(await claim(outbox, NOW - 1)).toEqual([]);
    const claimed = [
      await claim(outbox, NOW + 3, 2),
      await claim(outbox, NOW + 3, 100),
      await claim(outbox, NOW + 4, 100),
    ];
    const expected = [messages.slice(0, 2), messages.slice(2, 4), messages.slice(4)];
    expect(claimed.map(sortedIds)).toEqual(expected.map(sortedIds));
  });

  it('claims messages that may wait only if they were due at the last poll', async ({ outbox, owner }) => {
    const [before, urgent] = [aRequest({ createdAt: NOW }), aMessage({ userId: owner, createdAt: NOW + 2 })];
    const [after, ...others] = [
      aRequest({ kind: 'email-verification-request', createdAt: NOW + 1 }),
      aMessage({ kind: 'email-verification', userId: owner, createdAt: NOW + 1 }),
      aMessage({ kind: 'address-taken', userId: owner, createdAt: NOW + 1 }),
    ];
    await outbox.add([before, urgent, after, ...others]);
    const claimAt = (lastPolledAt: number) =>
      outbox.claim({ now: NOW + 2, lastPolledAt, until: NOW + LEASE, limit: 100 });
    expect(sortedIds(await claimAt(NOW))).toEqual(sortedIds([before, urgent]));
    await outbox.postpone(urgent.id, NOW + 2);
    expect(await claimAt(NOW)).toEqual([]);
    expect(sortedIds(await claimAt(NOW + 1))).toEqual(sortedIds([after, ...others]));
    expect(await claimAt(NOW + 2)).toStrictEqual([{ ...urgent, attempts: 2 }]);
  });

  it('claims a message as it was added', async ({ outbox, owner }) => {
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
    expect(claimed.sort(byId)).toStrictEqual(messages.map((message) => ({ ...message, attempts: 1 })));
  });

  it('claims each message for one of several instances, until the lease ends', async ({ outbox, another, owner }) => {
    const messages = series(owner, 60);
    await outbox.add(messages);
    const claimed = await raced([outbox, another.outbox], 8, (instance) => claim(instance, NOW + 60, 10));
    const rest = await claim(outbox, NOW + 60);
    expect(sortedIds([...claimed.flat(), ...rest])).toEqual(sortedIds(messages));
    expect(await claim(another.outbox, NOW + 60 + LEASE - 1)).toEqual([]);
    expect(sortedIds(await claim(another.outbox, NOW + 60 + LEASE))).toEqual(sortedIds(messages));
  });

  it('counts the attempts of a message', async ({ outbox, owner }) => {
    const [message, other] = [aMessage({ userId: owner }), aMessage({ userId: owner, createdAt: NOW + 3 * LEASE })];
    await outbox.add([message, other]);
    for (const attempts of [1, 2, 3])
      expect(await claim(outbox, NOW + (attempts - 1) * LEASE)).toStrictEqual([{ ...message, attempts }]);
    await outbox.remove([message.id]);
    expect(await claim(outbox, NOW + 3 * LEASE)).toStrictEqual([{ ...other, attempts: 1 }]);
  });

  it('claims a message again at the time to which it was postponed', async ({ outbox, owner }) => {
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

  it('removes messages', async ({ outbox, owner }) => {
    const [first, kept, third] = [0, 1, 2].map(() => aMessage({ userId: owner })) as [Message, Message, Message];
    await outbox.add([first, kept, third]);
    await outbox.remove([]);
    await outbox.remove([first.id, third.id, anId()]);
    expect(await claim(outbox)).toStrictEqual([{ ...kept, attempts: 1 }]);
    expect(await outbox.identify(first.id, first)).toBe(false);
  });

  it('lists the messages about a user', async ({ outbox, owner, otherUser, stranger }) => {
    const [own, ofOther] = [series(owner, 3), series(otherUser, 1)];
    await outbox.add([...own, ...ofOther, aRequest()]);
    expect((await outbox.listByUser(owner)).sort(byId)).toStrictEqual(own);
    for (const id of [stranger, '', 'no id', '\0']) expect(await outbox.listByUser(id)).toEqual([]);
  });

  it('says how many messages wait, and since when', async ({ outbox, owner }) => {
    expect(await outbox.waiting()).toStrictEqual({ count: 0, since: null });
    const messages = series(owner, 3);
    await outbox.add(messages.toReversed());
    await claim(outbox);
    expect(await outbox.waiting()).toStrictEqual({ count: 3, since: NOW });
    await outbox.remove([messages[0]?.id ?? '']);
    expect(await outbox.waiting()).toStrictEqual({ count: 2, since: NOW + 1 });
  });
};

const requesting = ({ it }: Tests<GivenStorage>): void => {
  it('keeps one request of each kind for an address until it is claimed', async ({ outbox, owner }) => {
    const kept = [aRequest(), aRequest({ kind: 'email-verification-request' }), aRequest({ to: 'other@example.org' })];
    const refused = [aRequest({ createdAt: NOW - 1 }), aRequest({ kind: 'email-verification-request' })];
    const others = [aMessage({ userId: owner }), aMessage({ userId: owner })];
    await outbox.add([...kept, ...refused, ...others]);
    expect(sortedIds(await claim(outbox))).toEqual(sortedIds([...kept, ...others]));
    // What was claimed is being answered.
    const next = aRequest();
    await outbox.add([next, aRequest()]);
    expect(await countOf(outbox)).toBe(kept.length + others.length + 1);
    await outbox.remove([next.id]);
    await outbox.add([aRequest(), aRequest()]);
    expect(await countOf(outbox)).toBe(kept.length + others.length + 1);
  });

  it('keeps one of many requests for an address that come at the same time', async ({ outbox, another }) => {
    await raced([outbox, another.outbox], 60, (instance) => instance.add([aRequest()]));
    expect(await countOf(outbox)).toBe(1);
  });

  it('keeps a bounded number of requests, of one network and of all', async ({ outbox, owner }) => {
    const ofOne = Array.from({ length: REQUESTS_PER_NETWORK + 3 }, (_, at) => fromNetwork(0, at));
    await outbox.add(ofOne);
    expect(await countOf(outbox)).toBe(REQUESTS_PER_NETWORK);
    const requests = fromManyNetworks(REQUESTS_WAITING + 3);
    await outbox.add(requests.slice(REQUESTS_PER_NETWORK));
    expect(await countOf(outbox)).toBe(REQUESTS_WAITING);
    const other = aMessage({ userId: owner });
    await outbox.add([other]);
    expect(await countOf(outbox)).toBe(REQUESTS_WAITING + 1);
    await outbox.remove([ofOne[0]?.id ?? '']);
    const [late, later] = [fromNetwork(-1, 0), fromNetwork(-1, 1)];
    await outbox.add([late, later]);
    // The later ones were dropped.
    const kept = [
      ...ofOne.slice(1, REQUESTS_PER_NETWORK),
      ...requests.slice(REQUESTS_PER_NETWORK, REQUESTS_WAITING),
      other,
      late,
    ];
    expect(sortedIds(await claim(outbox, NOW, 2 * REQUESTS_WAITING))).toEqual(sortedIds(kept));
    expect(await countOf(outbox)).toBe(REQUESTS_WAITING + 1);
    // What was claimed takes no room from its network.
    await outbox.add([fromNetwork(0, -1), fromNetwork(0, -2)]);
    expect(await countOf(outbox)).toBe(REQUESTS_WAITING + 3);
  });

  it('says when half of the requests wait that may', async ({ outbox, owner }) => {
    const half = fromManyNetworks(REQUESTS_WAITING / 2);
    expect(await outbox.add(half.slice(1))).toBe(false);
    expect(await outbox.add(half.slice(0, 1))).toBe(false);
    expect(await outbox.add([fromNetwork(-1, 0)])).toBe(true);
    expect(await outbox.add([aMessage({ userId: owner })])).toBe(false);
    await claim(outbox, NOW, 100);
    expect(await outbox.add([fromNetwork(-1, 1)])).toBe(false);
  });

  it('names the user of a message, once it is known', async ({ outbox, owner, otherUser }) => {
    const request = aRequest({ origin: ORIGIN });
    await outbox.add([request]);
    const identity = { kind: 'password-reset', userId: owner } as const;
    expect(await outbox.identify(request.id, identity)).toBe(true);
    expect(await outbox.identify(anId(), identity)).toBe(false);
    expect(await outbox.listByUser(owner)).toStrictEqual([{ ...request, ...identity }]);
    expect(await outbox.listByUser(otherUser)).toEqual([]);
  });
};

type Asked = { readonly mailbox?: string; readonly now?: number; readonly burst?: number };

const admit = (outbox: Outbox, given: Asked = {}) =>
  outbox.admit({ mailbox: 'a hash', now: NOW, burst: 2, interval: INTERVAL, ...given });

/** How many of so many mails at once are admitted. */
const admitted = async (outboxes: readonly [Outbox, Outbox], count: number, given: Asked = {}): Promise<number> =>
  (await raced(outboxes, count, (outbox) => admit(outbox, given))).filter(Boolean).length;

const admitting = ({ it }: Tests<GivenStorage>): void => {
  it('admits as many mails to a mailbox at once as the burst, and then one in each interval', async (given) => {
    const both = [given.outbox, given.another.outbox] as const;
    expect(await admitted(both, 5)).toBe(2);
    expect(await admitted(both, 5, { burst: 3 })).toBe(1);
    expect(await admitted(both, 60, { mailbox: 'another hash', burst: 7 })).toBe(7);
    // Three were admitted, so the fourth is the one after two intervals.
    expect(await admit(given.outbox, { now: NOW + 2 * INTERVAL - 1 })).toBe(false);
    expect(await admitted(both, 5, { now: NOW + 2 * INTERVAL })).toBe(1);
    expect(await admitted(both, 5, { now: NOW + 100 * INTERVAL })).toBe(2);
  });

  it('purges the counts of mailboxes that may get the whole burst again, and only those', async ({ outbox }) => {
    for (const mailbox of ['a', 'b', 'c']) await admit(outbox, { mailbox });
    await admit(outbox, { mailbox: 'd', now: NOW + 1 });
    expect(await outbox.purge(NOW + INTERVAL - 1, 10)).toBe(0);
    expect(await outbox.purge(NOW + INTERVAL, 2)).toBe(2);
    expect([await outbox.purge(NOW + INTERVAL, 2), await outbox.purge(NOW + INTERVAL, 2)]).toEqual([1, 0]);
    expect(await admitted([outbox, outbox], 5, { mailbox: 'd', now: NOW + INTERVAL })).toBe(1);
  });
};
