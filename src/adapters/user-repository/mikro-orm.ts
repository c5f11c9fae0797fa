import type { SqlEntityManager } from '@mikro-orm/sql';
import type { UserRepository } from '../../application/ports/user-repository.ts';
import { canonicalEmail, canonicalUsername } from '../../domain/account.ts';
import { isId } from '../../domain/id.ts';
import type { User } from '../../domain/user.ts';
import type { Tables } from '../mikro-orm/rows.ts';
import { statement } from '../mikro-orm/statement.ts';
import { isStorable } from '../mikro-orm/storable.ts';
import { translated } from '../mikro-orm/translate-error.ts';
import { toRow, toUser, USER_COLUMNS } from '../mikro-orm/user-rows.ts';

const selectBy = (column: 'id' | 'username_canonical' | 'email') =>
  statement((db, { value }: { readonly value: string }) =>
    db.selectFrom('users').select(USER_COLUMNS).where(column, '=', value),
  );

const selectById = selectBy('id');
const selectByUsername = selectBy('username_canonical');
const selectByEmail = selectBy('email');

/** Users in table `users`, one plain query per call, without MikroORM's unit of work. */
export const mikroOrmUserRepository = (em: SqlEntityManager): UserRepository => {
  const findBy = async (select: typeof selectById, value: string): Promise<User | null> => {
    if (!isStorable(value)) return null;
    const [row] = (await translated(() => select(em.getKysely<Tables>(), { value }))).rows;
    return row === undefined ? null : toUser(row);
  };

  return {
    async add(user) {
      await translated(() => em.getKysely<Tables>().insertInto('users').values(toRow(user)).execute());
    },
    findById: async (id) => (isId(id) ? findBy(selectById, id) : null),
    findByUsername: (username) => findBy(selectByUsername, canonicalUsername(username)),
    findByEmail: (email) => findBy(selectByEmail, canonicalEmail(email)),
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
