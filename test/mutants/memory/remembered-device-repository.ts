import type { RememberedDeviceRepository } from '../../../src/application/ports/remembered-device-repository.ts';
import type { RememberedDevice } from '../../../src/domain/remembered-device.ts';
import { memoryTables, type Tables } from './tables.ts';

/** Keeps remembered devices in memory until the process ends. */
export const memoryRememberedDeviceRepository = (tables: Tables = memoryTables()): RememberedDeviceRepository => {
  const devices = tables.open<RememberedDevice>('remembered devices');
  const ofUser = (userId: string) => [...devices.values()].filter((device) => device.userId === userId);
  return {
    async add(device) {
      devices.set(device.id, { ...device });
    },
    listByUser: async (userId, now) =>
      ofUser(userId)
        .filter(({ expiresAt }) => now < expiresAt)
        .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
    remove: async ({ id, userId }) => devices.get(id)?.userId === userId && devices.delete(id),
    async removeOfUser(userId) {
      const ids = ofUser(userId).map(({ id }) => id);
      for (const id of ids) devices.delete(id);
      return ids;
    },
    async purge(now, limit) {
      const expired = [...devices.values()].filter(({ expiresAt }) => expiresAt <= now).slice(0, limit);
      for (const { id } of expired) devices.delete(id);
      return expired.length;
    },
  };
};
