import type { InferEntity } from '@mikro-orm/core';
import { type RawBuilder, sql } from 'kysely';
import type { EventRepository } from '../../application/ports/event-repository.ts';
import { type AccountEvent, countingPeriodOf, EVENTS_KEPT, type SessionEnding } from '../../domain/event.ts';
import { isId } from '../../domain/user.ts';
import { EventEntity } from '../mikro-orm/entities.ts';
import { type DatabaseAccess, translated } from '../mikro-orm/queries.ts';
import { type NewRow, purgeRows, type Tables } from '../mikro-orm/rows.ts';

const toEvent = ({
  refusedFrom: _refused,
  loggedInFrom: _loggedIn,
  sessionId = null,
  reason = null,
  requestId = null,
  userAgent = null,
  address = null,
  actor = null,
  ...event
}: InferEntity<typeof EventEntity>): AccountEvent => ({
  ...event,
  sessionId,
  reason: (reason && EARLIER_REASONS.get(reason)) ?? reason,
  requestId,
  userAgent,
  address,
  actor,
});

/** Reasons as the version before stored them. */
const EARLIER_REASONS: ReadonlyMap<string, SessionEnding> = new Map([['surplus', 'evicted']]);

const toRow = (event: AccountEvent): NewRow<'events'> => ({
  id: event.id,
  user_id: event.userId,
  kind: event.kind,
  at: event.at,
  session_id: event.sessionId,
  reason: event.reason,
  count: event.count,
  refused_from: event.kind === 'login-refused' ? countingPeriodOf(event.at) : null,
  logged_in_from: event.kind === 'logged-in' ? countingPeriodOf(event.at) : null,
  request_id: event.requestId,
  user_agent: event.userAgent,
  address: event.address,
  actor: event.actor,
});

export const mikroOrmEventRepository = (db: DatabaseAccess): EventRepository => {
  const tables = () => db.em.getKysely<Tables>();
  return {
    async add(events) {
      const [first, ...others] = events.map(toRow);
      if (first === undefined) return;
      const { rows } = await translated(() => addOfUsers([first, ...others], SAME_DEVICE).execute(tables()));
      if (mayBeTooMany(rows)) await translated(() => evict(events).execute(tables()));
      const operated = events.filter(({ actor }) => actor !== null);
      if (operated.length > 0) await translated(() => addOperated(operated).execute(tables()));
    },
    async addRefusedLogins(refusals) {
      for (const refused of refusals) {
        const row = toRow({ ...refused, kind: 'login-refused', sessionId: null, reason: null, actor: null });
        const { rows } = await translated(() => addOfUsers([row], SAME_USER).execute(tables()));
        if (mayBeTooMany(rows)) await translated(() => evict([refused]).execute(tables()));
      }
    },
    async list({ userId, before, limit }) {
      if (!isId(userId)) return [];
      const where = { userId, ...(before !== null && { id: { $lt: before } }) };
      const page = { orderBy: { id: 'desc' }, limit } as const;
      return (await translated(() => db.em.find(EventEntity, where, page))).map(toEvent);
    },
    async knowsDevice(userId, { userAgent, address }) {
      const known = tables()
        .selectFrom('events')
        .select('id')
        .where('user_id', '=', userId)
        .where(DEVICE_HASH, '=', hashOf(sql`${address}::text`, sql`${userAgent}::text`))
        .where('kind', 'in', ['registered', 'logged-in'])
        .where('address', 'is not distinct from', address)
        .where('user_agent', 'is not distinct from', userAgent)
        .limit(1);
      return (await translated(() => known.execute())).length > 0;
    },
    async countSince(userId, kind, since) {
      return translated(() => db.em.count(EventEntity, { userId, kind, at: { $gte: since } }));
    },
    // By `ctid`: a join might scan the whole table. Old events do not change, so their `ctid` stays the same.
    purge: (before, limit) => purgeRows(db, { table: 'events', key: 'ctid', time: 'at', until: before - 1, limit }),
    async takeOperated(limit) {
      const { rows } = await translated(() => takeOperated(limit).execute(tables()));
      return rows.map(({ event }) => event).sort((a, b) => (a.id < b.id ? -1 : 1));
    },
  };
};

const addOperated = (events: readonly AccountEvent[]) =>
  sql`insert into operations (id, event)
    select event->>'id', event from jsonb_array_elements(${JSON.stringify(events)}::jsonb) as event`;

/** Skips rows that another instance is taking. */
const takeOperated = (limit: number) =>
  sql<{ event: AccountEvent }>`delete from operations
    where id = any(array(select id from operations order by id limit ${limit} for update skip locked)) returning event`;

/** The number of events of the user before the statement. */
type Added = { readonly before: number | string };
const BEFORE = sql<Added['before']>`(select count(*) from events as stored where stored.user_id = events.user_id)`;

/** Whether a user may have more than `EVENTS_KEPT` events after a statement. */
const mayBeTooMany = (added: readonly Added[]): boolean =>
  added.some(({ before }) => Number(before) + added.length > EVENTS_KEPT);

/** The hash of the index `events_device_key`. A user agent may be too long for an index. */
const hashOf = (address: RawBuilder<unknown>, userAgent: RawBuilder<unknown>) =>
  sql<string>`hashtextextended(coalesce(${address}, '') || ' ' || coalesce(${userAgent}, ''), 0)`;
const DEVICE_HASH = hashOf(sql.ref('address'), sql.ref('user_agent'));

/** The last log-in on a device within a period is that of the row. */
const SAME_DEVICE = sql`(user_id, (${DEVICE_HASH}), logged_in_from) do update set count = events.count + excluded.count, at = excluded.at,
  session_id = excluded.session_id, request_id = excluded.request_id`;
/** The last refused log-in of a user within a period is that of the row. */
const SAME_USER = sql`(user_id, refused_from) do update set count = events.count + excluded.count, at = excluded.at,
  request_id = excluded.request_id, user_agent = excluded.user_agent, address = excluded.address`;

/**
 * Adds the events of users who still exist. Names the columns, so that a later version can add a column with a default while instances of
 * this version still run.
 */
const addOfUsers = (rows: readonly [NewRow<'events'>, ...NewRow<'events'>[]], conflict: RawBuilder<unknown>) => {
  const columns = Object.keys(rows[0]);
  return sql<Added>`insert into events (${sql.join(columns.map((column) => sql.ref(column)))})
    select ${sql.join(columns.map((column) => sql.ref(`added.${column}`)))} from jsonb_populate_recordset(null::events, ${JSON.stringify(rows)}::jsonb) as added
    cross join lateral (select from users where users.id = added.user_id for key share) as owner
    on conflict ${conflict} returning ${BEFORE} as before`;
};

/** Deletes what users have beyond `EVENTS_KEPT`. */
const evict = (events: readonly Pick<AccountEvent, 'userId'>[]) => {
  const users = JSON.stringify([...new Set(events.map(({ userId }) => userId))]);
  return sql`with crowded as (
      select user_id from events where user_id = any(array(select jsonb_array_elements_text(${users}::jsonb))::bpchar[])
      group by user_id having count(*) > ${EVENTS_KEPT}::int
    ), placed as (
      select user_id, id, row_number() over (partition by user_id, kind, reason order by id desc) as place
      from events join crowded using (user_id)
    ), ranked as (
      select user_id, id, row_number() over (partition by user_id order by place, id desc) as rank from placed
    )
    delete from events using ranked
    where events.user_id = ranked.user_id and events.id = ranked.id and ranked.rank > ${EVENTS_KEPT}::int`;
};
