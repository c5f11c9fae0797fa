import type { SQLOutputValue } from 'node:sqlite';
import { isRequest, type Message, type Outbox, REQUESTS_PER_NETWORK, REQUESTS_WAITING, SECRET_KINDS } from 'tandem';
import type { Connection } from './connection.ts';

const toMessage = ({ nextAttemptAt: _at, unclaimedRequest: _is, ...row }: Record<string, SQLOutputValue>): Message =>
  ({ ...row, origin: JSON.parse(String(row.origin)), wasVerified: row.wasVerified === 1 }) as Message;

/** Messages in the table `outbox`. */
export const sqliteOutbox = ({ database, read, write }: Connection): Outbox => {
  const countRequests = database.prepare(`
    select count(*) as count, count(*) filter (where origin ->> 'address' is :address) as ofNetwork
    from outbox where unclaimedRequest is not null`);
  // A request that waits already is dropped.
  const insert = database.prepare(`
    insert into outbox
    values (:id, :kind, :userId, :to, :email, :locale, :wasVerified, :origin, :createdAt, :attempts, :createdAt, :unclaimedRequest)
    on conflict (unclaimedRequest) do nothing`);
  const secret = SECRET_KINDS.map((kind) => `'${kind}'`).join(', ');
  const claim = database.prepare(`
    update outbox set attempts = attempts + 1, nextAttemptAt = :until, unclaimedRequest = null
    where id in (
      select id from outbox
      where nextAttemptAt <= :now and (nextAttemptAt <= :lastPolledAt or (attempts = 0 and kind not in (${secret})))
      order by nextAttemptAt, id limit :limit)
    returning *`);
  const rename = database.prepare('update outbox set kind = :kind, userId = :userId where id = :id');
  const delay = database.prepare('update outbox set nextAttemptAt = :until where id = :id');
  const deleteOne = database.prepare('delete from outbox where id = :id');
  const selectByUser = database.prepare('select * from outbox where userId = :userId order by id');
  // Changes no row when the mailbox may not get another mail now.
  const count = database.prepare(`
    insert into mailboxes values (:mailbox, :now + :interval)
    on conflict (mailbox) do update set refilledAt = max(refilledAt, :now) + :interval
    where refilledAt <= :now + (:burst - 1) * :interval`);
  const deleteRefilled = database.prepare(`
    delete from mailboxes where mailbox in (
      select mailbox from mailboxes where refilledAt <= :now order by refilledAt limit :limit)`);
  const countAll = database.prepare('select count(*) as count, min(createdAt) as since from outbox');

  return {
    add: (messages) =>
      write(() => {
        let waiting = 0;
        for (const message of messages) {
          const unclaimedRequest = isRequest(message) ? `${message.kind} ${message.to}` : null;
          if (unclaimedRequest !== null) {
            const { count, ofNetwork } = countRequests.get({ address: message.origin.address }) ?? {};
            waiting = Math.max(waiting, Number(count));
            if (Number(count) >= REQUESTS_WAITING || Number(ofNetwork) >= REQUESTS_PER_NETWORK) continue;
          }
          const origin = JSON.stringify(message.origin);
          insert.run({ ...message, origin, wasVerified: Number(message.wasVerified), unclaimedRequest });
        }
        return waiting >= REQUESTS_WAITING / 2;
      }),
    async claim({ now, lastPolledAt = now, until, limit }) {
      const rows = await write(() => claim.all({ now, lastPolledAt, until, limit }));
      return rows.map(toMessage).sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    identify: async (id, { kind, userId }) => (await write(() => rename.run({ id, kind, userId }))).changes > 0,
    async postpone(id, until) {
      await write(() => delay.run({ id, until }));
    },
    remove: (ids) =>
      write(() => {
        for (const id of ids) deleteOne.run({ id });
      }),
    listByUser: async (userId) => (await read(() => selectByUser.all({ userId }))).map(toMessage),
    admit: async (admission) => (await write(() => count.run(admission))).changes > 0,
    purge: async (now, limit) => Number((await write(() => deleteRefilled.run({ now, limit }))).changes),
    async waiting() {
      const { count, since } = (await read(() => countAll.get())) ?? {};
      return { count: Number(count), since: since === null ? null : Number(since) };
    },
  };
};
