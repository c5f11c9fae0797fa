import type { Device } from './event.ts';
import type { User } from './user.ts';

/** A device on which a user need not present the second factor again. It is no session: nobody is logged in by it. Times are epoch milliseconds. */
export type RememberedDevice = {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
} & Device;

/** Both are needed to find a device, so that no user finds another user's. */
export type RememberedDeviceKey = Pick<RememberedDevice, 'id' | 'userId'>;

export const REMEMBERED_FOR = 30 * 86_400_000;

/** How many remembered devices a user may have. Beyond that, the oldest are forgotten. */
export const DEVICES_PER_USER = 50;

export const newRememberedDevice = (
  { id, userId }: RememberedDeviceKey,
  { userAgent, address }: Device,
  now: number,
): RememberedDevice => ({ id, userId, createdAt: now, expiresAt: now + REMEMBERED_FOR, userAgent, address });

type Presented = Pick<User, 'passwordChangedAt' | 'secondFactorAt'>;

/** Whether a device is one that the user has logged in on: nothing of what was presented there may have changed since. */
export const isKnown = (
  { createdAt, expiresAt }: RememberedDevice,
  { passwordChangedAt, secondFactorAt }: Presented,
  now: number,
): boolean => now < expiresAt && passwordChangedAt <= createdAt && (secondFactorAt ?? 0) <= createdAt;

export const remembers = (device: RememberedDevice, user: Presented, now: number): boolean =>
  user.secondFactorAt !== null && isKnown(device, user, now);
