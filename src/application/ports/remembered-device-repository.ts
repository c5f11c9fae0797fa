import type { RememberedDevice, RememberedDeviceKey } from '../../domain/remembered-device.ts';

/**
 * Stores the devices on which users need not present the second factor again.
 * - lists the live devices of one user, the oldest first
 * - removes a device of its user alone, and says so once
 * - removes all devices of one user, and returns their ids
 * - purges expired devices, and only those
 */
export interface RememberedDeviceRepository {
  /** @throws AppError DB_UNIQUE_VIOLATION when the id is stored; DB_QUERY_FAILED when the user is not. */
  add(device: RememberedDevice): Promise<void>;
  listByUser(userId: string, now: number): Promise<RememberedDevice[]>;
  /** @returns whether the user had such a device. */
  remove(key: RememberedDeviceKey): Promise<boolean>;
  /** @returns the ids of the devices that were removed, expired ones included. */
  removeOfUser(userId: string): Promise<readonly string[]>;
  purge(now: number, limit: number): Promise<number>;
}
