import type { SqlEntityManager } from '@mikro-orm/sql';
import type { UserRepository } from '../../application/ports/user-repository.ts';
import { canonicalEmail, canonicalUsername } from '../../domain/account.ts';
import { isId } from '../../domain/id.ts';
import type { User } from '../../domain/user.ts';
import type { NewRow, Row, Tables } from '../mikro-orm/rows.ts';
import { isStorable } from '../mikro-orm/storable.ts';
import { translated } from '../mikro-orm/translate-error.ts';

const toUser = (row: Row<'users'>): User => ({
  id: row.id,
  username: row.username,
  email: row.email,
  passwordHash: row.password_hash,
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  passwordChangedAt: Number(row.password_changed_at),
});

const toRow = (user: User): NewRow<'users'> => ({
  id: user.id,
  username: user.username,
  username_canonical: canonicalUsername(user.username),
  email: canonicalEmail(user.email),
  password_hash: user.passwordHash,
  created_at: user.createdAt,
  updated_at: user.updatedAt,
  password_changed_at: user.passwordChangedAt,
});

/** Users in table `users`, one plain query per call, without MikroORM's unit of work. */
export const mikroOrmUserRepository = (em: SqlEntityManager): UserRepository => {
  const findBy = async (column: 'id' | 'username_canonical' | 'email', value: string): Promise<User | null> => {
    if (!isStorable(value)) return null;
    const row = await translated(() =>
      em.getKysely<Tables>().selectFrom('users').selectAll().where(column, '=', value).executeTakeFirst(),
    );
    return row === undefined ? null : toUser(row);
  };

  return {
    async add(user) {
      await translated(() => em.getKysely<Tables>().insertInto('users').values(toRow(user)).execute());
    },
    findById: async (id) => (isId(id) ? findBy('id', id) : null),
    findByUsername: (username) => findBy('username_canonical', canonicalUsername(username)),
    findByEmail: (email) => findBy('email', canonicalEmail(email)),
    async setPasswordHash(id, { passwordHash, isOfNewPassword, now, replaces }) {
      if (!isId(id)) return false;
      const change = em
        .getKysely<Tables>()
        .updateTable('users')
        .set({ password_hash: passwordHash, updated_at: now, ...(isOfNewPassword && { password_changed_at: now }) })
        .where('id', '=', id);
      const limited = replaces === undefined ? change : change.where('password_hash', '=', replaces);
      const { numUpdatedRows } = await translated(() => limited.executeTakeFirst());
      return numUpdatedRows > 0n;
    },
    async remove(id) {
      if (!isId(id)) return;
      await translated(() => em.getKysely<Tables>().deleteFrom('users').where('id', '=', id).execute());
    },
  };
};
