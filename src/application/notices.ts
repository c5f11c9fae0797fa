import { type Device, isSameDevice } from '../domain/device.ts';
import type { AccountEvent, Origin } from '../domain/event.ts';
import { type ChangeNotice, EVENT_TABLE, type NoticeGroup } from '../domain/event-table.ts';
import type { SessionKey } from '../domain/session.ts';
import type { User } from '../domain/user.ts';
import { reserveUndo } from './links.ts';
import { type Core, enqueue, record } from './service.ts';
import { useOnce } from './storage/credentials.ts';
import { countEvents, eventsOf, knowsDevice } from './storage/events.ts';
import { messagesOf } from './storage/outbox.ts';
import type { Stores } from './storage/records.ts';

const sendsNotice = ({ mailNotices }: Core, notice: NoticeGroup): boolean => mailNotices?.has(notice) ?? false;

/** The limit of several kinds of notices to a user: otherwise an attacker with the password could cause any number of mails. */
export const NOTICES_PER_HOUR = 5;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LATEST_EVENTS = 200;

const latestEvents = ({ records }: Stores, userId: string): Promise<AccountEvent[]> =>
  eventsOf(records, { userId, before: null, limit: LATEST_EVENTS });

/** `locale` is the language of the mail. Default: the language of the user when the mail is sent. */
export type NotifiedUser = Pick<User, 'id' | 'email' | 'emailVerifiedAt'> & Partial<Pick<User, 'locale'>>;

type NotifiedChange = {
  readonly kind: ChangeNotice;
  readonly user: NotifiedUser;
  readonly origin: Origin;
  /** The ids of the ways in that the change has added. If it is set, a mail may undo the change (`reserveUndo`). */
  readonly added?: readonly string[];
};

/** Notifies a user of a change of the account, after its event is stored. Changes by operators are not limited. */
export const notifyOfChange = async (deps: Core, stores: Stores, { kind, user, origin, added }: NotifiedChange) => {
  const createdAt =
    added && (deps.mailNotices?.size ?? 0) > 0 ? await reserveUndo(deps, stores, user, added) : undefined;
  if (!sendsNotice(deps, EVENT_TABLE[kind].notice)) return;
  const { id: userId, email: to, emailVerifiedAt, locale = null } = user;
  const countOfHour = () => countEvents(stores.records, userId, kind, deps.clock.now() - HOUR);
  if ((origin.actor ?? null) === null && (await countOfHour()) > NOTICES_PER_HOUR) return;
  const message = { kind, userId, to, locale, wasVerified: emailVerifiedAt !== null };
  await enqueue(deps, stores, origin, [{ ...message, ...(createdAt !== undefined && { createdAt }) }]);
};

export const recordChange = async (
  deps: Core,
  stores: Stores,
  { sessionId = null, ...change }: NotifiedChange & { readonly sessionId?: string | null },
): Promise<void> => {
  const { kind, user, origin } = change;
  await record(deps, stores, origin, [{ userId: user.id, kind, sessionId }]);
  await notifyOfChange(deps, stores, change);
};

/** Whether mails about changes of the address are on. Without them, former addresses are not reserved. */
export const notifiesFormerAddress = (deps: Core): boolean => sendsNotice(deps, 'email');

type Owner = Pick<User, 'id' | 'email'>;

/** Whether a log-in that is not stored yet needs no notice of a new device: the user has registered or logged in there, or these notices are off. */
export const isUsualLogin = async (deps: Core, { records }: Stores, { id }: Owner, origin: Origin): Promise<boolean> =>
  !sendsNotice(deps, 'new-device') || knowsDevice(deps, records, id, origin);

type Login = { readonly user: Owner; readonly sessionId: string; readonly origin: Origin };

/** Notifies a user of a new device after a log-in, which is stored already, or `endOtherSessions`. Another version of a known browser needs no notice. */
export const notifyOfLogin = async (deps: Core, stores: Stores, { user, sessionId, origin }: Login): Promise<void> => {
  const latest = await latestEvents(stores, user.id);
  const logins = latest.filter((event) => isLoginOrRegistration(event) && event.sessionId !== sessionId);
  if (logins.some((event) => isSameDevice(event, origin))) return;
  const since = deps.clock.now() - HOUR;
  if (distinctDevices(logins.filter(({ at }) => at >= since)).length >= NOTICES_PER_HOUR) return;
  const createdAt = await reserveUndo(deps, stores, user, []);
  await enqueue(deps, stores, origin, [{ kind: 'new-device', userId: user.id, to: user.email, createdAt }]);
};

const isLoginOrRegistration = ({ kind }: AccountEvent): boolean => kind === 'logged-in' || kind === 'registered';

const distinctDevices = (logins: readonly AccountEvent[]): readonly AccountEvent[] =>
  logins.filter((login, at) => logins.findIndex((each) => isSameDevice(each, login)) === at);

