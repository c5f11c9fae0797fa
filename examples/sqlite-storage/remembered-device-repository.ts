import type { SQLOutputValue } from 'node:sqlite';
import type { RememberedDevice, RememberedDeviceRepository } from 'tandem';
import type { Connection } from './connection.ts';

const toDevice = (row: Record<string, SQLOutputValue>): RememberedDevice => ({ ...row }) as RememberedDevice;

/** Devices on which users need not show the second factor again, in the table `rememberedDevices`. */
export const sqliteRememberedDeviceRepository = ({ database, read, write }: Connection): RememberedDeviceRepository => {
  const insert = database.prepare(
    'insert into rememberedDevices values (:id, :userId, :createdAt, :expiresAt, :userAgent, :address)',
  );
  const selectLive = database.prepare(`
    select * from rememberedDevices where userId = :userId and expiresAt > :now order by createdAt, id`);
  const deleteOne = database.prepare('delete from rememberedDevices where id = :id and userId = :userId');
  const deleteOfUser = database.prepare('delete from rememberedDevices where userId = ? returning id');
  const deleteExpired = database.prepare(`
    delete from rememberedDevices where id in (
      select id from rememberedDevices where expiresAt <= :now order by expiresAt limit :limit)`);
  return {
    async add(device) {
      await write(() => insert.run(device));
    },
    listByUser: async (userId, now) => (await read(() => selectLive.all({ userId, now }))).map(toDevice),
    remove: async ({ id, userId }) => (await write(() => deleteOne.run({ id, userId }))).changes > 0,
    removeOfUser: async (userId) => (await write(() => deleteOfUser.all(userId))).map(({ id }) => String(id)),
    purge: async (now, limit) => Number((await write(() => deleteExpired.run({ now, limit }))).changes),
  };
};
