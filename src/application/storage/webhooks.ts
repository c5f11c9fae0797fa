import type { AccountEvent } from '../../domain/event.ts';
import { type Delivery, isSubscribed, type Webhook, webhookTypeOf } from '../../domain/webhook.ts';
import type { Clock } from '../ports/clock-and-ids.ts';
import type { Records, Storage, Stored, Stores } from './records.ts';
import { changeRow, insertOrChangeRow, readRows, removeRow, usersInOrder, without, withoutVersion } from './rows.ts';
import type { Tables } from './tables.ts';

type Row = Stored<'deliveries'>;
type Lane = Pick<Delivery, 'webhookId' | 'userId'>;

const BATCH = 500;
const COUNTED_AT_MOST = 1_000;

const toDelivery = (row: Tables['deliveries'] & Partial<Row>): Delivery =>
  without(row, 'isWaiting', 'lastError', 'nextAttemptAt', 'version');

const keyOf = ({ webhookId, userId, sequence }: Delivery) => ({ webhookId, userId, sequence });

/** The delivery of a user that all others of the same webhook wait for. */
const firstOf = async (records: Records, { webhookId, userId }: Lane): Promise<Row | undefined> => {
  const equal = { webhookId, userId, isWaiting: true };
  return (await records.list('deliveries', { equal, order: ['sequence'], limit: 1 }))[0];
};

/** The first of a lane is the only one that is due some time. */
const goOn = async (records: Records, lane: Lane, now: number): Promise<void> => {
  const first = await firstOf(records, lane);
  if (first?.nextAttemptAt === null) await records.replace('deliveries', first, { ...first, nextAttemptAt: now });
};

/** Whoever adds a delivery for a user, or ends one, holds this lock: otherwise neither might see that the new one is the first. */
const lockLane = (records: Records, { userId }: Lane) => records.lock('webhookSequences', { userId });

const nextSequence = async (records: Records, userId: string): Promise<number> => {
  let sequence = 1;
  await insertOrChangeRow(records, 'webhookSequences', { userId }, (row) => {
    sequence = (row?.sequence ?? 0) + 1;
    return { userId, sequence };
  });
  return sequence;
};

/** The webhooks that may be told of events. */
export const webhooksFor = async (records: Records, events: readonly AccountEvent[]): Promise<readonly Webhook[]> =>
  events.every((event) => webhookTypeOf(event) === null) ? [] : records.list('webhooks', { order: ['id'] });

/** Adds deliveries of events, in their transaction. Their users are locked, and stored. */
export const addDeliveries = async (
  records: Records,
  events: readonly AccountEvent[],
  webhooks: readonly Webhook[],
): Promise<void> => {
  for (const event of events) {
    const type = webhookTypeOf(event);
    if (type === null || !webhooks.some((webhook) => isSubscribed(webhook, type))) continue;
    const { id, userId, at, sessionId, reason } = event;
    const sequence = await nextSequence(records, userId);
    for (const webhook of webhooks.filter((each) => isSubscribed(each, type))) {
      const lane = { webhookId: webhook.id, userId };
      const isFirst = (await firstOf(records, lane)) === undefined;
      await records.insert('deliveries', {
        ...{ ...lane, sequence, event: { id, type, at, sessionId, reason }, attempts: 0, createdAt: at },
        ...{ lastError: null, isWaiting: true, nextAttemptAt: isFirst ? at : null },
      });
    }
  }
};

const removeAll = async (records: Records, webhookId: string): Promise<void> => {
  for (;;) {
    const rows = await records.list('deliveries', { equal: { webhookId }, limit: BATCH });
    if (rows.length === 0) return;
    await records.remove('deliveries', rows);
  }
};

/** An event that is stored while its webhook is removed leaves a delivery behind. */
const removeOrphans = async (records: Records): Promise<void> => {
  const list = async () => (await listWebhooks(records)).map(({ id }) => id);
  for (const after of ['', ...(await list())]) {
    const next = { range: ['webhookId', '>', after], order: ['webhookId'], limit: 1 } as const;
    const [row] = await records.list('deliveries', next);
    // The webhook may have been added since.
    if (row !== undefined && !(await list()).includes(row.webhookId)) await removeAll(records, row.webhookId);
  }
};

/** In the order in which they were added. */
export const listWebhooks = (records: Records): Promise<Webhook[]> => readRows(records, 'webhooks', { order: ['id'] });

