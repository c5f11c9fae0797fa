import { DEVICES_PER_USER, isTrusted, newRememberedDevice, type RememberedDeviceKey } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { type EventDraft, NO_ORIGIN, type Origin, type SessionEnding } from '../../domain/event.ts';
import type { Session, SessionKey } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import { notifyOfReplay } from '../notices.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import { type Core, record, type Service, type Sources } from '../service.ts';
import { devicesOf } from '../storage/credentials.ts';
import type { Records, Stores } from '../storage/records.ts';
import { removeRow, removeRows } from '../storage/rows.ts';
import { assessTokens, reusedSessions, verifiedTokens } from './tokens.ts';

/** The ids of the remembered devices in texts that a browser presents. They may be of other users. */
const presentedIds = ({ secrets, clock }: Service, texts: readonly string[]): ReadonlySet<string> => {
  const signed = texts.map((text) => secrets.unsign(text, 'remembered-device', clock.now()));
  return new Set(signed.flatMap((each) => each?.sessionId ?? []));
};

export const isRemembered = async ({ clock }: Sources, records: Records, user: User, id: string): Promise<boolean> => {
  const now = clock.now();
  return (await devicesOf(records, user.id, now)).some((device) => device.id === id && isTrusted(device, user, now));
};

/** The id of the remembered device of a request. @param texts the signed texts that the browser presents. @param accepts whether a live device counts. */
export const findRememberedDevice = async (
  deps: Service,
  user: User,
  texts: readonly string[],
  accepts = isTrusted,
) => {
  const ids = presentedIds(deps, texts);
  if (ids.size === 0) return null;
  const now = deps.clock.now();
  const live = await devicesOf(deps.records, user.id, now);
  return live.find((device) => ids.has(device.id) && accepts(device, user, now))?.id ?? null;
};

type DeviceToRemember = {
  readonly user: User;
  /** The signed texts of remembered devices that the browser presents. The new device replaces those of the user. */
  readonly texts: readonly string[];
  readonly origin: Origin;
};

/** Remembers the device of a request, in a transaction that has locked the user. @returns a text for a cookie. */
export const rememberDevice = async (
  deps: Service,
  stores: Stores,
  { user: { id: userId }, texts, origin }: DeviceToRemember,
): Promise<string> => {
  for (const id of presentedIds(deps, texts))
    await forgetDevice(deps, stores, { id, userId }, { reason: 'replaced', origin });
  const now = deps.clock.now();
  const device = newRememberedDevice({ id: deps.ids.next(), userId }, origin, now);
  for (const surplus of (await devicesOf(stores.records, userId, now)).slice(0, 1 - DEVICES_PER_USER))
    await forgetDevice(deps, stores, surplus, { reason: 'evicted', origin });
  await stores.records.insert('rememberedDevices', device);
  await record(deps, stores, origin, [{ userId, kind: 'device-remembered', sessionId: device.id }]);
  const { id: sessionId, expiresAt } = device;
  return deps.secrets.sign({ purpose: 'remembered-device', userId, sessionId, value: '', expiresAt });
};

type DeviceEnding = { readonly reason: SessionEnding; readonly origin: Origin };

const forgetDevice = async (
  deps: Sources,
  stores: Stores,
  { id, userId }: RememberedDeviceKey,
  { reason, origin }: DeviceEnding,
): Promise<boolean> => {
  const forgotten = (await removeRow(stores.records, 'rememberedDevices', { id, userId })) !== null;
  if (forgotten) await record(deps, stores, origin, deviceEvents(userId, [id], reason));
  return forgotten;
};

export const forgetDevices = async (
  deps: Sources,
  stores: Stores,
  userId: string,
  { reason, origin }: DeviceEnding,
): Promise<void> => {
  const forgotten = await removeRows(stores.records, 'rememberedDevices', { userId });
  const ids = forgotten.map(({ id }) => id);
  await record(deps, stores, origin, deviceEvents(userId, ids, reason));
};

const deviceEvents = (userId: string, ids: readonly string[], reason: SessionEnding) =>
  ids.map((sessionId) => ({ userId, kind: 'device-forgotten', sessionId, reason }) as const);

