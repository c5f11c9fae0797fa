import type { SQLOutputValue } from 'node:sqlite';
import type { Passkey, PasskeyRepository } from 'tandem';
import type { Connection } from './connection.ts';

const toPasskey = ({ transports, isSynced, isBackedUp, ...row }: Record<string, SQLOutputValue>): Passkey =>
  ({
    ...row,
    transports: JSON.parse(String(transports)),
    isSynced: isSynced === 1,
    isBackedUp: isBackedUp === 1,
  }) as Passkey;

/** Passkeys in the table `passkeys`. */
export const sqlitePasskeyRepository = ({ database, read, write }: Connection): PasskeyRepository => {
  const insert = database.prepare(`
    insert into passkeys values (:id, :userId, :credentialId, :publicKey, :userHandle, :counter, :transports, :aaguid,
      :isSynced, :isBackedUp, :name, :createdAt, :lastUsedAt)`);
  const select = database.prepare('select * from passkeys where credentialId = ?');
  const selectByUser = database.prepare('select * from passkeys where userId = ? order by id');
  const ONE = 'id = :id and userId = :userId';
  const updateState = database.prepare(`
    update passkeys set counter = max(counter, :counter), isBackedUp = :isBackedUp, lastUsedAt = :now where ${ONE}`);
  const updateName = database.prepare(`update passkeys set name = :name where ${ONE} returning *`);
  const deleteOne = database.prepare(`delete from passkeys where ${ONE} returning *`);

  return {
    async add({ transports, isSynced, isBackedUp, ...passkey }) {
      const flags = { isSynced: Number(isSynced), isBackedUp: Number(isBackedUp) };
      await write(() => insert.run({ ...passkey, ...flags, transports: JSON.stringify(transports) }));
    },
    async findByCredential(credentialId) {
      const row = await read(() => select.get(credentialId));
      return row === undefined ? null : toPasskey(row);
    },
    listByUser: async (userId) => (await read(() => selectByUser.all(userId))).map(toPasskey),
    async recordUse({ id, userId }, { counter, isBackedUp }, now) {
      const values = { id, userId, counter, isBackedUp: Number(isBackedUp), now };
      return (await write(() => updateState.run(values))).changes > 0;
    },
    async rename({ id, userId }, name) {
      const row = await write(() => updateName.get({ id, userId, name }));
      return row === undefined ? null : toPasskey(row);
    },
    async remove({ id, userId }) {
      const row = await write(() => deleteOne.get({ id, userId }));
      return row === undefined ? null : toPasskey(row);
    },
  };
};
