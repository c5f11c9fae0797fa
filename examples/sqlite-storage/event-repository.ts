import type { SQLOutputValue } from 'node:sqlite';
import { type AccountEvent, countingPeriodOf, EVENTS_KEPT, type EventRepository } from 'tandem';
import type { Connection } from './connection.ts';

const toEvent = ({ countedBy: _, ...row }: Record<string, SQLOutputValue>): AccountEvent => row as AccountEvent;

/** One text for the events of a user that are counted in one row; `null` for others. */
const countedBy = ({ kind, at, userAgent, address }: AccountEvent): string | null => {
  if (kind === 'login-refused') return JSON.stringify([kind, countingPeriodOf(at)]);
  return kind === 'logged-in' ? JSON.stringify([kind, countingPeriodOf(at), userAgent, address]) : null;
};

/** Events in the table `events`. */
export const sqliteEventRepository = ({ database, read, write }: Connection): EventRepository => {
  // Events of users who do not exist are ignored.
  const insert = database.prepare(`
    insert into events
    select :id, id, :kind, :at, :sessionId, :reason, :count, :requestId, :userAgent, :address, :actor, :countedBy
    from users where id = :userId
    on conflict (userId, countedBy) do update set
      at = excluded.at,
      sessionId = excluded.sessionId,
      count = count + excluded.count,
      requestId = excluded.requestId,
      userAgent = excluded.userAgent,
      address = excluded.address`);
  // The oldest of the most frequent kind, and of the most frequent reason to end a session.
  const deleteSurplus = database.prepare(`
    delete from events
    where (select count(*) from events where userId = :userId) > ${EVENTS_KEPT} and id in (
      select id from (
        select id, row_number() over (partition by kind, reason order by id desc) as place
        from events where userId = :userId)
      order by place, id desc limit -1 offset ${EVENTS_KEPT})`);
  const selectPage = database.prepare(`
    select * from events where userId = :userId and (:before is null or id < :before) order by id desc limit :limit`);
  const selectDevice = database.prepare(`
    select 1 from events
    where userId = :userId and kind in ('registered', 'logged-in') and userAgent is :userAgent and address is :address`);
  const countKind = database.prepare(`
    select count(*) as count from events where userId = :userId and kind = :kind and at >= :since`);
  const deleteOld = database.prepare(`
    delete from events where id in (select id from events where at < :before order by at limit :limit)`);

  const insertOperated = database.prepare('insert into operations values (:id, :event)');
  const deleteOperated = database.prepare(`
    delete from operations where id in (select id from operations order by id limit :limit) returning event`);

  const add = (events: readonly AccountEvent[]) =>
    write(() => {
      for (const event of events)
        if (event.actor !== null) insertOperated.run({ id: event.id, event: JSON.stringify(event) });
      for (const event of events) insert.run({ ...event, countedBy: countedBy(event) });
      for (const userId of new Set(events.map((event) => event.userId))) deleteSurplus.run({ userId });
    });

  return {
    add,
    addRefusedLogins: (refusals) =>
      add(
        refusals.map((refused) => ({ ...refused, kind: 'login-refused', sessionId: null, reason: null, actor: null })),
      ),
    list: async ({ userId, before, limit }) =>
      (await read(() => selectPage.all({ userId, before, limit }))).map(toEvent),
    knowsDevice: async (userId, { userAgent, address }) =>
      (await read(() => selectDevice.get({ userId, userAgent, address }))) !== undefined,
    countSince: async (userId, kind, since) =>
      Number((await read(() => countKind.get({ userId, kind, since })))?.count),
    purge: async (before, limit) => Number((await write(() => deleteOld.run({ before, limit }))).changes),
    takeOperated: async (limit) => {
      const taken = await write(() => deleteOperated.all({ limit }));
      return taken.map(({ event }) => JSON.parse(String(event)) as AccountEvent).sort((a, b) => (a.id < b.id ? -1 : 1));
    },
  };
};