/** How many failed log-ins within an hour are too many for typing errors of the owner. */
const MANY_FAILURES = 10;

/** A log-in on a known device needs a notice if at least `refused` log-ins were refused since `since`. `null`: notices about devices are off. */
export const loginNotice = (deps: Core): { readonly since: number; readonly refused: number } | null =>
  sendsNotice(deps, 'new-device') ? { since: deps.clock.now() - HOUR, refused: MANY_FAILURES } : null;

/** Notifies a user of a log-in on a known device after many failed ones, once a day at most. */
export const notifyOfFailures = async (deps: Core, stores: Stores, { user, origin }: Omit<Login, 'sessionId'>) => {
  const { id: userId, email: to } = user;
  const now = deps.clock.now();
  const notice = loginNotice(deps);
  if (notice === null) return;
  if ((await countEvents(stores.records, userId, 'login-refused', notice.since)) < notice.refused) return;
  if (await useOnce(stores.records, `login-after-failures ${userId}`, now + DAY))
    await enqueue(deps, stores, origin, [{ kind: 'login-after-failures', userId, to }]);
};

/** Notifies a user of a right password on a new device. The mail waits, and is not sent if a second factor follows in time. */
export const notifyOfMissingFactor = async (deps: Core, { id: userId, email: to }: Owner, origin: Origin) => {
  if (!sendsNotice(deps, 'new-device') || (await knowsDevice(deps, deps.records, userId, origin))) return;
  await deps.transactions.run(async (stores) => {
    const waiting = await messagesOf(stores.records, userId);
    const isQueued = waiting.some(
      ({ kind, origin: from }) => kind === 'second-factor-missing' && isSameDevice(from, origin),
    );
    if (!isQueued) await enqueue(deps, stores, origin, [{ kind: 'second-factor-missing', userId, to }]);
  });
};

/** Asks a user by mail to change a password that is too long or has leaked, at most once a day for each of the two reasons. */
export const askForOtherPassword = async (
  deps: Core,
  kind: 'password-too-long' | 'password-leaked',
  user: Owner,
  origin: Origin,
): Promise<void> => {
  if (!sendsNotice(deps, 'password')) return;
  await deps.transactions.run(async (stores) => {
    if (await useOnce(stores.records, `${kind} ${user.id}`, deps.clock.now() + DAY))
      await enqueue(deps, stores, origin, [{ kind, userId: user.id, to: user.email }]);
  });
};

/**
 * Notifies a user of a replayed token, after the event of the ended session is stored. A replay from the device that has used the session last
 * needs no notice.
 * @param ended the sessions that this transaction has ended.
 */
export const notifyOfReplay = async (deps: Core, stores: Stores, userId: string, ended: Device[], origin: Origin) => {
  if (!sendsNotice(deps, 'replay') || ended.every((session) => isSameDevice(session, origin))) return;
  const user = await stores.users.findById(userId);
  if (user === null) return;
  const since = deps.clock.now() - HOUR;
  const latest = await latestEvents(stores, userId);
  const replays = latest.filter(({ reason, at }) => reason === 'token-replayed' && at >= since);
  if (replays.length <= NOTICES_PER_HOUR)
    await enqueue(deps, stores, origin, [{ kind: 'token-replayed', userId, to: user.email }]);
};

/** Records a refresh without a proof of the device, `NOTICES_PER_HOUR` times an hour at most, and notifies the user of some of them. */
export const recordUnprovenDevice = (deps: Core, session: SessionKey & Device, origin: Origin): Promise<void> =>
  deps.transactions.run(async (stores) => {
    const { userId, id: sessionId } = session;
    const isLimitReached = async () =>
      (await countEvents(stores.records, userId, 'device-unproven', deps.clock.now() - HOUR)) >= NOTICES_PER_HOUR;
    // The limit is also checked before the lock, so that many requests with a copied cookie do not make the user's own requests wait.
    if (await isLimitReached()) return;
    await stores.users.lock(userId);
    if (await isLimitReached()) return;
    await notifyOfUnprovenDevice(deps, stores, session, origin);
    await record(deps, stores, origin, [{ userId, kind: 'device-unproven', sessionId }]);
  });

/** Notifies the user of a refresh without a proof, unless it comes from the device that has used the session last, or follows another such one within a day. */
const notifyOfUnprovenDevice = async (deps: Core, stores: Stores, session: SessionKey & Device, origin: Origin) => {
  if (!sendsNotice(deps, 'replay') || isSameDevice(session, origin)) return;
  const { userId } = session;
  const since = deps.clock.now() - DAY;
  const isNotified = (event: AccountEvent) =>
    event.kind === 'device-unproven' && event.at >= since && !isSameDevice(session, event);
  if ((await latestEvents(stores, userId)).some(isNotified)) return;
  const user = await stores.users.findById(userId);
  if (user !== null) await enqueue(deps, stores, origin, [{ kind: 'device-unproven', userId, to: user.email }]);
};
