import type { RememberedDeviceRepository } from '../../application/ports/remembered-device-repository.ts';
import type { RememberedDevice } from '../../domain/remembered-device.ts';
import { isId } from '../../domain/user.ts';
import { RememberedDeviceEntity } from '../mikro-orm/entities.ts';
import { type DatabaseAccess, translated } from '../mikro-orm/queries.ts';
import { purgeRows, type Row, type Tables } from '../mikro-orm/rows.ts';

const TABLE = 'remembered_devices';

const toDevice = (row: Row<typeof TABLE>): RememberedDevice => ({
  id: row.id,
  userId: row.user_id,
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
  userAgent: row.user_agent,
  address: row.address,
});

export const mikroOrmRememberedDeviceRepository = (db: DatabaseAccess): RememberedDeviceRepository => {
  const tables = () => db.em.getKysely<Tables>();
  return {
    async add(device) {
      await translated(() => db.em.insert(RememberedDeviceEntity, device));
    },
    async listByUser(userId, now) {
      if (!isId(userId)) return [];
      const live = tables().selectFrom(TABLE).selectAll().where('user_id', '=', userId).where('expires_at', '>', now);
      const rows = await translated(() => live.orderBy('created_at').orderBy('id').execute());
      return rows.map(toDevice);
    },
    async remove({ id, userId }) {
      if (!isId(id) || !isId(userId)) return false;
      const removal = tables().deleteFrom(TABLE).where('id', '=', id).where('user_id', '=', userId);
      return (await translated(() => removal.executeTakeFirst())).numDeletedRows > 0n;
    },
    async removeOfUser(userId) {
      if (!isId(userId)) return [];
      const removal = tables().deleteFrom(TABLE).where('user_id', '=', userId).returning('id');
      return (await translated(() => removal.execute())).map(({ id }) => id);
    },
    purge: (now, limit) => purgeRows(db, { table: TABLE, key: 'id', time: 'expires_at', until: now, limit }),
  };
};
