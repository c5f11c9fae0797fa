import { dueAt, isRequest, type Message, requestKey, waitsForPoll } from '../../domain/message.ts';
import type { Equal, Query, Records, Stored, Stores } from './records.ts';
import { byId, changeRow, insertOrChangeRow, insertUnlessPresent, removeRow, without } from './rows.ts';
import type { Tables } from './tables.ts';

/** How many requests may wait to be claimed. Anybody can make one without an account, so more are dropped. */
export const REQUESTS_WAITING = 1_000;
/** How many of them one network (`origin.address`) may have, so that it cannot crowd out the others. */
export const REQUESTS_PER_NETWORK = 100;
/** How many waiting messages are counted: as many as are read for it. */
const COUNTED_AT_MOST = 2_000;

type Row = Tables['outbox'];

const toRow = (message: Message): Row => ({
  ...message,
  nextAttemptAt: dueAt(message),
  waitsForPoll: waitsForPoll(message),
  request: isRequest(message) ? requestKey(message) : null,
  network: isRequest(message) ? (message.origin.address ?? '') : null,
});

const toMessage = (row: Row & Partial<Stored<'outbox'>>): Message =>
  without(row, 'nextAttemptAt', 'waitsForPoll', 'request', 'network', 'version');

/** A claimed request makes room for the next one of its address, before it is answered. */
const claimed = (row: Row, until: number): Row => {
  const attempts = row.attempts + 1;
  const isWaiting = waitsForPoll({ kind: row.kind, attempts });
  return { ...row, attempts, nextAttemptAt: until, waitsForPoll: isWaiting, request: null, network: null };
};

const byTime = (a: Row, b: Row): number => a.nextAttemptAt - b.nextAttemptAt || byId(a, b);

/** All requests that wait: only they have a network. */
const REQUESTS: Query<'outbox'> = { range: ['network', '>=', ''] };

const hasAtLeast = async (records: Records, count: number, query: Query<'outbox'>): Promise<boolean> =>
  (await records.list('outbox', { ...query, skip: count - 1, limit: 1 })).length > 0;

/** Adds a request, unless too many wait. @returns whether half of those that may wait did so before. */
const addRequest = async (records: Records, row: Row, request: string, network: string): Promise<boolean> => {
  const isHalfFull = await hasAtLeast(records, REQUESTS_WAITING / 2, REQUESTS);
  if (isHalfFull && (await hasAtLeast(records, REQUESTS_WAITING, REQUESTS))) return true;
  if (await hasAtLeast(records, REQUESTS_PER_NETWORK, { equal: { network } })) return isHalfFull;
  await insertUnlessPresent(records, 'outbox', { request }, row, 'outbox_request');
  return isHalfFull;
};

/**
 * Adds messages to be sent, in the transaction of the change that they report. Drops a request (`isRequest`) that cannot be kept, or whose
 * `requestKey` another one has: a code by mail has a key for each browser. When half of `REQUESTS_WAITING` wait, the sender is told to claim all.
 */
export const addMessages = async (
  { records, tell }: Pick<Stores, 'records' | 'tell'>,
  messages: readonly Message[],
): Promise<void> => {
  let isHalfFull = false;
  for (const message of messages) {
    const row = toRow(message);
    if (row.request === null || row.network === null) await records.insert('outbox', row);
    else if (await addRequest(records, row, row.request, row.network)) isHalfFull = true;
  }
  if (isHalfFull || !messages.every(waitsForPoll)) tell(({ onMessages }) => onMessages?.(isHalfFull));
};

type Claim = {
  readonly now: number;
  /** When the sender last polled. A message that waits for a poll (`waitsForPoll`) is claimed only if it was due then. Default: `now`. */
  readonly lastPolledAt?: number | undefined;
  readonly until: number;
  readonly limit: number;
};

/**
 * Claims messages that are due, and counts an attempt of each. A message is due from `dueAt`, or from the end of its last lease or
 * of `postponeMessage`; those due first come first. No other caller gets them before `until`. Times are epoch milliseconds.
 */
export const claimMessages = async (records: Records, { now, lastPolledAt = now, until, limit }: Claim) => {
  const listDue = (equal: Equal<'outbox'>, last: number) =>
    records.list('outbox', { equal, range: ['nextAttemptAt', '<=', last], order: ['nextAttemptAt', 'id'], limit });
  const due = [
    ...(await listDue({ waitsForPoll: false }, now)),
    ...(await listDue({ waitsForPoll: true }, Math.min(lastPolledAt, now))),
  ];
  const rows: Row[] = [];
  for (const before of due.sort(byTime).slice(0, limit)) {
    const after = claimed(before, until);
    if (await records.replace('outbox', before, after)) rows.push(after);
  }
  return rows.map(toMessage).sort(byId);
};

/** Replaces the kind and the user of a waiting message. @returns false when the message is gone. */
export const identifyMessage = async (
  records: Records,
  id: string,
  { kind, userId }: Pick<Message, 'kind' | 'userId'>,
): Promise<boolean> => {
  const identified = await changeRow(records, 'outbox', { id }, (row) => ({
    ...row,
    kind,
    userId,
    waitsForPoll: waitsForPoll({ kind, attempts: row.attempts }),
  }));
  return identified !== null;
};

export const postponeMessage = async (records: Records, id: string, until: number): Promise<void> => {
  await changeRow(records, 'outbox', { id }, (row) => ({ ...row, nextAttemptAt: until }));
};

export const deleteMessages = async (records: Records, ids: readonly string[]): Promise<void> => {
  for (const id of ids) await removeRow(records, 'outbox', { id });
};

export const messagesOf = async (records: Records, userId: string): Promise<Message[]> =>
  (await records.list('outbox', { equal: { userId }, order: ['id'] })).map(toMessage);

/** How many wait, up to `COUNTED_AT_MOST`, and since when the oldest of them does; `null` when none waits. */
export const waitingMessages = async (
  records: Records,
): Promise<{ readonly count: number; readonly since: number | null }> => {
  const oldest = await records.list('outbox', { order: ['id'], limit: COUNTED_AT_MOST });
  return { count: oldest.length, since: oldest[0]?.createdAt ?? null };
};

type Admission = {
  /** A hash of what it is counted by: a mailbox, or an address of it. */
  readonly mailbox: string;
  readonly now: number;
  readonly burst: number;
  readonly interval: number;
};

/** Counts a mail to a mailbox, if it may get one: as many at once as the burst, and then one in each interval. @returns whether it may. */
export const admitMail = (records: Records, { mailbox, now, burst, interval }: Admission): Promise<boolean> =>
  insertOrChangeRow(records, 'mailboxes', { mailbox }, (before) => {
    const refilledAt = Math.max(before?.refilledAt ?? now, now);
    return refilledAt > now + (burst - 1) * interval ? null : { mailbox, refilledAt: refilledAt + interval };
  });