export const sessionEvents = (
  userId: string,
  ids: readonly string[],
  reason: SessionEnding,
  note: string | null = null,
): EventDraft[] => ids.map((sessionId) => ({ userId, kind: 'session-ended', sessionId, reason, note }));

export type EndOptions = {
  readonly reason: SessionEnding;
  readonly origin: Origin;
  readonly note?: string | null;
  /** Whether the list of ended sessions gets an entry. Default: it does. */
  readonly isListed?: boolean;
};

export const endSession = async (
  deps: Sources,
  stores: Stores,
  key: SessionKey,
  { reason, origin, note, isListed }: EndOptions,
): Promise<boolean> => {
  const ended = await stores.sessions.end(key);
  if (ended) await record(deps, stores, origin, sessionEvents(key.userId, [key.id], reason, note), isListed);
  return ended;
};

export const endSessionOrDevice = async (deps: Sources, stores: Stores, key: SessionKey, ending: EndOptions) => {
  if ((await endSession(deps, stores, key, ending)) || (await forgetDevice(deps, stores, key, ending))) return;
  throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user has no such session' });
};

/** Locks a user, ends the sessions except `exceptId`, and forgets the remembered devices. @returns how many sessions ended. */
export const endSessionsOf = async (
  deps: Sources,
  stores: Stores,
  userId: string,
  { reason, origin, note, exceptId }: EndOptions & { readonly exceptId?: string },
): Promise<number> => {
  await stores.users.lock(userId);
  const ended = await stores.sessions.endByUser(userId, ({ id }) => id !== exceptId);
  await record(deps, stores, origin, sessionEvents(userId, ended, reason, note));
  await forgetDevices(deps, stores, userId, { reason, origin });
  return ended.length;
};

type PresentedTokens = {
  readonly userId: string;
  readonly verified: readonly RefreshToken[];
  readonly origin: Origin;
  /** The reason for sessions whose tokens were not reused. */
  readonly reason: SessionEnding;
};

/**
 * Ends the sessions whose tokens a device presents at a log-in or a log-out, in a transaction that has locked the user. If a token was reused, its session
 * ends by `endReplayed`: the browser will not present the token again.
 */
export const endPresentedSessions = async (
  deps: Service,
  stores: Stores,
  { userId, verified, origin, reason }: PresentedTokens,
): Promise<void> => {
  const own = verified.filter(({ claims }) => claims.sub === userId);
  const assessed = await assessTokens({ ...deps, sessions: stores.sessions }, own);
  const live = new Set(assessed.filter(({ status }) => status !== 'ended').map(({ token }) => token.sessionId));
  await endReplayed(deps, stores, userId, reusedSessions(assessed), origin);
  const current = new Set(assessed.filter(({ status }) => status === 'current').map(({ token }) => token.sessionId));
  // A log-in adds no entry to the list of ended sessions for a session whose current refresh token it presents: nobody else has a newer one.
  const isListed = (id: string) => reason !== 'replaced' || !current.has(id);
  for (const id of live) await endSession(deps, stores, { id, userId }, { reason, origin, isListed: isListed(id) });
};

/** Ends the sessions of reused tokens as `token-replayed`, and may notify their user (`notifyOfReplay`), in a transaction that has locked the user. */
export const endReplayed = async (
  deps: Core,
  stores: Stores,
  userId: string,
  sessions: readonly Session[],
  origin: Origin,
) => {
  const ended: Session[] = [];
  for (const session of sessions)
    if (await endSession(deps, stores, session, { reason: 'token-replayed', origin })) ended.push(session);
  await notifyOfReplay(deps, stores, userId, ended, origin);
};

/** Ends the session of every refresh token that verifies, and ignores invalid ones. */
export const logout =
  (deps: Service) =>
  async (refreshTokens: readonly string[], origin = NO_ORIGIN): Promise<void> => {
    const verified = await verifiedTokens(deps, refreshTokens);
    const userIds = new Set(verified.map(({ claims }) => claims.sub));
    // Two transactions that lock several users could deadlock, so each user has a transaction of their own.
    for (const userId of userIds) {
      await deps.transactions.run(async (stores) => {
        await stores.users.lock(userId);
        await endPresentedSessions(deps, stores, { userId, verified, origin, reason: 'logout' });
      });
    }
  };
