import type { Origin } from '../../domain/event.ts';
import { isRememberedDevice, newRememberedDevice, remembers } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import type { Clock } from '../ports/clock.ts';
import type { DeviceSeals } from '../ports/device-seals.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { type Ending, endSession } from './end-sessions.ts';
import { endings, type RecordDeps, record } from './record.ts';

export type RememberedDeviceDeps = { readonly seals: DeviceSeals; readonly clock: Clock };

/** The ids of the devices of a user that a browser presents. */
const presentedIds = (
  { seals, clock }: RememberedDeviceDeps,
  userId: string,
  texts: readonly string[],
): ReadonlySet<string> => {
  const sealed = texts.map((text) => seals.open(text, 'remembered-device', clock.now()));
  return new Set(sealed.flatMap((each) => (each?.userId === userId ? [each.sessionId] : [])));
};

/** Whether the device with this id is remembered for the user. */
export const isRemembered = async (
  { clock }: Pick<RememberedDeviceDeps, 'clock'>,
  sessions: SessionRepository,
  user: User,
  id: string,
): Promise<boolean> => {
  const session = await sessions.find({ id, userId: user.id });
  return session !== null && remembers(session, user, clock.now());
};

/**
 * The id of the device of a request, if it is remembered for the user.
 * @param texts as the browser presents them.
 */
export const rememberedDeviceId = async (
  deps: RememberedDeviceDeps & { readonly sessions: SessionRepository },
  user: User,
  texts: readonly string[],
): Promise<string | null> => {
  for (const id of presentedIds(deps, user.id, texts)) if (await isRemembered(deps, deps.sessions, user, id)) return id;
  return null;
};

type Remembering = {
  readonly user: User;
  /** What the browser presents: these devices are replaced. */
  readonly texts: readonly string[];
  readonly origin: Origin;
};

/**
 * Remembers the device of a request, in a unit of work that has locked the user.
 * @returns a text for the browser, which presents it when it logs in.
 */
export const rememberDevice = async (
  deps: RememberedDeviceDeps & RecordDeps & { readonly ids: IdGenerator },
  stores: Pick<Stores, 'sessions' | 'events'>,
  { user: { id: userId }, texts, origin }: Remembering,
): Promise<string> => {
  for (const id of presentedIds(deps, userId, texts))
    await endSession(deps, stores, { id, userId }, { reason: 'replaced', origin });
  const { userAgent, address } = origin;
  const session = newRememberedDevice({
    id: deps.ids.next(),
    userId,
    now: deps.clock.now(),
    device: { userAgent, address },
  });
  const evicted = await stores.sessions.add(session);
  const remembered = { userId, kind: 'device-remembered', sessionId: session.id } as const;
  await record(deps, stores, origin, [remembered, ...endings(userId, evicted, 'evicted')]);
  const { id: sessionId, expiresAt } = session;
  return deps.seals.seal({ purpose: 'remembered-device', userId, sessionId, value: '', expiresAt });
};

/** Remembers none of a user's devices any more, in a unit of work that has locked the user: no second factor is left. */
export const forgetDevices = async (
  deps: RecordDeps,
  stores: Pick<Stores, 'sessions' | 'events'>,
  userId: string,
  ending: Ending,
): Promise<void> => {
  const devices = (await stores.sessions.listByUser(userId, deps.clock.now())).filter(isRememberedDevice);
  for (const { id } of devices) await endSession(deps, stores, { id, userId }, ending);
};
