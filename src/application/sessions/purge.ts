import { DEVICE_LIFETIME } from '../../domain/device.ts';
import { type EventDraft, NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { isEndedBy, type MassEnding, type Session } from '../../domain/session.ts';
import { DELIVERY_LIFETIME } from '../../domain/webhook.ts';
import { COUNTS_LIFETIME, countHour } from '../overview.ts';
import { type Core, record, type Sources } from '../service.ts';
import { addEnded } from '../storage/events.ts';
import type { Records, Storage } from '../storage/records.ts';
import { changeRow, purgeRows, removeRow, untilDone, usersInOrder, withoutVersion } from '../storage/rows.ts';
import type { Column, TableName } from '../storage/tables.ts';
import { purgeDeliveries } from '../storage/webhooks.ts';
import { sessionEvents } from './end-sessions.ts';

/**
 * Ends all sessions of all users, and forgets the remembered devices, after an incident. Stores no longer find them; `removeMassEnded` removes them later.
 * @param note the reason, for the users
 */
export const endEverySession = (deps: Core) => async (origin: Origin, note: string | null) => {
  const [id, at] = [deps.ids.next(), deps.clock.now()];
  const ending = { id, at, note, actor: origin.actor ?? null, cursor: null };
  const entry = { userId: null, sessionId: null, reason: 'operator' } as const;
  await deps.transactions.run(async (stores) => {
    await stores.records.insert('massEndings', ending);
    await addEnded(stores, { ...entry, id, at });
  });
  // A refresh that began before the commit may have issued a token since the time of the first entry.
  const again = { ...entry, id: deps.ids.next(), at: deps.clock.now() };
  await deps.transactions.run((stores) => addEnded(stores, again));
};

/** Locks the earliest mass ending that is not done, so that the steps of several instances take turns. */
const nextEnding = (records: Records): Promise<MassEnding | null> =>
  // If another instance has just removed the first ending, the next one is locked instead.
  untilDone(async () => {
    const [first] = await records.list('massEndings', { order: ['id'], limit: 1 });
    if (first === undefined) return null;
    const locked = await records.lock('massEndings', { id: first.id });
    return locked === null ? undefined : withoutVersion<MassEnding>(locked);
  });

/** Removes some of the sessions of a mass ending, with an event for each. @returns how many sessions; `null` when no mass ending is left. */
export const removeMassEnded = (deps: Pick<Core, 'transactions'> & Sources) => (limit: number) =>
  deps.transactions.run(async (stores) => {
    const ending = await nextEnding(stores.records);
    if (ending === null) return null;
    const { id, at, note, actor, cursor } = ending;
    const sessions = await stores.sessions.listAll(cursor, limit);
    const due = sessions.filter((session) => isEndedBy(session, ending));
    const ids = new Set(due.map((session) => session.id));
    // The last step also ends sessions that have replaced listed ones meanwhile.
    const isLast = sessions.length < limit;
    const isMeant = (session: Session) => isEndedBy(session, ending) && (isLast || ids.has(session.id));
    const events: EventDraft[] = [];
    for (const userId of usersInOrder(due)) {
      const ended = await stores.sessions.endByUser(userId, isMeant);
      events.push(...sessionEvents(userId, ended, 'operator', note));
    }
    // `endEverySession` has added entries for all sessions to the list of ended sessions, so these events add none.
    await record(deps, stores, { ...NO_ORIGIN, actor }, events, false);
    // A device that was remembered at `at` or before expires at `until` or before.
    const devices = { time: 'expiresAt', until: at + DEVICE_LIFETIME, limit } as const;
    const isDone = isLast && (await purgeRows(stores.records, 'rememberedDevices', devices)) < limit;
    if (isDone) await removeRow(stores.records, 'massEndings', { id });
    else {
      // Without any session, remembered devices may still be left. `''` comes before all ids.
      const next = sessions.at(-1)?.id ?? cursor ?? '';
      await changeRow(stores.records, 'massEndings', { id }, (row) => ({ ...row, cursor: next }));
    }
    return events.length;
  });

/** The tasks that the service repeats: purges, and `mass-endings` (`removeMassEnded`), `operations` (`logOperatorEvents`) and `counts` (`countHour`). */
export const TASKS = [
  ...(['sessions', 'remembered-devices', 'events', 'ended-sessions', 'links', 'mailboxes', 'used-values'] as const),
  ...(['mass-endings', 'webhooks', 'operations', 'counts'] as const),
] as const;
export type Task = (typeof TASKS)[number];

/** Deletes due rows, at most `limit` of a table. @returns how many; or at least `limit` if more may be due, so that the next batch follows at once. */
export type Purge = (limit: number) => Promise<number>;

export type PurgeDeps = Storage & Sources & { readonly eventsRetention: number; readonly jwtAccessExpiresIn: number };

/** Milliseconds in which used values and entries of ended sessions are kept after their expiry, since the clock of another instance may be behind. */
const PURGE_DELAY = 3_600_000;

export const purges = (deps: PurgeDeps) => {
  const { records, transactions, clock } = deps;
  const expired =
    <Name extends TableName>(table: Name, time: Column<Name>, kept = 0) =>
    (limit: number) =>
      purgeRows(records, table, { time, until: clock.now() - kept, limit });
  const [links, invitations] = [expired('links', 'expiresAt'), expired('invitations', 'expiresAt')];
  const events = expired('events', 'at', deps.eventsRetention + 1);
  const operatorEvents = expired('operatorEvents', 'at', deps.eventsRetention + 1);
  const counts = expired('hourlyCounts', 'hour', COUNTS_LIFETIME);
  return {
    sessions: (limit) =>
      transactions.run(async (stores) => {
        const purged = await stores.sessions.purge(clock.now(), limit);
        const events = purged.flatMap(({ id, userId }) => sessionEvents(userId, [id], 'expired'));
        await record(deps, stores, NO_ORIGIN, events);
        return purged.length;
      }),
    events: async (limit) => (await events(limit)) + (await operatorEvents(limit)),
    counts: async (limit) => ((await countHour(deps, clock.now())) ? limit : counts(limit)),
    'remembered-devices': expired('rememberedDevices', 'expiresAt'),
    links: async (limit) => (await links(limit)) + (await invitations(limit)),
    'used-values': expired('usedValues', 'expiresAt', PURGE_DELAY),
    'ended-sessions': expired('endedSessions', 'at', deps.jwtAccessExpiresIn + PURGE_DELAY),
    mailboxes: expired('mailboxes', 'refilledAt'),
    webhooks: (limit) =>
      transactions.run((stores) => purgeDeliveries(stores, clock.now() - DELIVERY_LIFETIME, limit, clock.now())),
  } satisfies Partial<Record<Task, Purge>>;
};
