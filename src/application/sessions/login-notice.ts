import { type AccountEvent, isSameDevice, type Origin } from '../../domain/event.ts';
import type { User } from '../../domain/user.ts';
import { HOUR, LATEST_EVENTS, NOTICES_PER_HOUR, type NoticeDeps, sendsNotice } from '../notices.ts';
import type { Stores } from '../ports/transactions.ts';
import { enqueue } from '../record.ts';

type Owner = Pick<User, 'id' | 'email'>;

/**
 * Whether a log-in needs no notice: an earlier one had the same network and user agent, or notices are off. Called before the log-in is
 * stored.
 */
export const isUsualLogin = async (
  deps: NoticeDeps,
  { events }: Pick<Stores, 'events'>,
  { id }: Owner,
  origin: Origin,
): Promise<boolean> => !sendsNotice(deps, 'new-device') || events.knowsDevice(id, origin);

type Login = { readonly user: Owner; readonly sessionId: string; readonly origin: Origin };

/**
 * Notifies a user of an unusual log-in, after it is stored in the same transaction. No notice is sent when a recent log-in differs only
 * in the version of its browser, or after `NOTICES_PER_HOUR` notices.
 */
export const notifyOfLogin = async (
  deps: NoticeDeps,
  stores: Pick<Stores, 'events' | 'outbox'>,
  { user, sessionId, origin }: Login,
): Promise<void> => {
  const latest = await stores.events.list({ userId: user.id, before: null, limit: LATEST_EVENTS });
  const logins = latest.filter((event) => isLogin(event) && event.sessionId !== sessionId);
  if (logins.some((event) => isSameDevice(event, origin))) return;
  const since = deps.clock.now() - HOUR;
  if (devicesOf(logins.filter(({ at }) => at >= since)).length >= NOTICES_PER_HOUR) return;
  await enqueue(deps, stores, origin, [{ kind: 'new-device', userId: user.id, to: user.email }]);
};

const isLogin = ({ kind }: AccountEvent): boolean => kind === 'logged-in' || kind === 'registered';

const devicesOf = (logins: readonly AccountEvent[]): readonly AccountEvent[] =>
  logins.filter((login, at) => logins.findIndex((each) => isSameDevice(each, login)) === at);
