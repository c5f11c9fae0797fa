import { expect } from 'vitest';
import type { AccountEvent } from '../../../src/domain/event.ts';
import type { Delivery } from '../../../src/domain/webhook.ts';
import { anEvent, aWebhook, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { type GivenStorage, raced } from './given.ts';

const RACERS = 20;

export const webhooks = (tests: Tests<GivenStorage>): void => {
  /** Without the webhooks of earlier tests, which would be told as well. */
  const it: typeof tests.it = (name, test) =>
    tests.it(name, async (given) => {
      for (const { id } of await given.webhooks.list()) await given.webhooks.remove(id);
      await test(given);
    });
  /** Adds a webhook, and events of a user, a millisecond apart. */
  const told = async (given: GivenStorage, events: readonly Partial<AccountEvent>[], webhook = aWebhook()) => {
    await given.webhooks.add(webhook);
    for (const [after, event] of events.entries())
      await given.events.add([anEvent({ userId: given.owner, at: NOW + after, ...event })]);
    return webhook;
  };
  const claim = ({ webhooks }: Pick<GivenStorage, 'webhooks'>, { id }: { readonly id: string }, now = NOW + 100) =>
    webhooks.claim({ webhookId: id, now, until: now + 1_000, limit: 9 });
  const settle = (
    { transactions }: GivenStorage,
    delivery: Delivery,
    outcome: 'delivered' | 'given-up' = 'delivered',
  ) => transactions.run((stores) => stores.webhooks.settle(delivery, outcome, NOW));
  const sequences = (deliveries: readonly Delivery[]) => deliveries.map(({ sequence }) => sequence);
  const one = ([delivery]: readonly Delivery[]): Delivery => delivery ?? expect.unreachable();
  const three = [{}, { kind: 'enabled' }, {}] as const;

  it('lists, changes and removes webhooks, and their deliveries with them', async (given) => {
    const [first, second] = [aWebhook({ types: ['user.deleted'] }), aWebhook({ hasSecret: true })];
    for (const each of [first, second]) await given.webhooks.add(each);
    await told(given, three, aWebhook());
    expect((await given.webhooks.list()).slice(0, 2)).toStrictEqual([first, second]);
    const changed = { ...first, keyNumber: 2, disabledAt: NOW };
    expect(await given.webhooks.change(first.id, { keyNumber: 2, disabledAt: NOW })).toStrictEqual(changed);
    expect(await given.webhooks.change(given.stranger, { keyNumber: 2 })).toBeNull();
    expect(await given.webhooks.remove(second.id)).toBe(true);
    expect(await given.webhooks.remove(second.id)).toBe(false);
    expect(await claim(given, second)).toEqual([]);
    expect((await given.webhooks.list())[0]).toStrictEqual(changed);
  });

  it('adds a delivery for each webhook that subscribes to an event, also to the deletion of its user', async (given) => {
    const all = await told(given, []);
    const some = await told(given, [], aWebhook({ types: ['user.deleted', 'session.ended'] }));
    const disabled = await told(given, [], aWebhook({ disabledAt: NOW }));
    const ended = { kind: 'session-ended', sessionId: 'session 1', reason: 'operator' } as const;
    await told(given, [{ kind: 'login-refused' }, { kind: 'disabled' }, ended], aWebhook({ types: [] }));
    await given.events.add([anEvent({ userId: given.stranger })]);
    await given.transactions.run(async ({ events, users }) => {
      await events.add([anEvent({ userId: given.other.id, kind: 'deleted' })]);
      await users.remove(given.other.id);
    });
    const session = { type: 'session.ended', sessionId: 'session 1', reason: 'operator' };
    expect(await claim(given, all)).toMatchObject([
      { userId: given.other.id, sequence: 1, event: { type: 'user.deleted', sessionId: null, reason: null } },
      { userId: given.owner, sequence: 1, event: { type: 'user.disabled' }, attempts: 1 },
    ]);
    expect(await claim(given, some)).toMatchObject([
      { userId: given.other.id, sequence: 1, event: { type: 'user.deleted' } },
      { userId: given.owner, sequence: 2, event: session },
    ]);
    expect(await claim(given, disabled)).toEqual([]);
    expect(await given.webhooks.waiting()).toEqual({ count: 5, since: NOW });
  });

  it('numbers the events of a user, and hands out one at a time to each webhook, in this order', async (given) => {
    const webhook = await told(given, three);
    for (const sequence of [1, 2, 3]) {
      const claimed = await claim(given, webhook);
      expect(claimed).toMatchObject([{ userId: given.owner, sequence }]);
      expect(await claim(given, webhook)).toEqual([]);
      await settle(given, one(claimed));
    }
    expect(await claim(given, webhook)).toEqual([]);
    await given.events.add([anEvent({ userId: given.owner }), anEvent({ userId: given.other.id })]);
    expect(sequences(await claim(given, webhook)).sort()).toEqual([1, 4]);
  });

  it('goes on with the next event of a user when one is settled or given up, also one that is added meanwhile', async (given) => {
    const webhook = await told(given, [{}]);
    for (let at = 1; at <= RACERS; at += 1) {
      const claimed = await claim(given, webhook);
      expect(sequences(claimed)).toEqual([at]);
      const add = given.transactions.run(({ events }) => events.add([anEvent({ userId: given.owner })]));
      await Promise.all([settle(given, one(claimed), at % 2 === 0 ? 'given-up' : 'delivered'), add]);
    }
    expect(sequences(await claim(given, webhook))).toEqual([RACERS + 1]);
  });

  it('hands out each delivery to one of many, and again when its lease has ended', async (given) => {
    const webhook = await told(given, [{}]);
    const claimed = await raced([given, given.another], RACERS, (instance) => claim(instance, webhook, NOW));
    expect(sequences(claimed.flat())).toEqual([1]);
    expect(await claim(given, webhook, NOW + 999)).toEqual([]);
    expect(await claim(given, webhook, NOW + 1_000)).toMatchObject([{ sequence: 1, attempts: 2 }]);
    await given.webhooks.postpone(one(claimed.flat()), NOW + 5_000);
    expect(await claim(given, webhook, NOW + 4_999)).toEqual([]);
    expect(await claim(given, webhook, NOW + 5_000)).toMatchObject([{ sequence: 1, attempts: 3 }]);
  });

  it('hands out what was given up after a replay, in order', async (given) => {
    const webhook = await told(given, three);
    await settle(given, one(await claim(given, webhook)), 'given-up');
    await given.webhooks.postpone(one(await claim(given, webhook)), NOW + 50_000);
    await given.events.add([anEvent({ userId: given.other.id })]);
    const replay = (after: string) =>
      given.transactions.run((stores) => stores.webhooks.replay(webhook.id, after, NOW + 10));
    expect(await replay('')).toBe(given.owner);
    expect(await replay(given.owner)).toBe(given.other.id);
    expect(await replay(given.other.id)).toBeNull();
    const first = await claim(given, webhook);
    expect(first.map(({ userId, sequence, attempts }) => [userId, sequence, attempts])).toEqual([
      [given.owner, 1, 1],
      [given.other.id, 1, 1],
    ]);
    await settle(given, one(first));
    expect(await claim(given, webhook)).toMatchObject([{ userId: given.owner, sequence: 2, createdAt: NOW + 10 }]);
  });

  it('purges deliveries of events before a time, and goes on with those behind them', async (given) => {
    const webhook = await told(given, [...three, {}]);
    await settle(given, one(await claim(given, webhook)), 'given-up');
    const purge = (before: number) => given.transactions.run((stores) => stores.webhooks.purge(before, 9, NOW + 50));
    expect(await purge(NOW)).toBe(0);
    expect(await purge(NOW + 2)).toBe(2);
    expect(sequences(await claim(given, webhook))).toEqual([3]);
    expect(await given.webhooks.hasAtLeast(webhook.id, 2)).toBe(true);
  });

  it('counts what waits, and knows whether a webhook has too many deliveries', async (given) => {
    expect(await given.webhooks.waiting()).toEqual({ count: 0, since: null });
    const webhook = await told(given, three);
    await settle(given, one(await claim(given, webhook)), 'given-up');
    expect(await given.webhooks.waiting()).toEqual({ count: 2, since: NOW + 1 });
    expect(await given.webhooks.hasAtLeast(webhook.id, 3)).toBe(true);
    expect(await given.webhooks.hasAtLeast(webhook.id, 4)).toBe(false);
  });
};
