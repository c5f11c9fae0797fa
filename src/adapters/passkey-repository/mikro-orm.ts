import { sql } from 'kysely';
import type { PasskeyRepository } from '../../application/ports/passkey-repository.ts';
import type { Passkey } from '../../domain/passkey.ts';
import { isId } from '../../domain/user.ts';
import { PasskeyEntity } from '../mikro-orm/entities.ts';
import { type DatabaseAccess, translated } from '../mikro-orm/queries.ts';
import { type Row, type Tables, toTime } from '../mikro-orm/rows.ts';

/** No other id is stored. PostgreSQL would refuse NUL. */
const BASE64URL = /^[\w-]+$/;

const toPasskey = (row: Row<'passkeys'>): Passkey => ({
  id: row.id,
  userId: row.user_id,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  userHandle: row.user_handle,
  counter: Number(row.counter),
  transports: row.transports === '' ? [] : row.transports.split(' '),
  aaguid: row.aaguid,
  isSynced: row.is_synced,
  isBackedUp: row.is_backed_up,
  name: row.name,
  createdAt: Number(row.created_at),
  lastUsedAt: toTime(row.last_used_at),
});

const found = (row: Row<'passkeys'> | undefined): Passkey | null => (row === undefined ? null : toPasskey(row));

export const mikroOrmPasskeyRepository = (db: DatabaseAccess): PasskeyRepository => {
  const tables = () => db.em.getKysely<Tables>();
  return {
    async add({ transports, ...passkey }) {
      await translated(() => db.em.insert(PasskeyEntity, { ...passkey, transports: transports.join(' ') }));
    },
    async findByCredential(credentialId) {
      if (!BASE64URL.test(credentialId)) return null;
      const query = tables().selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId);
      return found(await translated(() => query.executeTakeFirst()));
    },
    async listByUser(userId) {
      if (!isId(userId)) return [];
      const query = tables().selectFrom('passkeys').selectAll().where('user_id', '=', userId).orderBy('id');
      return (await translated(() => query.execute())).map(toPasskey);
    },
    async recordUse({ id, userId }, { counter, isBackedUp }, now) {
      if (!isId(id)) return false;
      const greatest = sql<number>`greatest(${sql.ref('counter')}, ${counter}::bigint)`;
      const change = tables()
        .updateTable('passkeys')
        .set({ counter: greatest, is_backed_up: isBackedUp, last_used_at: now })
        .where('id', '=', id)
        .where('user_id', '=', userId);
      return (await translated(() => change.executeTakeFirst())).numUpdatedRows > 0n;
    },
    async rename({ id, userId }, name) {
      if (!isId(id)) return null;
      const change = tables()
        .updateTable('passkeys')
        .set({ name })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returningAll();
      return found(await translated(() => change.executeTakeFirst()));
    },
    async remove({ id, userId }) {
      if (!isId(id)) return null;
      const removal = tables().deleteFrom('passkeys').where('id', '=', id).where('user_id', '=', userId).returningAll();
      return found(await translated(() => removal.executeTakeFirst()));
    },
  };
};
