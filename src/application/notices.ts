import { type AccountEvent, type Device, isSameDevice, type Origin } from '../domain/event.ts';
import { type ChangeNotice, HAPPENINGS, type Notice } from '../domain/happenings.ts';
import type { SessionKey } from '../domain/session.ts';
import type { User } from '../domain/user.ts';
import { reserveUndo } from './links.ts';
import { type Core, enqueue, record } from './service.ts';
import { useOnce } from './storage/credentials.ts';
import { countEvents, eventsOf, knowsDevice } from './storage/events.ts';
import { messagesOf } from './storage/outbox.ts';
import type { Stores } from './storage/records.ts';

const sendsNotice = ({ notices }: Core, notice: Notice): boolean => notices?.has(notice) ?? false;

/** The most notices of one kind that a user gets in an hour: an attacker with the password could cause any number. */
export const NOTICES_PER_HOUR = 5;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** How many of the latest events of a user decide about a notice. */
const LATEST_EVENTS = 200;

/** With the language of the mail, if it is not the one at the time when it is sent. */
export type NotifiedUser = Pick<User, 'id' | 'email' | 'emailVerifiedAt'> & Partial<Pick<User, 'locale'>>;

type Change = {
  readonly kind: ChangeNotice;
  readonly user: NotifiedUser;
  readonly origin: Origin;
  /** The ids of the ways in that it has added. With them, or for one that was removed, a link in the mail undoes this and what comes after it. */
  readonly added?: readonly string[];
};

/** Notifies a user of a change of the account, after its event is stored. What an operator does is not limited. */
export const notifyOfChange = async (deps: Core, stores: Stores, { kind, user, origin, added }: Change) => {
  const createdAt = added && (deps.notices?.size ?? 0) > 0 ? await reserveUndo(deps, stores, user, added) : undefined;
  if (!sendsNotice(deps, HAPPENINGS[kind].notice)) return;
  const { id: userId, email: to, emailVerifiedAt, locale = null } = user;
  const countOfHour = () => countEvents(stores.records, userId, kind, deps.clock.now() - HOUR);
  if ((origin.actor ?? null) === null && (await countOfHour()) > NOTICES_PER_HOUR) return;
  const message = { kind, userId, to, locale, wasVerified: emailVerifiedAt !== null };
  await enqueue(deps, stores, origin, [{ ...message, ...(createdAt !== undefined && { createdAt }) }]);
};

export const recordChange = async (
  deps: Core,
  stores: Stores,
  { sessionId = null, ...change }: Change & { readonly sessionId?: string | null },
): Promise<void> => {
  const { kind, user, origin } = change;
  await record(deps, stores, origin, [{ userId: user.id, kind, sessionId }]);
  await notifyOfChange(deps, stores, change);
};

/** Whether a former address gets mail about a change, with a link that undoes it. */
export const notifiesFormerAddress = (deps: Core): boolean => sendsNotice(deps, 'email');

type Owner = Pick<User, 'id' | 'email'>;

/** Whether a log-in needs no notice: an earlier one had the same network and user agent, or notices are off. Called before the log-in is stored. */
export const isUsualLogin = async (deps: Core, { records }: Stores, { id }: Owner, origin: Origin): Promise<boolean> =>
  !sendsNotice(deps, 'new-device') || knowsDevice(deps, records, id, origin);

type Login = { readonly user: Owner; readonly sessionId: string; readonly origin: Origin };

/**
 * Notifies a user of an unusual log-in, after it is stored in the same transaction. No notice is sent when a recent log-in differs only
 * in the version of its browser, or after `NOTICES_PER_HOUR` notices.
 */
export const notifyOfLogin = async (deps: Core, stores: Stores, { user, sessionId, origin }: Login): Promise<void> => {
  const latest = await eventsOf(stores.records, { userId: user.id, before: null, limit: LATEST_EVENTS });
  const logins = latest.filter((event) => isLogin(event) && event.sessionId !== sessionId);
  if (logins.some((event) => isSameDevice(event, origin))) return;
  const since = deps.clock.now() - HOUR;
  if (devicesOf(logins.filter(({ at }) => at >= since)).length >= NOTICES_PER_HOUR) return;
  const createdAt = await reserveUndo(deps, stores, user, []);
  await enqueue(deps, stores, origin, [{ kind: 'new-device', userId: user.id, to: user.email, createdAt }]);
};

const isLogin = ({ kind }: AccountEvent): boolean => kind === 'logged-in' || kind === 'registered';

const devicesOf = (logins: readonly AccountEvent[]): readonly AccountEvent[] =>
  logins.filter((login, at) => logins.findIndex((each) => isSameDevice(each, login)) === at);

