import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { REMEMBERED_FOR } from '../../domain/remembered-device.ts';
import type { Session } from '../../domain/session.ts';
import type { ChangeDeps } from '../use-case.ts';
import { endSession } from './end-sessions.ts';

/**
 * Begins to end all sessions that are open now, and to forget the remembered devices, after an incident. `continueEndingAll` does it, here or in any
 * instance. Sessions that are opened later stay.
 * @param note why, for the users
 */
export const beginEndingAll =
  (deps: ChangeDeps) =>
  async (origin: Origin, note: string | null): Promise<void> => {
    const [id, at] = [deps.ids.next(), deps.clock.now()];
    await deps.transactions.run(async ({ massEndings, endings }) => {
      await massEndings.add({ id, at, note, actor: origin.actor ?? null, cursor: null });
      // Services that verify access tokens offline need not wait for the last step.
      await endings.add({ id, at, userId: null, sessionId: null, reason: 'operator' });
    });
  };

/** A place before all ids: devices may be left where no session was found. */
const BEFORE_ALL = '';

/** Ends some of them. @returns how many; `null` when nothing is left. */
export const continueEndingAll =
  (deps: ChangeDeps) =>
  (limit: number): Promise<number | null> =>
    deps.transactions.run(async (stores) => {
      const ending = await stores.massEndings.next();
      if (ending === null) return null;
      const { id, at, note, actor, cursor } = ending;
      const sessions = await stores.sessions.listAll(cursor, limit);
      // A session that has replaced another, in which its user had logged in before, is younger.
      const isDue = ({ createdAt, authenticatedAt }: Session) => Math.min(createdAt, authenticatedAt) <= at;
      const due = sessions.filter(isDue);
      // In the order in which everybody locks several.
      for (const userId of [...new Set(due.map((session) => session.userId))].toSorted())
        await stores.users.lock(userId);
      const reason = { reason: 'operator', origin: { ...NO_ORIGIN, actor }, note } as const;
      let ended = 0;
      const end = async (session: Session): Promise<boolean> => {
        const wasOpen = await endSession(deps, stores, session, reason);
        if (wasOpen) ended += 1;
        return wasOpen;
      };
      // One after the other: events of a user have an order.
      for (const session of due) {
        if (await end(session)) continue;
        // It has gone since it was read, and may have been replaced. Its user is locked now.
        const others = await stores.sessions.listByUser(session.userId, at);
        for (const other of others.filter(isDue)) await end(other);
      }
      // A device expires so long after it was remembered.
      const isDone = sessions.length < limit && (await stores.devices.purge(at + REMEMBERED_FOR, limit)) < limit;
      await stores.massEndings.advance(id, isDone ? null : (sessions.at(-1)?.id ?? cursor ?? BEFORE_ALL));
      return ended;
    });
