import type { InferEntity } from '@mikro-orm/core';
import { type Kysely, sql } from 'kysely';
import {
  type Admission,
  type Claim,
  type Outbox,
  REQUESTS_PER_NETWORK,
  REQUESTS_WAITING,
} from '../../application/ports/outbox.ts';
import { isRequest, type Message, SECRET_KINDS } from '../../domain/message.ts';
import { isId } from '../../domain/user.ts';
import { MessageEntity } from '../mikro-orm/entities.ts';
import { type DatabaseAccess, translated } from '../mikro-orm/queries.ts';
import { purgeRows, type Tables } from '../mikro-orm/rows.ts';

const toMessage = ({
  nextAttemptAt: _next,
  waitingRequest: _waiting,
  userId = null,
  email = null,
  locale = null,
  ...message
}: InferEntity<typeof MessageEntity>): Message => ({ ...message, userId, email, locale });

const toEntity = (message: Message) => ({
  ...message,
  nextAttemptAt: message.createdAt,
  waitingRequest: isRequest(message) ? `${message.kind} ${message.to}` : null,
});

export const mikroOrmOutbox = (db: DatabaseAccess): Outbox => {
  const tables = () => db.em.getKysely<Tables>();
  return {
    async add(messages) {
      const [requests, others] = [messages.filter(isRequest), messages.filter((message) => !isRequest(message))];
      let waiting = 0;
      for (const request of requests) {
        const { rows } = await translated(() => addRequest(request).execute(tables()));
        waiting = Math.max(waiting, Number(rows[0]?.count));
      }
      if (others.length > 0) await translated(() => db.em.insertMany(MessageEntity, others.map(toEntity)));
      return waiting >= REQUESTS_WAITING / 2;
    },
    async claim(claim) {
      const rows = await translated(() => claimDue(tables(), claim).execute());
      const claimed = rows.map((row) => db.em.map(MessageEntity, { ...row, attempts: Number(row.attempts) }));
      return claimed.map(toMessage).sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    async identify(id, { kind, userId }) {
      return (await translated(() => db.em.nativeUpdate(MessageEntity, { id }, { kind, userId }))) > 0;
    },
    async postpone(id, until) {
      await translated(() => db.em.nativeUpdate(MessageEntity, { id }, { nextAttemptAt: until }));
    },
    async remove(ids) {
      if (ids.length === 0) return;
      await translated(() => db.em.nativeDelete(MessageEntity, { id: { $in: [...ids] } }));
    },
    async listByUser(userId) {
      if (!isId(userId)) return [];
      const messages = await translated(() => db.em.find(MessageEntity, { userId }, { orderBy: { id: 'asc' } }));
      return messages.map(toMessage);
    },
    async admit(admission) {
      const { rows } = await translated(() => count(admission).execute(tables()));
      return rows.length > 0;
    },
    purge: (now, limit) =>
      purgeRows(db, { table: 'mailboxes', key: 'mailbox', time: 'refilled_at', until: now, limit }),
    async waiting() {
      const counted = tables()
        .selectFrom('outbox')
        .select((eb) => [eb.fn.countAll().as('count'), eb.fn.min('created_at').as('since')]);
      const { count, since } = await translated(() => counted.executeTakeFirstOrThrow());
      return { count: Number(count), since: since === null ? null : Number(since) };
    },
  };
};

/** Counts a mail. Returns no row when the mailbox may not get another one now. */
const count = ({ mailbox, now, burst, interval }: Admission) =>
  sql`insert into mailboxes (mailbox, refilled_at) values (${mailbox}, ${now + interval}::bigint)
    on conflict (mailbox) do update set refilled_at = greatest(mailboxes.refilled_at, ${now}::bigint) + ${interval}::bigint
    where mailboxes.refilled_at <= ${now + (burst - 1) * interval}::bigint
    returning mailbox`;

/** One statement, so that it costs the same for every address. Returns how many requests waited before. */
const addRequest = (message: Message) => {
  const { waitingRequest } = toEntity(message);
  return sql<{ count: number | string }>`with waiting as (
      select count(*) as count, count(*) filter (where address is not distinct from ${message.origin.address}::text) as of_network
      from (select origin->>'address' as address from outbox where waiting_request is not null limit ${REQUESTS_WAITING}) as requests
    ), added as (
      insert into outbox (id, kind, user_id, "to", email, locale, was_verified, origin, created_at, next_attempt_at, waiting_request)
      select ${message.id}, ${message.kind}, ${message.userId}::text, ${message.to}::text, ${message.email}::text,
        ${message.locale}::text, ${message.wasVerified}::boolean, ${JSON.stringify(message.origin)}::jsonb, ${message.createdAt}::bigint, ${message.createdAt}::bigint, ${waitingRequest}::text
      from waiting where count < ${REQUESTS_WAITING} and of_network < ${REQUESTS_PER_NETWORK}
      on conflict (waiting_request) do nothing
    )
    select count from waiting`;
};

/**
 * Skips locked rows, which another instance is claiming. A request makes room for the next one of its address when it is claimed: if it
 * did so when it is answered, an insert could have to wait for that transaction, and show that the address has an account.
 */
const claimDue = (db: Kysely<Tables>, { now, lastPolledAt = now, until, limit }: Claim) =>
  db
    .updateTable('outbox')
    .set((eb) => ({
      attempts: eb('attempts', '+', 1).$castTo<number>(),
      next_attempt_at: until,
      waiting_request: null,
    }))
    .where((eb) => {
      const due = eb
        .selectFrom('outbox as due')
        .select('due.id')
        .where('due.next_attempt_at', '<=', now)
        .where((of) =>
          of.or([
            of('due.next_attempt_at', '<=', lastPolledAt),
            of.and([of('due.attempts', '=', 0), of('due.kind', 'not in', [...SECRET_KINDS])]),
          ]),
        )
        .orderBy('due.next_attempt_at')
        .orderBy('due.id')
        .limit(limit)
        .forUpdate()
        .skipLocked();
      return eb('id', '=', eb.fn.any(eb.fn<string[]>('array', [due])));
    })
    .returningAll();
