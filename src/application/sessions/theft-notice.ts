import { type AccountEvent, type Device, isSameDevice, type Origin } from '../../domain/event.ts';
import type { SessionKey } from '../../domain/session.ts';
import { HOUR, LATEST_EVENTS, NOTICES_PER_HOUR, type NoticeDeps, sendsNotice } from '../notices.ts';
import type { Stores } from '../ports/transactions.ts';
import { type ChangeDeps, enqueue, record } from '../record.ts';

type NoticeStores = Pick<Stores, 'users' | 'events' | 'outbox'>;

type Replay = {
  readonly userId: string;
  /** The sessions of replayed tokens that this transaction has ended. */
  readonly ended: readonly Device[];
  readonly origin: Origin;
};

/**
 * Notifies a user of a replayed token, after the event of the ended session is stored. Not when it came from the device that has used the
 * session last: it is the owner's, or in the hands of somebody who could log in there.
 */
export const notifyOfReplay = async (
  deps: NoticeDeps,
  stores: NoticeStores,
  { userId, ended, origin }: Replay,
): Promise<void> => {
  if (!sendsNotice(deps, 'replay') || ended.every((session) => isSameDevice(session, origin))) return;
  const user = await stores.users.findById(userId);
  if (user === null) return;
  const latest = await stores.events.list({ userId, before: null, limit: LATEST_EVENTS });
  const since = deps.clock.now() - HOUR;
  const replays = latest.filter(({ reason, at }) => reason === 'token-replayed' && at >= since);
  if (replays.length <= NOTICES_PER_HOUR)
    await enqueue(deps, stores, origin, [{ kind: 'token-replayed', userId, to: user.email }]);
};

const DAY = 24 * HOUR;

/** Stores that a refresh had no proof of the device, `NOTICES_PER_HOUR` times at most, and notifies the user once a day. */
export const recordUnprovenDevice = (
  deps: NoticeDeps & ChangeDeps,
  session: SessionKey & Device,
  origin: Origin,
): Promise<void> =>
  deps.transactions.run(async (stores) => {
    const { userId, id: sessionId } = session;
    const isOften = async () =>
      (await stores.events.countSince(userId, 'device-unproven', deps.clock.now() - HOUR)) >= NOTICES_PER_HOUR;
    // Before the lock, too: a copied cookie must not hold up its user.
    if (await isOften()) return;
    await stores.users.lock(userId);
    if (await isOften()) return;
    await notifyOfUnprovenDevice(deps, stores, session, origin);
    await record(deps, stores, origin, [{ userId, kind: 'device-unproven', sessionId }]);
  });

/** Not when the request came from the device that has used the session last, as for replays. */
const notifyOfUnprovenDevice = async (
  deps: NoticeDeps,
  stores: NoticeStores,
  session: SessionKey & Device,
  origin: Origin,
): Promise<void> => {
  if (!sendsNotice(deps, 'replay') || isSameDevice(session, origin)) return;
  const { userId } = session;
  const latest = await stores.events.list({ userId, before: null, limit: LATEST_EVENTS });
  const since = deps.clock.now() - DAY;
  const isNotified = (event: AccountEvent) =>
    event.kind === 'device-unproven' && event.at >= since && !isSameDevice(session, event);
  if (latest.some(isNotified)) return;
  const user = await stores.users.findById(userId);
  if (user !== null) await enqueue(deps, stores, origin, [{ kind: 'device-unproven', userId, to: user.email }]);
};
