import type { Origin, SessionEnding } from '../../domain/event.ts';
import {
  DEVICES_PER_USER,
  newRememberedDevice,
  type RememberedDevice,
  type RememberedDeviceKey,
  remembers,
} from '../../domain/remembered-device.ts';
import type { User } from '../../domain/user.ts';
import { record, type Service, type Sources } from '../service.ts';
import { deleteDevice, devicesOf } from '../storage/factors.ts';
import type { Records, Stores } from '../storage/records.ts';
import { removeRows } from '../storage/rows.ts';

const presentedIds = ({ secrets, clock }: Service, userId: string, texts: readonly string[]): ReadonlySet<string> => {
  const signed = texts.map((text) => secrets.unsign(text, 'remembered-device', clock.now()));
  return new Set(signed.flatMap((each) => (each?.userId === userId ? [each.sessionId] : [])));
};

export const isRemembered = async ({ clock }: Sources, records: Records, user: User, id: string): Promise<boolean> => {
  const now = clock.now();
  const device = (await devicesOf(records, user.id, now)).find((each) => each.id === id);
  return device !== undefined && remembers(device, user, now);
};

/**
 * The id of the device of a request, if it is remembered for the user.
 * @param texts as the browser presents them.
 */
export const rememberedDeviceId = async (
  deps: Service,
  user: User,
  texts: readonly string[],
  isStillGood = remembers,
): Promise<string | null> => {
  const ids = presentedIds(deps, user.id, texts);
  if (ids.size === 0) return null;
  const now = deps.clock.now();
  const live = await devicesOf(deps.records, user.id, now);
  return live.find((device) => ids.has(device.id) && isStillGood(device, user, now))?.id ?? null;
};

type Remembering = {
  readonly user: User;
  /** What the browser presents: these devices are replaced. */
  readonly texts: readonly string[];
  readonly origin: Origin;
};

/**
 * Remembers the device of a request, in a transaction that has locked the user.
 * @returns a text for the browser, which presents it when it logs in.
 */
export const rememberDevice = async (
  deps: Service,
  stores: Stores,
  { user: { id: userId }, texts, origin }: Remembering,
): Promise<string> => {
  for (const id of presentedIds(deps, userId, texts))
    await forgetDevice(deps, stores, { id, userId }, { reason: 'replaced', origin });
  const now = deps.clock.now();
  const device = newRememberedDevice({ id: deps.ids.next(), userId }, origin, now);
  for (const surplus of (await devicesOf(stores.records, userId, now)).slice(0, 1 - DEVICES_PER_USER))
    await forgetDevice(deps, stores, surplus, { reason: 'evicted', origin });
  await stores.records.insert('rememberedDevices', device);
  await record(deps, stores, origin, [{ userId, kind: 'device-remembered', sessionId: device.id }]);
  return signedDevice(deps, device);
};

const signedDevice = ({ secrets }: Service, { id: sessionId, userId, expiresAt }: RememberedDevice): string =>
  secrets.sign({ purpose: 'remembered-device', userId, sessionId, value: '', expiresAt });

type DeviceEnding = { readonly reason: SessionEnding; readonly origin: Origin };

/** Forgets one device of a user. @returns whether the user had such a device. */
export const forgetDevice = async (
  deps: Sources,
  stores: Stores,
  key: RememberedDeviceKey,
  { reason, origin }: DeviceEnding,
): Promise<boolean> => {
  const forgotten = await deleteDevice(stores.records, key);
  if (forgotten) await record(deps, stores, origin, deviceEvents(key.userId, [key.id], reason));
  return forgotten;
};

/** Forgets all devices of a user, in a transaction that has locked the user. */
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
