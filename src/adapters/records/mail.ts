import type { InvitationRepository } from '../../application/ports/invitation-repository.ts';
import type { LinkRepository } from '../../application/ports/link-repository.ts';
import {
  COUNTED_AT_MOST,
  type Outbox,
  REQUESTS_PER_NETWORK,
  REQUESTS_WAITING,
} from '../../application/ports/outbox.ts';
import type { UsedValues } from '../../application/ports/used-values.ts';
import type { Equal, Query, Records, Stored } from '../../application/storage/records.ts';
import {
  changeRow,
  findRow,
  insertOrChangeRow,
  insertUnlessPresent,
  purgeRows,
  removeRow,
  removeRows,
  withoutVersion,
} from '../../application/storage/rows.ts';
import { keyName, TABLES, type Tables } from '../../application/storage/tables.ts';
import { isRequest, type Message, requestKey, waitsForPoll } from '../../domain/message.ts';

const isLive = ({ expiresAt }: { readonly expiresAt: number }, now: number): boolean => now < expiresAt;

export const linkRepositoryOver = (records: Records): LinkRepository => ({
  async put(link) {
    const { userId, purpose, since } = link;
    await insertOrChangeRow(records, 'links', { userId, purpose, since }, keyName(TABLES.links), () => link);
  },
  async find(purpose, tokenHash, now) {
    const link = await findRow(records, 'links', { tokenHash, purpose });
    return link !== null && isLive(link, now) ? withoutVersion(link) : null;
  },
  take: (purpose, tokenHash, now) => removeRow(records, 'links', { tokenHash, purpose }, (row) => isLive(row, now)),
  async listByEmail(purpose, email, now) {
    const links = await records.list('links', { equal: { email, purpose } });
    return links.filter((link) => isLive(link, now)).map(withoutVersion);
  },
  async removeOfUser(userId, purposes) {
    await removeRows(records, 'links', { userId }, ({ purpose }) => purposes.includes(purpose));
  },
  async listByUser(userId, now) {
    const links = await records.list('links', { equal: { userId }, order: ['purpose'] });
    return links.filter((link) => isLive(link, now)).map(withoutVersion);
  },
  purge: (now, limit) => purgeRows(records, 'links', { time: 'expiresAt', until: now, limit }),
});

export const invitationRepositoryOver = (records: Records): InvitationRepository => {
  const find = async (equal: Equal<'invitations'>, now: number) => {
    const found = await findRow(records, 'invitations', equal);
    return found !== null && isLive(found, now) ? withoutVersion(found) : null;
  };
  return {
    async put(invitation) {
      const { email } = invitation;
      await insertOrChangeRow(records, 'invitations', { email }, keyName(TABLES.invitations), () => invitation);
    },
    findByEmail: (email, now) => find({ email }, now),
    findByToken: (tokenHash, now) => find({ tokenHash }, now),
    take: async ({ email, tokenHash }, now) =>
      (await removeRow(records, 'invitations', { email, tokenHash }, (row) => isLive(row, now))) !== null,
    async list(now, limit) {
      const rows = await records.list('invitations', { order: ['email'], limit });
      return rows.filter((row) => isLive(row, now)).map(withoutVersion);
    },
    purge: (now, limit) => purgeRows(records, 'invitations', { time: 'expiresAt', until: now, limit }),
  };
};

/** The ids of tokens and proofs that are accepted once. */
export const usedValuesOver = (records: Records): UsedValues => ({
  use: (id, expiresAt) =>
    insertUnlessPresent(records, 'usedValues', { id }, keyName(TABLES.usedValues), { id, expiresAt }),
  purge: (now, limit) => purgeRows(records, 'usedValues', { time: 'expiresAt', until: now, limit }),
});

type Row = Tables['outbox'];

const toRow = (message: Message): Row => ({
  ...message,
  nextAttemptAt: message.createdAt,
  waitsForPoll: waitsForPoll(message),
  request: isRequest(message) ? requestKey(message) : null,
  network: isRequest(message) ? (message.origin.address ?? '') : null,
});

const toMessage = ({
  nextAttemptAt: _next,
  waitsForPoll: _waits,
  request: _request,
  network: _network,
  version: _version,
  ...message
}: Row & Partial<Stored<'outbox'>>): Message => message;

