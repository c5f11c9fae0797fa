import { describe, expect, it } from 'vitest';
import { storageWithListeners } from '../../../src/adapters/records/storage.ts';
import {
  addMessages,
  admitMail,
  claimMessages,
  deleteMessages,
  identifyMessage,
  messagesOf,
  postponeMessage,
  REQUESTS_PER_NETWORK,
  REQUESTS_WAITING,
  waitingMessages,
} from '../../../src/application/storage/outbox.ts';
import type { Records } from '../../../src/application/storage/records.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { dueAt, MESSAGE_KINDS, type Message } from '../../../src/domain/message.ts';
import { aMessage, anId, NOW } from '../../support/builders.ts';
import { storageOfTwo } from '../../support/storage/two-users.ts';

const LEASE = 60_000;

/** A request of somebody who is not logged in. */
const aRequest = (given: Partial<Message> = {}): Message =>
  aMessage({ kind: 'password-reset-request', userId: null, ...given });
const fromNetwork = (network: number, at: number) =>
  aRequest({ to: `${network}.${at}@example.org`, origin: { ...NO_ORIGIN, address: `network ${network}` } });
/** As many of each network as may wait. */
const fromManyNetworks = (count: number) =>
  Array.from({ length: count }, (_, at) => fromNetwork(Math.floor(at / REQUESTS_PER_NETWORK), at));
const claim = (records: Records, now = NOW, limit = 100) => claimMessages(records, { now, until: now + LEASE, limit });
const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id).toSorted();
const countOf = async (records: Records) => (await waitingMessages(records)).count;

describe('messages', () => {
  it('are claimed as they were added, those due first before others, as many as the sender asks for', async () => {
    const { owner, ...stores } = await storageOfTwo();
    const messages = MESSAGE_KINDS.filter((kind) => dueAt({ kind, createdAt: 0 }) === 0).map((kind, at) =>
      aMessage({ kind, userId: at % 2 ? owner : null, to: `${at}@example.org`, createdAt: NOW + at }),
    );
    await addMessages(stores, messages.toReversed());
    expect(await waitingMessages(stores.records)).toMatchObject({ count: messages.length });
    expect(await claim(stores.records, NOW - 1)).toEqual([]);
    const [first, rest] = [await claim(stores.records, NOW + 3, 2), await claim(stores.records, NOW + 100)];
    expect(first).toStrictEqual(messages.slice(0, 2).map((message) => ({ ...message, attempts: 1 })));
    expect(idsOf(rest)).toEqual(idsOf(messages.slice(2)));
    expect(await claim(stores.records, NOW + 100)).toEqual([]);
    expect(await claim(stores.records, NOW + 3 + LEASE)).toMatchObject([{ attempts: 2 }, { attempts: 2 }]);
  });

  it('that may wait are claimed only if they were due at the last poll', async () => {
    const { owner, ...stores } = await storageOfTwo();
    const [before, urgent] = [aRequest({ createdAt: NOW }), aMessage({ userId: owner, createdAt: NOW + 2 })];
    const others = [
      aRequest({ kind: 'email-verification-request', createdAt: NOW + 1 }),
      aMessage({ kind: 'email-verification', userId: owner, createdAt: NOW + 1 }),
      aMessage({ kind: 'address-taken', userId: owner, createdAt: NOW + 1 }),
    ];
    await addMessages(stores, [before, urgent, ...others]);
    const claimAt = (lastPolledAt: number) =>
      claimMessages(stores.records, { now: NOW + 2, lastPolledAt, until: NOW + LEASE, limit: 100 });
    expect(idsOf(await claimAt(NOW))).toEqual(idsOf([before, urgent]));
    await postponeMessage(stores.records, urgent.id, NOW + 2);
    expect(await claimAt(NOW)).toEqual([]);
    expect(idsOf(await claimAt(NOW + 1))).toEqual(idsOf(others));
    expect(await claimAt(NOW + 2)).toStrictEqual([{ ...urgent, attempts: 2 }]);
  });

  it('are claimed again at the time to which they were postponed, named, listed by their user, and removed', async () => {
    const { owner, otherUser, ...stores } = await storageOfTwo();
    const { records } = stores;
    const [request, late] = [aRequest(), aMessage({ userId: otherUser })];
    await addMessages(stores, [request, late]);
    await claim(records);
    await postponeMessage(records, request.id, NOW + 10);
    await postponeMessage(records, late.id, NOW + 2 * LEASE);
    expect([await claim(records, NOW + 9), idsOf(await claim(records, NOW + 10))]).toEqual([[], [request.id]]);
    const identity = { kind: 'password-reset', userId: owner } as const;
    expect(await identifyMessage(records, anId(), identity)).toBe(false);
    expect(await identifyMessage(records, request.id, identity)).toBe(true);
    expect(await messagesOf(records, owner)).toStrictEqual([{ ...request, ...identity, attempts: 2 }]);
    await deleteMessages(records, [request.id, anId()]);
    expect([await messagesOf(records, owner), await countOf(records)]).toEqual([[], 1]);
  });
});

