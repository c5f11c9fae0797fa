import { describe, expect, it } from 'vitest';
import {
  changeWebhook,
  claimDeliveries,
  deleteWebhook,
  finishDelivery,
  hasDeliveries,
  listWebhooks,
  postponeDelivery,
  purgeDeliveries,
  replayDeliveries,
  waitingDeliveries,
} from '../../../src/application/storage/webhooks.ts';
import type { AccountEvent } from '../../../src/domain/event.ts';
import type { Delivery, Webhook } from '../../../src/domain/webhook.ts';
import { anEvent, aWebhook, NOW } from '../../support/builders.ts';
import { storageOfTwo } from '../../support/storage/two-users.ts';
import { storeEvents } from '../../support/stored-events.ts';

const setUp = async () => {
  const { transactions, owner, ...stores } = await storageOfTwo();
  const { records } = stores;
  const add = (given: Partial<AccountEvent> = {}) => storeEvents(stores, [anEvent({ userId: owner, ...given })]);
  return {
    ...{ ...stores, transactions, owner, add },
    /** Adds a webhook, and events of a user, a millisecond apart. */
    told: async (events: readonly Partial<AccountEvent>[], webhook: Webhook = aWebhook()) => {
      await records.insert('webhooks', webhook);
      for (const [after, event] of events.entries()) await add({ at: NOW + after, ...event });
      return webhook;
    },
    claim: ({ id: webhookId }: Webhook, now = NOW + 100) =>
      claimDeliveries(records, { webhookId, now, until: now + 1_000, limit: 9 }),
    settle: (delivery: Delivery | undefined, outcome: 'delivered' | 'given-up' = 'delivered') =>
      transactions.run((inside) => finishDelivery(inside.records, delivery ?? expect.unreachable(), outcome, NOW)),
  };
};
const THREE = [{}, { kind: 'enabled' }, {}] as const;

it('webhooks are listed as they were added, changed, and removed with their deliveries', async () => {
  const { records, told, claim, stranger } = await setUp();
  const [first, second] = [aWebhook({ types: ['user.deleted'] }), aWebhook({ hasSecret: true })];
  for (const each of [first, second]) await records.insert('webhooks', each);
  await told(THREE);
  const changed = { ...first, keyNumber: 2, disabledAt: NOW };
  expect(await changeWebhook(records, first.id, { keyNumber: 2, disabledAt: NOW })).toStrictEqual(changed);
  expect(await changeWebhook(records, stranger, { keyNumber: 2 })).toBeNull();
  expect((await listWebhooks(records)).slice(0, 2)).toStrictEqual([changed, second]);
  await deleteWebhook(records, second.id);
  expect([await claim(second), (await listWebhooks(records)).length]).toEqual([[], 2]);
});

describe('deliveries', () => {
  it('are added for each webhook that subscribes to an event, also to the deletion of its user', async () => {
    const { transactions, records, owner, otherUser, stranger, told, claim, add } = await setUp();
    const all = await told([]);
    const some = await told([], aWebhook({ types: ['user.deleted', 'session.ended'] }));
    const disabled = await told([], aWebhook({ disabledAt: NOW }));
    const ended = { kind: 'session-ended', sessionId: 'session 1', reason: 'operator' } as const;
    await told([{ kind: 'login-refused' }, { kind: 'disabled' }, ended], aWebhook({ types: [] }));
    await add({ userId: stranger });
    await transactions.run(async (inside) => {
      const kinds = ['unlocked', 'deleted'] as const;
      const events = kinds.map((kind) => anEvent({ userId: otherUser, kind }));
      await storeEvents(inside, events);
      await inside.users.remove(otherUser);
    });
    const deleted = { type: 'user.deleted', sessionId: null, reason: null };
    expect(await claim(all)).toMatchObject([
      { userId: otherUser, sequence: 1, event: deleted },
      { userId: owner, sequence: 1, event: { type: 'user.disabled' }, attempts: 1 },
    ]);
    expect(await claim(some)).toMatchObject([
      { userId: otherUser, sequence: 1, event: deleted },
      { userId: owner, sequence: 2, event: { type: 'session.ended', sessionId: 'session 1', reason: 'operator' } },
    ]);
    expect(await claim(disabled)).toEqual([]);
    expect(await waitingDeliveries(records)).toEqual({ count: 5, since: NOW });
  });

  it('of a user are handed out one at a time, in order, until their lease has ended or they were postponed', async () => {
    const { records, told, claim, settle, add } = await setUp();
    const webhook = await told(THREE);
    for (const sequence of [1, 2]) {
      const claimed = await claim(webhook);
      expect([claimed.map((each) => each.sequence), await claim(webhook)]).toEqual([[sequence], []]);
      await Promise.all([settle(claimed[0], sequence === 1 ? 'given-up' : 'delivered'), add()]);
    }
    const [third = expect.unreachable()] = await claim(webhook, NOW);
    expect(await claim(webhook, NOW + 999)).toEqual([]);
    expect(await claim(webhook, NOW + 1_000)).toMatchObject([{ sequence: 3, attempts: 2 }]);
    await postponeDelivery(records, third, { until: NOW + 5_000, lastError: '503' });
    expect(await claim(webhook, NOW + 4_999)).toEqual([]);
    expect(await claim(webhook, NOW + 5_000)).toMatchObject([{ sequence: 3, attempts: 3 }]);
  });

  it('that were given up are handed out after a replay, in order', async () => {
    const { transactions, records, owner, otherUser, told, claim, settle, add } = await setUp();
    const webhook = await told(THREE);
    await settle((await claim(webhook))[0], 'given-up');
    const [second = expect.unreachable()] = await claim(webhook);
    await postponeDelivery(records, second, { until: NOW + 50_000, lastError: '503' });
    await add({ userId: otherUser });
    const replay = (after: string) =>
      transactions.run((inside) => replayDeliveries(inside.records, webhook.id, after, NOW + 10));
    expect([await replay(''), await replay(owner), await replay(otherUser)]).toEqual([owner, otherUser, null]);
    const first = await claim(webhook);
    expect(first).toMatchObject([
      { userId: owner, sequence: 1, attempts: 1 },
      { userId: otherUser, sequence: 1, attempts: 1 },
    ]);
    await settle(first[0]);
    expect(await claim(webhook)).toMatchObject([{ userId: owner, sequence: 2, createdAt: NOW + 10 }]);
  });

  it('are counted, and purged from before a time, which makes those behind them due', async () => {
    const { transactions, records, told, claim, settle } = await setUp();
    const webhook = await told([...THREE, {}]);
    await settle((await claim(webhook))[0], 'given-up');
    expect(await waitingDeliveries(records)).toEqual({ count: 3, since: NOW + 1 });
    expect([await hasDeliveries(records, webhook.id, 4), await hasDeliveries(records, webhook.id, 5)]).toEqual([
      true,
      false,
    ]);
    const purge = (before: number) => transactions.run((inside) => purgeDeliveries(inside, before, 9, NOW + 50));
    expect([await purge(NOW), await purge(NOW + 2)]).toEqual([0, 2]);
    expect(await claim(webhook)).toMatchObject([{ sequence: 3 }]);
    expect([await purge(NOW + 5), await waitingDeliveries(records)]).toMatchObject([2, { count: 0 }]);
  });
});
