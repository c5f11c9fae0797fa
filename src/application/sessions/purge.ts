import { NO_ORIGIN } from '../../domain/event.ts';
import { DELIVERIES_KEPT } from '../../domain/webhook.ts';
import { record, type Sources } from '../service.ts';
import { purgeRows } from '../storage/rows.ts';
import type { Storage } from '../storage/stores.ts';
import type { Column, TableName } from '../storage/tables.ts';
import { purgeDeliveries } from '../storage/webhooks.ts';
import { sessionEvents } from './end-sessions.ts';

/** Each purge deletes at most `limit` rows, and returns how many it has deleted. */
type Purge = (limit: number) => Promise<number>;

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
  return {
    sessions: (limit) =>
      transactions.run(async (stores) => {
        const purged = await stores.sessions.purge(clock.now(), limit);
        const events = purged.flatMap(({ id, userId }) => sessionEvents(userId, [id], 'expired'));
        await record(deps, stores, NO_ORIGIN, events);
        return purged.length;
      }),
    events: expired('events', 'at', deps.eventsRetention + 1),
    devices: expired('rememberedDevices', 'expiresAt'),
    /** Those of users, and those that invite. */
    links: async (limit) => (await links(limit)) + (await invitations(limit)),
    usedValues: expired('usedValues', 'expiresAt', USED_KEPT),
    endedSessions: expired('endedSessions', 'at', deps.accessLifetime + USED_KEPT),
    /** Counts of mail that no longer limit anything. */
    mailboxes: expired('mailboxes', 'refilledAt'),
    /** Events that no webhook will be told of. */
    webhooks: (limit) =>
      transactions.run((stores) => purgeDeliveries(stores, clock.now() - DELIVERIES_KEPT, limit, clock.now())),
  } satisfies Record<string, Purge>;
};