/** A claimed request makes room for the next one of its address, before it is answered. */
const claimed = (row: Row, until: number): Row => {
  const attempts = row.attempts + 1;
  const isWaiting = waitsForPoll({ kind: row.kind, attempts });
  return { ...row, attempts, nextAttemptAt: until, waitsForPoll: isWaiting, request: null, network: null };
};

const byTime = (a: Row, b: Row): number => a.nextAttemptAt - b.nextAttemptAt || byId(a, b);
const byId = (a: Pick<Row, 'id'>, b: Pick<Row, 'id'>): number => (a.id < b.id ? -1 : 1);

/** All requests that wait: only they have a network. */
const REQUESTS: Query<'outbox'> = { range: ['network', '>=', ''] };

export const outboxOver = (records: Records): Outbox => {
  const hasAtLeast = async (count: number, query: Query<'outbox'>): Promise<boolean> =>
    (await records.list('outbox', { ...query, skip: count - 1, limit: 1 })).length > 0;

  /** Adds a request, unless too many wait. @returns whether half of those that may wait did so before. */
  const addRequest = async (row: Row, request: string, network: string): Promise<boolean> => {
    const isHalfFull = await hasAtLeast(REQUESTS_WAITING / 2, REQUESTS);
    if (isHalfFull && (await hasAtLeast(REQUESTS_WAITING, REQUESTS))) return true;
    if (await hasAtLeast(REQUESTS_PER_NETWORK, { equal: { network } })) return isHalfFull;
    await insertUnlessPresent(records, 'outbox', { request }, 'outbox_request', row);
    return isHalfFull;
  };
  const listDue = (equal: Equal<'outbox'>, until: number, limit: number) =>
    records.list('outbox', {
      equal,
      range: ['nextAttemptAt', '<=', until],
      order: ['nextAttemptAt', 'id'],
      limit,
    });

  return {
    async add(messages) {
      let isHalfFull = false;
      for (const message of messages) {
        const row = toRow(message);
        if (row.request === null || row.network === null) await records.insert('outbox', row);
        else if (await addRequest(row, row.request, row.network)) isHalfFull = true;
      }
      return isHalfFull;
    },
    async claim({ now, lastPolledAt = now, until, limit }) {
      const due = [
        ...(await listDue({ waitsForPoll: false }, now, limit)),
        ...(await listDue({ waitsForPoll: true }, Math.min(lastPolledAt, now), limit)),
      ];
      const rows: Row[] = [];
      for (const before of due.sort(byTime).slice(0, limit)) {
        const after = claimed(before, until);
        if (await records.replace('outbox', before, after)) rows.push(after);
      }
      return rows.map(toMessage).sort(byId);
    },
    async identify(id, { kind, userId }) {
      const identified = await changeRow(records, 'outbox', { id }, (row) => ({
        ...row,
        kind,
        userId,
        waitsForPoll: waitsForPoll({ kind, attempts: row.attempts }),
      }));
      return identified !== null;
    },
    async postpone(id, until) {
      await changeRow(records, 'outbox', { id }, (row) => ({ ...row, nextAttemptAt: until }));
    },
    async remove(ids) {
      for (const id of ids) await removeRow(records, 'outbox', { id });
    },
    async listByUser(userId) {
      return (await records.list('outbox', { equal: { userId }, order: ['id'] })).map(toMessage);
    },
    admit: ({ mailbox, now, burst, interval }) =>
      insertOrChangeRow(records, 'mailboxes', { mailbox }, keyName(TABLES.mailboxes), (before) => {
        const refilledAt = Math.max(before?.refilledAt ?? now, now);
        return refilledAt > now + (burst - 1) * interval ? null : { mailbox, refilledAt: refilledAt + interval };
      }),
    purge: (now, limit) => purgeRows(records, 'mailboxes', { time: 'refilledAt', until: now, limit }),
    async waiting() {
      const oldest = await records.list('outbox', { order: ['id'], limit: COUNTED_AT_MOST });
      return { count: oldest.length, since: oldest[0]?.createdAt ?? null };
    },
  };
};
