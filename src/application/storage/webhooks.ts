import { type AccountEvent, webhookTypeOf } from '../../domain/event.ts';
import { type Delivery, isSubscribed, type Webhook } from '../../domain/webhook.ts';
import type { Clock } from '../ports/clock-and-ids.ts';
import type { Records, Storage, Stored, Stores } from './records.ts';
import { changeRow, insertOrChangeRow, omit, readRows, removeRow, usersInOrder, withoutVersion } from './rows.ts';
import type { Tables } from './tables.ts';

type Row = Stored<'deliveries'>;
/** The waiting deliveries about a user to a webhook form a queue, of which only the first can be due. */
type Queue = Pick<Delivery, 'webhookId' | 'userId'>;

const BATCH_SIZE = 500;
export const MAX_COUNTED = 1_000;

const toDelivery = (row: Tables['deliveries'] & Partial<Row>): Delivery =>
  omit(row, 'isWaiting', 'lastError', 'nextAttemptAt', 'version');

const keyOf = ({ webhookId, userId, sequence }: Delivery) => ({ webhookId, userId, sequence });

const firstWaiting = async (records: Records, { webhookId, userId }: Queue): Promise<Row | undefined> => {
  const equal = { webhookId, userId, isWaiting: true };
  return (await records.list('deliveries', { equal, order: ['sequence'], limit: 1 }))[0];
};

const startFirst = async (records: Records, queue: Queue, now: number): Promise<void> => {
  const first = await firstWaiting(records, queue);
  if (first?.nextAttemptAt === null) await records.replace('deliveries', first, { ...first, nextAttemptAt: now });
};

/** Locks the queues of a user. Otherwise a transaction could add a delivery while another one ends the only delivery, and neither would start the new one. */
const lockQueues = (records: Records, { userId }: Pick<Queue, 'userId'>) =>
  records.lock('webhookSequences', { userId });

const nextSequence = async (records: Records, userId: string): Promise<number> => {
  let sequence = 1;
  await insertOrChangeRow(records, 'webhookSequences', { userId }, (row) => {
    sequence = (row?.sequence ?? 0) + 1;
    return { userId, sequence };
  });
  return sequence;
};

/** Adds the deliveries of events, in the transaction of the events, which has locked their users. */
export const addDeliveries = async (
  { records, tell }: Pick<Stores, 'records' | 'tell'>,
  events: readonly AccountEvent[],
  webhooks: readonly Webhook[],
): Promise<void> => {
  for (const event of events) {
    const type = webhookTypeOf(event);
    const subscribed = type === null ? [] : webhooks.filter((webhook) => isSubscribed(webhook, type));
    if (type === null || subscribed.length === 0) continue;
    const { id, userId, at, sessionId, reason } = event;
    const sequence = await nextSequence(records, userId);
    tell(({ onDeliveries }) => onDeliveries?.());
    for (const webhook of subscribed) {
      const queue = { webhookId: webhook.id, userId };
      const isFirst = (await firstWaiting(records, queue)) === undefined;
      await records.insert('deliveries', {
        ...{ ...queue, sequence, event: { id, type, at, sessionId, reason }, attempts: 0, createdAt: at },
        ...{ lastError: null, isWaiting: true, nextAttemptAt: isFirst ? at : null },
      });
    }
  }
};

const removeDeliveries = async (records: Records, webhookId: string): Promise<void> => {
  for (;;) {
    const rows = await records.list('deliveries', { equal: { webhookId }, limit: BATCH_SIZE });
    if (rows.length === 0) return;
    await records.remove('deliveries', rows);
  }
};

/** Removes deliveries without a webhook: a transaction that stores an event while the webhook is removed can leave such a delivery. */
const removeOrphans = async (records: Records): Promise<void> => {
  const list = async () => (await listWebhooks(records)).map(({ id }) => id);
  for (const after of ['', ...(await list())]) {
    const next = { range: ['webhookId', '>', after], order: ['webhookId'], limit: 1 } as const;
    const [row] = await records.list('deliveries', next);
    // The webhook may have been added since.
    if (row !== undefined && !(await list()).includes(row.webhookId)) await removeDeliveries(records, row.webhookId);
  }
};

/** All webhooks, in the order of their ids. */
export const listWebhooks = (records: Records): Promise<Webhook[]> => readRows(records, 'webhooks', { order: ['id'] });

/** @returns the webhook after the change; `null` if there is none. */
export const changeWebhook = (records: Records, id: string, change: Partial<Omit<Webhook, 'id'>>) =>
  changeRow(records, 'webhooks', { id }, (row) => ({ ...row, ...change }));

export const deleteWebhook = async (records: Records, id: string): Promise<void> => {
  await removeRow(records, 'webhooks', { id });
  await removeDeliveries(records, id);
};

type Claim = { readonly webhookId: string; readonly now: number; readonly until: number; readonly limit: number };

/** Claims deliveries that are due, the earliest first. They are due again at `until`. */
export const claimDeliveries = async (records: Records, { webhookId, now, until, limit }: Claim) => {
  const due = await records.list('deliveries', {
    equal: { webhookId },
    range: ['nextAttemptAt', '<=', now],
    order: ['nextAttemptAt'],
    limit,
  });
  const claimed: Delivery[] = [];
  for (const before of due) {
    const after = { ...withoutVersion(before), nextAttemptAt: until, attempts: before.attempts + 1 };
    if (await records.replace('deliveries', before, after)) claimed.push(toDelivery(after));
  }
  return claimed;
};

