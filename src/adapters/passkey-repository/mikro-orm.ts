import type { InferEntity } from '@mikro-orm/core';
import { sql } from 'kysely';
import type { PasskeyRepository } from '../../application/ports/passkey-repository.ts';
import type { Passkey } from '../../domain/passkey.ts';
import { isId } from '../../domain/user.ts';
import { PasskeyEntity } from '../mikro-orm/entities.ts';
import { type DatabaseAccess, translated } from '../mikro-orm/queries.ts';
import type { Row, Tables } from '../mikro-orm/rows.ts';

/** No other id is stored. PostgreSQL would refuse NUL. */
const BASE64URL = /^[\w-]+$/;

const toPasskey = ({ transports, lastUsedAt = null, ...passkey }: InferEntity<typeof PasskeyEntity>): Passkey => ({
  ...passkey,
  transports: transports === '' ? [] : transports.split(' '),
  lastUsedAt,
});

export const mikroOrmPasskeyRepository = (db: DatabaseAccess): PasskeyRepository => {
  const tables = () => db.em.getKysely<Tables>();
  const found = (row: Row<'passkeys'> | undefined): Passkey | null =>
    row === undefined ? null : toPasskey(db.em.map(PasskeyEntity, { ...row, counter: Number(row.counter) }));
  return {
    async add({ transports, ...passkey }) {
      await translated(() => db.em.insert(PasskeyEntity, { ...passkey, transports: transports.join(' ') }));
    },
    async findByCredential(credentialId) {
      if (!BASE64URL.test(credentialId)) return null;
      const passkey = await translated(() => db.em.findOne(PasskeyEntity, { credentialId }));
      return passkey && toPasskey(passkey);
    },
    async listByUser(userId) {
      if (!isId(userId)) return [];
      const passkeys = await translated(() => db.em.find(PasskeyEntity, { userId }, { orderBy: { id: 'asc' } }));
      return passkeys.map(toPasskey);
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