/** Log-ins that failed within an hour: more than an owner mistypes. */
const MANY_FAILURES = 10;

/** When a log-in on a known device needs a notice: after so many that failed since a time; `null`: notices are off. */
export const loginNotice = (deps: Core): { readonly since: number; readonly refused: number } | null =>
  sendsNotice(deps, 'new-device') ? { since: deps.clock.now() - HOUR, refused: MANY_FAILURES } : null;

/** Notifies a user of a log-in on a known device after many that failed: once a day at most. */
export const notifyOfFailures = async (deps: Core, stores: Stores, { user, origin }: Omit<Login, 'sessionId'>) => {
  const { id: userId, email: to } = user;
  const now = deps.clock.now();
  const notice = loginNotice(deps);
  if (notice === null) return;
  if ((await countEvents(stores.records, userId, 'login-refused', notice.since)) < notice.refused) return;
  if (await useOnce(stores.records, `login-after-failures ${userId}`, now + DAY))
    await enqueue(deps, stores, origin, [{ kind: 'login-after-failures', userId, to }]);
};

/** Notifies a user of a right password on a new device, unless the second factor follows in time. */
export const notifyOfPassword = async (deps: Core, { id: userId, email: to }: Owner, origin: Origin): Promise<void> => {
  if (!sendsNotice(deps, 'new-device') || (await knowsDevice(deps, deps.records, userId, origin))) return;
  await deps.transactions.run(async (stores) => {
    const waiting = await messagesOf(stores.records, userId);
    const isTold = waiting.some(
      ({ kind, origin: from }) => kind === 'second-factor-missing' && isSameDevice(from, origin),
    );
    if (!isTold) await enqueue(deps, stores, origin, [{ kind: 'second-factor-missing', userId, to }]);
  });
};

/** Asks the user of a password that cannot be stored safely, or has leaked, to change it: once a day at most. */
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
 * Notifies a user of a replayed token, after the event of the ended session is stored. Not when it came from the device that has used the
 * session last: it is the owner's, or in the hands of somebody who could log in there.
 * @param ended the sessions of replayed tokens that this transaction has ended.
 */
export const notifyOfReplay = async (
  deps: Core,
  stores: Stores,
  userId: string,
  ended: readonly Device[],
  origin: Origin,
): Promise<void> => {
  if (!sendsNotice(deps, 'replay') || ended.every((session) => isSameDevice(session, origin))) return;
  const user = await stores.users.findById(userId);
  if (user === null) return;
  const latest = await eventsOf(stores.records, { userId, before: null, limit: LATEST_EVENTS });
  const since = deps.clock.now() - HOUR;
  const replays = latest.filter(({ reason, at }) => reason === 'token-replayed' && at >= since);
  if (replays.length <= NOTICES_PER_HOUR)
    await enqueue(deps, stores, origin, [{ kind: 'token-replayed', userId, to: user.email }]);
};

/** Stores that a refresh had no proof of the device, `NOTICES_PER_HOUR` times at most, and notifies the user once a day. */
export const recordUnprovenDevice = (deps: Core, session: SessionKey & Device, origin: Origin): Promise<void> =>
  deps.transactions.run(async (stores) => {
    const { userId, id: sessionId } = session;
    const isOften = async () =>
      (await countEvents(stores.records, userId, 'device-unproven', deps.clock.now() - HOUR)) >= NOTICES_PER_HOUR;
    // Before the lock, too: a copied cookie must not hold up its user.
    if (await isOften()) return;
    await stores.users.lock(userId);
    if (await isOften()) return;
    await notifyOfUnprovenDevice(deps, stores, session, origin);
    await record(deps, stores, origin, [{ userId, kind: 'device-unproven', sessionId }]);
  });

/** No notice if browser and network are those of the session's last use: the same rule as for replays. */
const notifyOfUnprovenDevice = async (deps: Core, stores: Stores, session: SessionKey & Device, origin: Origin) => {
  if (!sendsNotice(deps, 'replay') || isSameDevice(session, origin)) return;
  const { userId } = session;
  const latest = await eventsOf(stores.records, { userId, before: null, limit: LATEST_EVENTS });
  const since = deps.clock.now() - DAY;
  const isNotified = (event: AccountEvent) =>
    event.kind === 'device-unproven' && event.at >= since && !isSameDevice(session, event);
  if (latest.some(isNotified)) return;
  const user = await stores.users.findById(userId);
  if (user !== null) await enqueue(deps, stores, origin, [{ kind: 'device-unproven', userId, to: user.email }]);
};