export const postponeDelivery = async (
  records: Records,
  delivery: Delivery,
  { until, lastError }: { readonly until: number; readonly lastError: string },
): Promise<void> => {
  await changeRow(records, 'deliveries', keyOf(delivery), (row) => ({ ...row, nextAttemptAt: until, lastError }));
};

/** Ends a delivery, and makes the next one due, in a unit. @param outcome `given-up` keeps the delivery for a replay. */
export const finishDelivery = async (
  records: Records,
  delivery: Delivery,
  outcome: 'delivered' | 'given-up',
  now: number,
): Promise<void> => {
  await lockQueues(records, delivery);
  if (outcome === 'delivered') await removeRow(records, 'deliveries', keyOf(delivery));
  else {
    const givenUp = { isWaiting: false, nextAttemptAt: null };
    await changeRow(records, 'deliveries', keyOf(delivery), (row) => ({ ...row, ...givenUp }));
  }
  await startFirst(records, delivery, now);
};

/** Lets all deliveries about the next user wait anew, in a unit. @param after the user of the call before, or `''`. @returns the user; `null`: none is left. */
export const replayDeliveries = async (records: Records, webhookId: string, after: string, now: number) => {
  const next = { equal: { webhookId }, range: ['userId', '>', after], order: ['userId'], limit: 1 } as const;
  const [first] = await records.list('deliveries', next);
  if (first === undefined) return null;
  const { userId } = first;
  await lockQueues(records, first);
  let [rows, last]: [Row[], number] = [[], 0];
  do {
    const rest = { range: ['sequence', '>', last], order: ['sequence'], limit: BATCH_SIZE } as const;
    rows = await records.list('deliveries', { equal: { webhookId, userId }, ...rest });
    for (const row of rows)
      await records.replace('deliveries', row, {
        ...row,
        ...{ isWaiting: true, nextAttemptAt: null, lastError: null, attempts: 0, createdAt: now },
      });
    last = rows.at(-1)?.sequence ?? last;
  } while (rows.length === BATCH_SIZE);
  await startFirst(records, first, now);
  return userId;
};

/** Enables a webhook, and lets all its deliveries wait anew. @returns the number of users whom their events are about. */
export const replayWebhook =
  ({ records, transactions, clock }: Pick<Storage, 'records' | 'transactions'> & { readonly clock: Clock }) =>
  async (id: string): Promise<number> => {
    await changeWebhook(records, id, { disabledAt: null });
    for (let [users, after]: [number, string] = [0, '']; ; users += 1) {
      const next = await transactions.run((stores) => replayDeliveries(stores.records, id, after, clock.now()));
      if (next === null) return users;
      after = next;
    }
  };

const MAX_FAILURES = 5;

/** How many deliveries of a webhook wait and how many were given up, among a thousand at most, and some of the failed ones. */
export const summarizeDeliveries = async (records: Records, webhookId: string) => {
  const rows = await records.list('deliveries', { equal: { webhookId }, limit: MAX_COUNTED });
  const failed = rows.filter(({ lastError }) => lastError !== null).slice(0, MAX_FAILURES);
  const waiting = rows.filter(({ isWaiting }) => isWaiting).length;
  return {
    ...{ waiting, givenUp: rows.length - waiting },
    failures: failed.map(({ userId, event, attempts, lastError, nextAttemptAt }) => ({
      ...{ userId, type: event.type, attempts, lastError, nextAttemptAt },
    })),
  };
};

/** Whether a webhook has at least `count` deliveries, including those that were given up. */
export const hasDeliveries = async (records: Records, webhookId: string, count: number): Promise<boolean> =>
  (await records.list('deliveries', { equal: { webhookId }, skip: count - 1, limit: 1 })).length > 0;

/** How many deliveries wait, up to a thousand, and since when the oldest one waits. */
export const waitingDeliveries = async (records: Records) => {
  const oldest = { equal: { isWaiting: true }, order: ['createdAt'], limit: MAX_COUNTED } as const;
  const rows = await records.list('deliveries', oldest);
  return { count: rows.length, since: rows[0]?.createdAt ?? null };
};

/** Removes deliveries from before a time, and those of removed webhooks, in a unit. @returns how many were from before the time. */
export const purgeDeliveries = async (
  { users, records }: Pick<Stores, 'users' | 'records'>,
  before: number,
  limit: number,
  now: number,
): Promise<number> => {
  await removeOrphans(records);
  const old = { range: ['createdAt', '<', before], order: ['createdAt'], limit } as const;
  const listed = async (isWaiting: boolean) => records.list('deliveries', { equal: { isWaiting }, ...old });
  const rows = [...(await listed(true)), ...(await listed(false))];
  for (const id of usersInOrder(rows)) await users.lock(id);
  for (const row of rows) await lockQueues(records, row);
  const removed = await records.remove('deliveries', rows);
  // This comes after the removal of all rows, since the next delivery of a queue may be among them.
  for (const row of rows) await startFirst(records, row, now);
  return removed.length;
};
