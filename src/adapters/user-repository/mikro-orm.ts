import type { Kysely } from 'kysely';
import type { UserRepository } from '../../application/ports/user-repository.ts';
import { canonicalEmail, canonicalUsername } from '../../domain/account.ts';
import { isId } from '../../domain/id.ts';
import type { User } from '../../domain/user.ts';
import type { Tables } from '../mikro-orm/rows.ts';
import { statement } from '../mikro-orm/statement.ts';
import type { Statements } from '../mikro-orm/transaction.ts';
import { translated } from '../mikro-orm/translate-error.ts';
import { toFields, toRow, toUser, USER_COLUMNS } from '../mikro-orm/user-rows.ts';

const selectBy = (column: 'id' | 'username_canonical' | 'email') =>
  statement((db, { value }: { readonly value: string }) =>
    db.selectFrom('users').select(USER_COLUMNS).where(column, '=', value),
  );

const selectById = selectBy('id');
const selectByUsername = selectBy('username_canonical');
const selectByEmail = selectBy('email');

/**
 * A change of a user that locks them first as `lock` does. An update alone takes a weaker lock, which stored sessions and events of the user
 * do not wait for: to strengthen it later, a unit would have to wait for a log-in that waits for the unit.
 */
const changeOf = (db: Kysely<Tables>, id: string) =>
  db
    .with('locked', () => locked(db, id))
    .updateTable('users')
    .where('id', '=', (query) => query.selectFrom('locked').select('locked.id'));

/** No weaker lock holds back the inserts of other tables, whose foreign keys lock the row `for key share`. */
const locked = (db: Kysely<Tables>, id: string) => db.selectFrom('users').select('id').where('id', '=', id).forUpdate();

/** Users in table `users`, one plain query per call, without MikroORM's unit of work. */
export const mikroOrmUserRepository = (statements: Statements): UserRepository => {
  const tables = () => statements.getKysely<Tables>();
  const findBy = async (select: typeof selectById, value: string): Promise<User | null> => {
    if (!isStorable(value)) return null;
    const [row] = (await translated(() => select(tables(), { value }))).rows;
    return row === undefined ? null : toUser(row);
  };

  return {
    async add(user) {
      await translated(() => tables().insertInto('users').values(toRow(user)).execute());
    },
    findById: async (id) => (isId(id) ? findBy(selectById, id) : null),
    findByUsername: (username) => findBy(selectByUsername, canonicalUsername(username)),
    findByEmail: (email) => findBy(selectByEmail, canonicalEmail(email)),
    async setPasswordHash(id, { passwordHash, isOfNewPassword, now, replaces }) {
      if (!isId(id)) return false;
      const change = changeOf(tables(), id).set({
        password_hash: passwordHash,
        updated_at: now,
        ...(isOfNewPassword && { password_changed_at: now }),
      });
      const limited = replaces === undefined ? change : change.where('password_hash', '=', replaces);
      const { numUpdatedRows } = await translated(() => limited.executeTakeFirst());
      return numUpdatedRows > 0n;
    },
    async update(id, { now, ...change }, onlyIf = {}) {
      if (!isId(id)) return null;
      const changed = changeOf(tables(), id)
        .set({ ...toFields(change), updated_at: now })
        .where((eb) =>
          eb.and(
            Object.entries(toFields(onlyIf)).map(([column, value]) =>
              // `Object.entries` is typed to return any names.
              eb(column as keyof ReturnType<typeof toFields>, 'is not distinct from', value),
            ),
          ),
        )
        .returning(USER_COLUMNS);
      const row = await translated(() => changed.executeTakeFirst());
      return row === undefined ? null : toUser(row);
    },
    async lock(id) {
      if (!tables().isTransaction || !isId(id)) return;
      await translated(() => locked(tables(), id).execute());
    },
    async remove(id) {
      if (!isId(id)) return;
      await translated(() => tables().deleteFrom('users').where('id', '=', id).execute());
    },
  };
};

/** Whether PostgreSQL can store a text: it rejects NUL, and a lone surrogate has no UTF-8 encoding. */
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
