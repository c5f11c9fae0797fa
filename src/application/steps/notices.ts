import { isSameDevice } from '../../domain/device.ts';
import type { AccountEvent, Origin } from '../../domain/event.ts';
import type { Notice } from '../../domain/message.ts';
import type { User } from '../../domain/user.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { type RecordDeps, tell } from './record.ts';

export type NoticeDeps = RecordDeps & {
  /** What users are told by email; nothing without mail. */
  readonly notices?: ReadonlySet<Notice> | undefined;
};

type NoticeStores = Pick<Stores, 'events' | 'outbox'>;
type Owner = Pick<User, 'id' | 'email'>;

/** Notices of one kind that a user gets in an hour at most: somebody who has the password can cause any number. */
export const NOTICES_PER_HOUR = 5;
const HOUR = 3_600_000;
/** How many of the latest events are looked at. */
const LATEST = 200;

/**
 * Whether a log-in needs no notice: it is from a network and a user agent of an earlier one, or notices are off. To be asked before the
 * log-in is stored.
 */
export const isUsualLogin = async (
  deps: NoticeDeps,
  { events }: Pick<Stores, 'events'>,
  { id }: Owner,
  origin: Origin,
): Promise<boolean> => !isOn(deps, 'new-device') || events.knowsDevice(id, origin);

type Login = { readonly user: Owner; readonly sessionId: string; readonly origin: Origin };

/**
 * Tells a user about a log-in that is not a usual one, after it is stored in the same unit of work: unless it is from the same device
 * as one of the latest, with another version of the browser. A user who has logged in on many devices within an hour has been told.
 */
export const noticeOfLogin = async (
  deps: NoticeDeps,
  stores: NoticeStores,
  { user, sessionId, origin }: Login,
): Promise<void> => {
  const latest = await stores.events.list({ userId: user.id, before: null, limit: LATEST });
  const logins = latest.filter((event) => isLogin(event) && event.sessionId !== sessionId);
  if (logins.some((event) => isSameDevice(event, origin))) return;
  const since = deps.clock.now() - HOUR;
  if (devicesOf(logins.filter(({ at }) => at >= since)).length >= NOTICES_PER_HOUR) return;
  await tell(deps, stores, origin, [{ kind: 'new-device', userId: user.id, to: user.email }]);
};

const isLogin = ({ kind }: AccountEvent): boolean => kind === 'logged-in' || kind === 'registered';

const devicesOf = (logins: readonly AccountEvent[]): readonly AccountEvent[] =>
  logins.filter((login, at) => logins.findIndex((each) => isSameDevice(each, login)) === at);

/** Tells a user that the password was changed, after the event of the change. */
export const noticeOfPassword = async (
  deps: NoticeDeps,
  stores: NoticeStores,
  user: Owner,
  origin: Origin,
): Promise<void> => {
  if (!isOn(deps, 'password')) return;
  const changes = await stores.events.countSince(user.id, 'password-changed', deps.clock.now() - HOUR);
  if (changes <= NOTICES_PER_HOUR)
    await tell(deps, stores, origin, [{ kind: 'password-changed', userId: user.id, to: user.email }]);
};

/** Tells a user that a token was replayed, after the event of the session that it ended. */
export const noticeOfReplay = async (
  deps: NoticeDeps,
  stores: NoticeStores & Pick<Stores, 'users'>,
  userId: string,
  origin: Origin,
): Promise<void> => {
  if (!isOn(deps, 'replay')) return;
  const user = await stores.users.findById(userId);
  if (user === null) return;
  const latest = await stores.events.list({ userId, before: null, limit: LATEST });
  const since = deps.clock.now() - HOUR;
  const replays = latest.filter(({ reason, at }) => reason === 'token-replayed' && at >= since);
  if (replays.length <= NOTICES_PER_HOUR)
    await tell(deps, stores, origin, [{ kind: 'token-replayed', userId, to: user.email }]);
};

/** Whether a former address is told of a change, so that it can be taken back. */
export const areAddressesTold = (deps: Pick<NoticeDeps, 'notices'>): boolean => isOn(deps, 'email');

const isOn = ({ notices }: Pick<NoticeDeps, 'notices'>, notice: Notice): boolean => notices?.has(notice) ?? false;
