import type { RememberedDeviceRepository } from '../../application/ports/remembered-device-repository.ts';
import type { RememberedDevice } from '../../domain/remembered-device.ts';
import { purgeRows, removeRows, takeRow } from './change.ts';
import type { Records, Stored } from './records.ts';

const toDevice = ({ version: _version, ...device }: Stored<'rememberedDevices'>): RememberedDevice => device;

const byAge = (a: RememberedDevice, b: RememberedDevice): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

export const rememberedDeviceRepositoryOver = (records: Records): RememberedDeviceRepository => ({
  add: (device) => records.insert('rememberedDevices', device),
  async listByUser(userId, now) {
    const devices = await records.list('rememberedDevices', { equal: { userId } });
    return devices
      .filter(({ expiresAt }) => now < expiresAt)
      .map(toDevice)
      .sort(byAge);
  },
  remove: async ({ id, userId }) => (await takeRow(records, 'rememberedDevices', { id, userId })) !== null,
  removeOfUser: async (userId) => (await removeRows(records, 'rememberedDevices', { userId })).map(({ id }) => id),
  purge: (now, limit) => purgeRows(records, 'rememberedDevices', { time: 'expiresAt', until: now, limit }),
});
