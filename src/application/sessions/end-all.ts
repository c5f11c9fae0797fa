import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { REMEMBERED_FOR } from '../../domain/remembered-device.ts';
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
      const due = sessions.filter(({ createdAt }) => createdAt <= at);
      // In the order in which everybody locks several.
      for (const userId of [...new Set(due.map((session) => session.userId))].toSorted())
        await stores.users.lock(userId);
      const reason = { reason: 'operator', origin: { ...NO_ORIGIN, actor }, note } as const;
      let ended = 0;
      // One after the other: events of a user have an order.
      for (const session of due) if (await endSession(deps, stores, session, reason)) ended += 1;
      // A device expires so long after it was remembered.
      const isDone = sessions.length < limit && (await stores.devices.purge(at + REMEMBERED_FOR, limit)) < limit;
      await stores.massEndings.advance(id, isDone ? null : (sessions.at(-1)?.id ?? cursor ?? BEFORE_ALL));
      return ended;
    });
