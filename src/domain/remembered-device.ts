import type { Device } from './event.ts';
import type { User } from './user.ts';

/** A device on which a user need not present the second factor at a log-in. Times are epoch milliseconds. */
export type RememberedDevice = {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
} & Device;

/** A device is found by both, so that no user finds another user's. */
export type RememberedDeviceKey = Pick<RememberedDevice, 'id' | 'userId'>;

export const REMEMBERED_FOR = 30 * 86_400_000;

/** How many remembered devices a user may have. Beyond that, the oldest are forgotten. */
export const DEVICES_PER_USER = 50;

export const newRememberedDevice = (
  { id, userId }: RememberedDeviceKey,
  { userAgent, address }: Device,
  now: number,
): RememberedDevice => ({ id, userId, createdAt: now, expiresAt: now + REMEMBERED_FOR, userAgent, address });

type FactorTimes = Pick<User, 'passwordChangedAt' | 'secondFactorAt'>;

/** Whether the user has logged in on a device, and neither the password nor the second factor is newer. */
export const isKnown = (
  { createdAt, expiresAt }: RememberedDevice,
  { passwordChangedAt, secondFactorAt }: FactorTimes,
  now: number,
): boolean => now < expiresAt && passwordChangedAt <= createdAt && (secondFactorAt ?? 0) <= createdAt;

export const remembers = (device: RememberedDevice, user: FactorTimes, now: number): boolean =>
  user.secondFactorAt !== null && isKnown(device, user, now);
