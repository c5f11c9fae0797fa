import { NO_ORIGIN } from '../../domain/event.ts';
import { DELIVERIES_KEPT } from '../../domain/webhook.ts';
import type { Core } from '../service.ts';
import type { Storage } from '../storage/stores.ts';
import { record } from '../use-case.ts';
import { endings } from './end-sessions.ts';

/** Each purge deletes at most `limit` rows, and returns how many it has deleted. */
type Purge = (limit: number) => Promise<number>;

export type PurgeDeps = Storage &
  Pick<Core, 'clock' | 'ids'> & {
    readonly eventsRetention: number;
    readonly accessLifetime: number;
  };

/** Milliseconds. To an instance whose clock is behind, a value that has expired here may still be live. */
const USED_KEPT = 3_600_000;

export const purges = (deps: PurgeDeps) => {
  const { devices, links, invitations, outbox, used, events, endings: ended, clock } = deps;
  return {
    sessions: (limit) =>
      deps.transactions.run(async (stores) => {
        const purged = await stores.sessions.purge(clock.now(), limit);
        const expired = purged.flatMap(({ id, userId }) => endings(userId, [id], 'expired'));
        await record(deps, stores, NO_ORIGIN, expired);
        return purged.length;
      }),
    events: (limit) => events.purge(clock.now() - deps.eventsRetention, limit),
    devices: (limit) => devices.purge(clock.now(), limit),
    /** Those of users, and those that invite. */
    links: async (limit) => (await links.purge(clock.now(), limit)) + (await invitations.purge(clock.now(), limit)),
    usedValues: (limit) => used.purge(clock.now() - USED_KEPT, limit),
    endedSessions: (limit) => ended.purge(clock.now() - deps.accessLifetime - USED_KEPT, limit),
    /** Counts of mail that no longer limit anything. */
    mailboxes: (limit) => outbox.purge(clock.now(), limit),
    /** Events that no webhook will be told of. */
    webhooks: (limit) =>
      deps.transactions.run(({ webhooks }) => webhooks.purge(clock.now() - DELIVERIES_KEPT, limit, clock.now())),
  } satisfies Record<string, Purge>;
};
