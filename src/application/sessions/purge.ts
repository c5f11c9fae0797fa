import { type DomainEvent, NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { REMEMBERED_FOR } from '../../domain/remembered-device.ts';
import { isCovered, type MassEnding, type Session } from '../../domain/session.ts';
import { DELIVERIES_KEPT } from '../../domain/webhook.ts';
import { COUNTS_KEPT, countHour } from '../overview.ts';
import { type Core, record, type Sources } from '../service.ts';
import { addEnded } from '../storage/events.ts';
import type { Records, Storage } from '../storage/records.ts';
import { changeRow, purgeRows, removeRow, untilDone, usersInOrder, withoutVersion } from '../storage/rows.ts';
import type { Column, TableName } from '../storage/tables.ts';
import { purgeDeliveries } from '../storage/webhooks.ts';
import { sessionEvents } from './end-sessions.ts';

/**
 * Ends all sessions that are open now, and forgets the remembered devices, after an incident: nothing finds them any more. Sessions that are
 * opened later stay. `removeEnded` removes them, in any instance.
 * @param note why, for the users
 */
export const endAllSessions = (deps: Core) => async (origin: Origin, note: string | null) => {
  const [id, at] = [deps.ids.next(), deps.clock.now()];
  const ending = { id, at, note, actor: origin.actor ?? null, cursor: null };
  const told = { userId: null, sessionId: null, reason: 'operator' } as const;
  await deps.transactions.run(async (stores) => {
    await stores.records.insert('massEndings', ending);
    await addEnded(stores, { ...told, id, at });
  });
  // Again: a refresh that has not seen it yet may have issued a token meanwhile.
  const again = { ...told, id: deps.ids.next(), at: deps.clock.now() };
  await deps.transactions.run((stores) => addEnded(stores, again));
};

/** The earliest end of all sessions that is not done, locked until the end of the unit: steps of several instances take turns. */
const nextEnding = (records: Records): Promise<MassEnding | null> =>
  // Another instance may have taken the last step of the first one, which says nothing about the next one.
  untilDone(async () => {
    const [first] = await records.list('massEndings', { order: ['id'], limit: 1 });
    if (first === undefined) return null;
    const locked = await records.lock('massEndings', { id: first.id });
    return locked === null ? undefined : withoutVersion<MassEnding>(locked);
  });

/** A place before all ids: devices may be left where no session was found. */
const BEFORE_ALL = '';

/** Removes some of the sessions that ended with all others, and tells their users. @returns how many; `null` when nothing is left. */
export const removeEnded = (deps: Pick<Core, 'transactions'> & Sources) => (limit: number) =>
  deps.transactions.run(async (stores) => {
    const ending = await nextEnding(stores.records);
    if (ending === null) return null;
    const { id, at, note, actor, cursor } = ending;
    const sessions = await stores.sessions.listAll(cursor, limit);
    const due = sessions.filter((session) => isCovered(session, ending));
    const ids = new Set(due.map((session) => session.id));
    // One that has replaced another since it was read comes later, unless this is the last step.
    const isLast = sessions.length < limit;
    const isMeant = (session: Session) => isCovered(session, ending) && (isLast || ids.has(session.id));
    const events: DomainEvent[] = [];
    for (const userId of usersInOrder(due)) {
      const ended = await stores.sessions.endByUser(userId, isMeant);
      events.push(...sessionEvents(userId, ended, 'operator', note));
    }
    // The list of ended sessions has one entry for all.
    await record(deps, stores, { ...NO_ORIGIN, actor }, events, false);
    // A device expires so long after it was remembered.
    const devices = { time: 'expiresAt', until: at + REMEMBERED_FOR, limit } as const;
    const isDone = isLast && (await purgeRows(stores.records, 'rememberedDevices', devices)) < limit;
    if (isDone) await removeRow(stores.records, 'massEndings', { id });
    else {
      const next = sessions.at(-1)?.id ?? cursor ?? BEFORE_ALL;
      await changeRow(stores.records, 'massEndings', { id }, (row) => ({ ...row, cursor: next }));
    }
    return events.length;
  });

/** What is done every minute: rows that are purged; `mass-endings`, by which sessions end; `operations`, what operators did, which is logged; `counts`, hours that are summed. */
export const ROUNDS = [
  ...(['sessions', 'remembered-devices', 'events', 'ended-sessions', 'links', 'mailboxes', 'used-values'] as const),
  ...(['mass-endings', 'webhooks', 'operations', 'counts'] as const),
] as const;
export type Round = (typeof ROUNDS)[number];

/** Each purge deletes at most `limit` rows, and returns how many it has deleted. */
export type Purge = (limit: number) => Promise<number>;

export type PurgeDeps = Storage &
  Sources & {
    readonly eventsRetention: number;
    readonly accessLifetime: number;
  };

/** Milliseconds. To an instance whose clock is behind, a value that has expired here may still be live. */
const USED_KEPT = 3_600_000;

export const purges = (deps: PurgeDeps) => {
  const { records, transactions, clock } = deps;
  const expired =
    <Name extends TableName>(table: Name, time: Column<Name>, kept = 0) =>
    (limit: number) =>
      purgeRows(records, table, { time, until: clock.now() - kept, limit });
  const [links, invitations] = [expired('links', 'expiresAt'), expired('invitations', 'expiresAt')];
  const events = expired('events', 'at', deps.eventsRetention + 1);
  const operatorEvents = expired('operatorEvents', 'at', deps.eventsRetention + 1);
  const counts = expired('hourlyCounts', 'hour', COUNTS_KEPT);
  return {
    sessions: (limit) =>
      transactions.run(async (stores) => {
        const purged = await stores.sessions.purge(clock.now(), limit);
        const events = purged.flatMap(({ id, userId }) => sessionEvents(userId, [id], 'expired'));
        await record(deps, stores, NO_ORIGIN, events);
        return purged.length;
      }),
    events: async (limit) => (await events(limit)) + (await operatorEvents(limit)),
    /** As long as an hour is left to sum, it counts as a full batch. */
    counts: async (limit) => ((await countHour(deps, clock.now())) ? limit : counts(limit)),
    'remembered-devices': expired('rememberedDevices', 'expiresAt'),
    /** Those of users, and those that invite. */
    links: async (limit) => (await links(limit)) + (await invitations(limit)),
    'used-values': expired('usedValues', 'expiresAt', USED_KEPT),
    'ended-sessions': expired('endedSessions', 'at', deps.accessLifetime + USED_KEPT),
    /** Counts of mail that no longer limit anything. */
    mailboxes: expired('mailboxes', 'refilledAt'),
    /** Events that no webhook will be told of. */
    webhooks: (limit) =>
      transactions.run((stores) => purgeDeliveries(stores, clock.now() - DELIVERIES_KEPT, limit, clock.now())),
  } satisfies Partial<Record<Round, Purge>>;
};
