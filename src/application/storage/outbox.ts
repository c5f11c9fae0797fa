import { dueAt, isRequest, type Message, requestKey, waitsForPoll } from '../../domain/message.ts';
import type { Equal, Query, Records, Stored, Stores } from './records.ts';
import { byId, changeRow, insertOrChangeRow, insertUnlessPresent, omit, removeRow } from './rows.ts';
import type { Tables } from './tables.ts';

/** How many requests (`isRequest`) may wait to be claimed. Further ones are dropped, since anybody can make them. */
export const REQUESTS_WAITING = 1_000;
/** How many waiting requests may come from one network, so that it cannot crowd out other networks. */
export const REQUESTS_PER_NETWORK = 100;
const MAX_COUNTED = 2_000;

type Row = Tables['outbox'];

const toRow = (message: Message): Row => ({
  ...message,
  nextAttemptAt: dueAt(message),
  waitsForPoll: waitsForPoll(message),
  request: isRequest(message) ? requestKey(message) : null,
  network: isRequest(message) ? (message.origin.address ?? '') : null,
});

const toMessage = (row: Row & Partial<Stored<'outbox'>>): Message =>
  omit(row, 'nextAttemptAt', 'waitsForPoll', 'request', 'network', 'version');

/** A row after its message is claimed. It has no `request` any more, so that another request for the address may be added. */
const claimed = (row: Row, until: number): Row => {
  const attempts = row.attempts + 1;
  const isWaiting = waitsForPoll({ kind: row.kind, attempts });
  return { ...row, attempts, nextAttemptAt: until, waitsForPoll: isWaiting, request: null, network: null };
};

const byTime = (a: Row, b: Row): number => a.nextAttemptAt - b.nextAttemptAt || byId(a, b);

/** Finds all waiting requests: only they have a network. */
const WAITING_REQUESTS: Query<'outbox'> = { range: ['network', '>=', ''] };

const hasAtLeast = async (records: Records, count: number, query: Query<'outbox'>): Promise<boolean> =>
  (await records.list('outbox', { ...query, skip: count - 1, limit: 1 })).length > 0;

/** Adds a request, unless too many wait, or an equal one does. @returns whether half of `REQUESTS_WAITING` waited before. */
const addRequest = async (records: Records, row: Row, request: string, network: string): Promise<boolean> => {
  const isHalfFull = await hasAtLeast(records, REQUESTS_WAITING / 2, WAITING_REQUESTS);
  if (isHalfFull && (await hasAtLeast(records, REQUESTS_WAITING, WAITING_REQUESTS))) return true;
  if (await hasAtLeast(records, REQUESTS_PER_NETWORK, { equal: { network } })) return isHalfFull;
  await insertUnlessPresent(records, 'outbox', { request }, row, 'outbox_request');
  return isHalfFull;
};

/**
 * Adds messages. A request is dropped if too many wait, or a waiting one has its `requestKey`. When half of `REQUESTS_WAITING` wait, the sender is told
 * to claim all.
 */
export const addMessages = async ({ records, tell }: Stores, messages: readonly Message[]): Promise<void> => {
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
  /** A message that waits for a poll (`waitsForPoll`) is claimed only if it was due at this time. Default: `now`. */
  readonly lastPolledAt?: number | undefined;
  readonly until: number;
  readonly limit: number;
};

/** Claims messages that are due, the earliest first, and counts an attempt of each. They are due again at `until`. */
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

type KindAndUser = Pick<Message, 'kind' | 'userId'>;

/** Replaces the kind and the user of a waiting message. @returns `false` when the message is gone. */
export const identifyMessage = async (records: Records, id: string, { kind, userId }: KindAndUser) => {
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

/** How many messages wait, up to `MAX_COUNTED`, and since when the oldest one waits. */
export const waitingMessages = async (records: Records) => {
  const oldest = await records.list('outbox', { order: ['id'], limit: MAX_COUNTED });
  return { count: oldest.length, since: oldest[0]?.createdAt ?? null };
};

type Admission = { readonly mailbox: string; readonly now: number; readonly burst: number; readonly interval: number };

/** Counts a mail, if the limit allows it: `burst` mails at once, and then one in each interval. @returns whether the limit allows the mail. */
export const admitMail = (records: Records, { mailbox, now, burst, interval }: Admission): Promise<boolean> =>
  insertOrChangeRow(records, 'mailboxes', { mailbox }, (before) => {
    const refilledAt = Math.max(before?.refilledAt ?? now, now);
    return refilledAt > now + (burst - 1) * interval ? null : { mailbox, refilledAt: refilledAt + interval };
  });