describe('requests', () => {
  it('are kept once for each kind and address, until they are claimed', async () => {
    const stores = await storageOfTwo();
    const kept = [aRequest(), aRequest({ kind: 'email-verification-request' }), aRequest({ to: 'other@example.org' })];
    await addMessages(stores, [...kept, aRequest({ createdAt: NOW - 1 })]);
    expect(idsOf(await claim(stores.records))).toEqual(idsOf(kept));
    // What was claimed is being answered.
    await addMessages(stores, [aRequest(), aRequest()]);
    expect(await countOf(stores.records)).toBe(kept.length + 1);
  });

  it('are bounded, of one network and of all, and the sender is told when half of them wait', async () => {
    const wakings: boolean[] = [];
    const stores = storageWithListeners(await storageOfTwo(), { onMessages: (isForAll) => wakings.push(isForAll) });
    const { records } = stores;
    await addMessages(
      stores,
      [...Array(REQUESTS_PER_NETWORK + 3).keys()].map((at) => fromNetwork(0, at)),
    );
    expect(await countOf(records)).toBe(REQUESTS_PER_NETWORK);
    const requests = fromManyNetworks(REQUESTS_WAITING + 3);
    await addMessages(stores, requests.slice(REQUESTS_PER_NETWORK, REQUESTS_WAITING / 2));
    expect([await countOf(records), wakings]).toEqual([REQUESTS_WAITING / 2, []]);
    await addMessages(stores, requests.slice(REQUESTS_WAITING / 2));
    expect([await countOf(records), wakings]).toEqual([REQUESTS_WAITING, [true]]);
    await addMessages(stores, [aMessage({ userId: null })]);
    expect(await countOf(records)).toBe(REQUESTS_WAITING + 1);
    // What is claimed makes room.
    await claim(records, NOW, 2);
    await addMessages(stores, [fromNetwork(-1, 0)]);
    expect(await countOf(records)).toBe(REQUESTS_WAITING + 2);
  });
});

it('a mailbox gets as many mails at once as the burst, and then one in each interval', async () => {
  const { records } = await storageOfTwo();
  const admitted = async (count: number, given: object = {}) => {
    const ask = () => admitMail(records, { mailbox: 'a', now: NOW, burst: 2, interval: 1_000, ...given });
    return (await Promise.all(Array.from({ length: count }, ask))).filter(Boolean).length;
  };
  expect([await admitted(5), await admitted(5, { burst: 3 })]).toEqual([2, 1]);
  // Three were admitted, so the fourth is the one after two intervals.
  expect([await admitted(5, { now: NOW + 1_999 }), await admitted(5, { now: NOW + 2_000 })]).toEqual([0, 1]);
  expect([await admitted(5, { now: NOW + 100_000 }), await admitted(5, { mailbox: 'b' })]).toEqual([2, 2]);
});
