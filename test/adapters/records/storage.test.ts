// Proves network-8, mail-9

import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { auditLog } from '../../../src/adapters/log/lines.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { storageWithListeners } from '../../../src/adapters/records/storage.ts';
import { logOperatorEvents } from '../../../src/application/accounts/operate-accounts.ts';
import { addEnded, eventsOf } from '../../../src/application/storage/events.ts';
import { addMessages, REQUESTS_WAITING } from '../../../src/application/storage/outbox.ts';
import type { Stores, Transactions } from '../../../src/application/storage/records.ts';
import { type AccountEvent, NO_ORIGIN, newEvent } from '../../../src/domain/event.ts';
import { MESSAGE_KINDS, type MessageKind } from '../../../src/domain/message.ts';
import { aMessage, aUser, aWebhook, NOW } from '../../support/builders.ts';
import { sequentialIds } from '../../support/sequential-ids.ts';
import { storeEvents } from '../../support/stored-events.ts';

const ids = sequentialIds();
const user = aUser();
const disabled = () => newEvent({ userId: user.id, kind: 'disabled' }, { id: ids.next(), at: NOW, origin: NO_ORIGIN });

const watched = async (wrap = (transactions: Transactions) => transactions) => {
  const storage = memoryStorage();
  await storage.users.add(user);
  const reports: (readonly AccountEvent[])[] = [];
  const wakings: boolean[] = [];
  const [ended, delivering] = [vi.fn(), vi.fn()];
  const listeners = {
    onEvents: (events: readonly AccountEvent[]) => reports.push(events),
    onEnded: ended,
    onMessages: (isForAll: boolean) => wakings.push(isForAll),
    onDeliveries: delivering,
  };
  const watched = storageWithListeners({ ...storage, transactions: wrap(storage.transactions) }, listeners);
  return { ...watched, reports, wakings, ended, delivering };
};
const addDisabled = (stores: Stores) => storeEvents(stores, [disabled()]);
const anEnded = () => ({ id: ids.next(), at: NOW, userId: null, sessionId: null, reason: 'operator' }) as const;

describe('the events of a transaction', () => {
  it('are told once, after they are kept', async () => {
    const { transactions, reports } = await watched();
    await transactions.run(async (stores) => {
      await addDisabled(stores);
      expect(reports).toStrictEqual([]);
    });
    expect(reports).toMatchObject([[{ kind: 'disabled', userId: user.id }]]);
  });

  it('are not told when they were rolled back', async () => {
    const { transactions, reports } = await watched();
    const failing = transactions.run(async (stores) => {
      await addDisabled(stores);
      throw new Error('afterwards');
    });
    await expect(failing).rejects.toThrow('afterwards');
    expect(reports).toStrictEqual([]);
  });

  it.each([
    ['a user is disabled, also by an operator', addDisabled],
    ['an operator ends all sessions', (stores: Stores) => addEnded(stores, anEnded())],
  ])('make the list of ended sessions longer when %s', async (_what, add) => {
    const { transactions, ended } = await watched();
    await transactions.run(async (stores) => {
      await add(stores);
      expect(ended).not.toHaveBeenCalled();
    });
    expect(ended).toHaveBeenCalledOnce();
  });

  it('wake the sender of webhooks if one is subscribed to them', async () => {
    const { transactions, records, delivering } = await watched();
    await transactions.run(addDisabled);
    expect(delivering).not.toHaveBeenCalled();
    await records.insert('webhooks', aWebhook());
    await transactions.run(addDisabled);
    expect(delivering).toHaveBeenCalledOnce();
  });

  it('are those of its last run', async () => {
    const again = (transactions: Transactions): Transactions => ({
      async run(work) {
        await transactions
          .run(async (stores) => {
            await work(stores);
            throw new Error('conflict');
          })
          .catch(() => undefined);
        return transactions.run(work);
      },
    });
    const { transactions, reports, records } = await watched(again);
    await transactions.run(addDisabled);
    expect(await eventsOf(records, { userId: user.id, before: null, limit: 5 })).toHaveLength(1);
    expect(reports.flat()).toHaveLength(1);
  });

  it('are told once if operators caused them in other processes, also to a user who is deleted', async () => {
    const { transactions, reports, ...stores } = await watched();
    const origin = { ...NO_ORIGIN, actor: 'Una' };
    const log = logOperatorEvents({ transactions });
    await storeEvents(stores, [newEvent({ userId: user.id, kind: 'deleted' }, { id: ids.next(), at: NOW, origin })]);
    await stores.users.remove(user.id);
    reports.length = 0;
    expect([await log(5), await log(5)]).toEqual([1, 0]);
    expect(reports.flat()).toMatchObject([{ kind: 'deleted', userId: user.id, actor: 'Una', at: NOW }]);
  });
});