/** @returns the webhook after the change; `null` if there is none. */
export const changeWebhook = (records: Records, id: string, change: Partial<Omit<Webhook, 'id'>>) =>
  changeRow(records, 'webhooks', { id }, (row) => ({ ...row, ...change }));

export const deleteWebhook = async (records: Records, id: string): Promise<void> => {
  await removeRow(records, 'webhooks', { id });
  await removeAll(records, id);
};

type Claim = {
  readonly webhookId: string;
  readonly now: number;
  readonly until: number;
  readonly limit: number;
};

/** Takes deliveries that are due, the earliest first. They are due again at `until`. */
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

/** Ends a delivery, within a unit. @param outcome `given-up` keeps it for a replay. @param now when the next one is due. */
export const settleDelivery = async (
  records: Records,
  delivery: Delivery,
  outcome: 'delivered' | 'given-up',
  now: number,
): Promise<void> => {
  await lockLane(records, delivery);
  if (outcome === 'delivered') await removeRow(records, 'deliveries', keyOf(delivery));
  else {
    const givenUp = { isWaiting: false, nextAttemptAt: null };
    await changeRow(records, 'deliveries', keyOf(delivery), (row) => ({ ...row, ...givenUp }));
  }
  await goOn(records, delivery, now);
};

/**
 * Makes all deliveries of one user due again, within a unit.
 * @param after the user of the call before; `''` for the first one.
 * @returns the user; `null` when there is none left.
 */
export const replayDeliveries = async (records: Records, webhookId: string, after: string, now: number) => {
  const next = { equal: { webhookId }, range: ['userId', '>', after], order: ['userId'], limit: 1 } as const;
  const [lane] = await records.list('deliveries', next);
  if (lane === undefined) return null;
  const { userId } = lane;
  await lockLane(records, lane);
  let [rows, last]: [Row[], number] = [[], 0];
  do {
    const rest = { range: ['sequence', '>', last], order: ['sequence'], limit: BATCH } as const;
    rows = await records.list('deliveries', { equal: { webhookId, userId }, ...rest });
    for (const row of rows)
      await records.replace('deliveries', row, {
        ...row,
        ...{ isWaiting: true, nextAttemptAt: null, lastError: null, attempts: 0, createdAt: now },
      });
    last = rows.at(-1)?.sequence ?? last;
  } while (rows.length === BATCH);
  await goOn(records, lane, now);
  return userId;
};

/** Makes everything due again that was not delivered to a webhook, and enables it. @returns for how many users. */
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

const LISTED_AT_MOST = 5;

/** What waits for a webhook, and what was given up, each up to a thousand together, and some of what has failed. */
export const undelivered = async (records: Records, webhookId: string) => {
  const rows = await records.list('deliveries', { equal: { webhookId }, limit: COUNTED_AT_MOST });
  const failed = rows.filter(({ lastError }) => lastError !== null).slice(0, LISTED_AT_MOST);
  const waiting = rows.filter(({ isWaiting }) => isWaiting).length;
  return {
    ...{ waiting, givenUp: rows.length - waiting },
    failures: failed.map(({ userId, event, attempts, lastError, nextAttemptAt }) => ({
      ...{ userId, type: event.type, attempts, lastError, nextAttemptAt },
    })),
  };
};

/** Whether a webhook has this many deliveries, those that were given up among them. */
export const hasDeliveries = async (records: Records, webhookId: string, count: number): Promise<boolean> =>
  (await records.list('deliveries', { equal: { webhookId }, skip: count - 1, limit: 1 })).length > 0;

/** @returns how many, of a thousand at most, and the time of the oldest. */
export const waitingDeliveries = async (
  records: Records,
): Promise<{ readonly count: number; readonly since: number | null }> => {
  const oldest = { equal: { isWaiting: true }, order: ['createdAt'], limit: COUNTED_AT_MOST } as const;
  const rows = await records.list('deliveries', oldest);
  return { count: rows.length, since: rows[0]?.createdAt ?? null };
};

/** Removes deliveries of events from before a time, and those of webhooks that are gone, within a unit. @returns how many of the former. */
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
  for (const row of rows) await lockLane(records, row);
  const removed = await records.remove('deliveries', rows);
  // Afterwards: it changes the next one, which may be among them.
  for (const row of rows) await goOn(records, row, now);
  return removed.length;
};