it('the audit log has a line for each event but sessions that have expired, which are counted nevertheless', () => {
  const lines: { readonly level: number; readonly reason?: string }[] = [];
  const counted: AccountEvent[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const ended = (reason: 'expired' | 'logout' | 'token-replayed') => ({
    ...disabled(),
    kind: 'session-ended' as const,
    reason,
  });
  auditLog(logger, [(event) => counted.push(event)])([ended('logout'), ended('expired'), ended('token-replayed')]);
  expect(lines.map(({ level, reason }) => [level, reason])).toEqual([
    [30, 'logout'],
    [40, 'token-replayed'],
  ]);
  expect(counted.map(({ reason }) => reason)).toEqual(['logout', 'expired', 'token-replayed']);
});

/** Kinds whose work could be seen in the time of a response, and show that an address has an account. */
const WAITING: readonly MessageKind[] = [
  'password-reset-request',
  'login-code-request',
  'new-device-code-request',
  'email-verification-request',
  'email-verification',
  'address-taken',
];

/** How often the sender is woken when messages of these kinds are added outside of a transaction, and within one. */
const wakingsBy = async (...kinds: readonly MessageKind[]) => {
  const { transactions, wakings, ...outside } = await watched();
  const messages = () => kinds.map((kind) => aMessage({ kind, userId: null }));
  await addMessages(outside, messages());
  await transactions.run(async (stores) => {
    const before = wakings.length;
    await addMessages(stores, messages());
    expect(wakings).toHaveLength(before);
  });
  return wakings.length;
};

describe('a message that is added', () => {
  it.each(WAITING)(
    'waits for the next poll of the sender if the time of a response could reveal it: %s',
    async (kind) => {
      expect(await wakingsBy(kind)).toBe(0);
    },
  );

  it.each(MESSAGE_KINDS.filter((kind) => !WAITING.includes(kind)))('wakes the sender: %s', async (kind) => {
    expect(await wakingsBy(kind)).toBe(2);
    expect(await wakingsBy('password-reset-request', kind)).toBe(2);
  });

  it('wakes the sender for all messages when half of the requests wait that may', async () => {
    const { wakings, ...stores } = await watched();
    for (let count = 0; count <= REQUESTS_WAITING / 2; count += 1) {
      const origin = { ...NO_ORIGIN, address: `network ${count}` };
      await addMessages(stores, [
        aMessage({ kind: 'password-reset-request', userId: null, to: `${count}@example.org`, origin }),
      ]);
    }
    expect(wakings).toEqual([true]);
  });

  it('wakes nobody when there is none', async () => {
    expect(await wakingsBy()).toBe(0);
  });
});

it('a field of a user that cannot be compared is refused, and nothing is changed: it was meant as a change', async () => {
  const { users } = memoryStorage();
  await users.add(user);
  const attributes = { plan: 'paid' };
  const misplaced = users.update(user.id, { now: NOW + 1 }, { attributes } as object);
  await expect(misplaced).rejects.toThrow('The field attributes of a user cannot be compared.');
  expect(await users.findById(user.id)).toEqual(user);
  expect(await users.update(user.id, { now: NOW + 1, attributes }, { email: user.email })).toMatchObject({
    attributes,
  });
});
