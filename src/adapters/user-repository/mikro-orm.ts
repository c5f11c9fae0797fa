import type { UserRepository } from '../../application/ports/user-repository.ts';
import { canonicalEmail, canonicalUsername, isId, type User } from '../../domain/user.ts';
import { UserEntity } from '../mikro-orm/entities.ts';
import { type DatabaseAccess, translated } from '../mikro-orm/queries.ts';
import { attributesText, type NewRow, type Tables, toFields, toUser, USER_COLUMNS } from '../mikro-orm/rows.ts';

export const mikroOrmUserRepository = (db: DatabaseAccess): UserRepository => {
  const tables = () => db.em.getKysely<Tables>();
  const selectBy = (column: 'id' | 'username_canonical' | 'email', value: string) =>
    tables().selectFrom('users').select(USER_COLUMNS).where(column, '=', value);
  const found = async (query: () => ReturnType<typeof selectBy>): Promise<User | null> => {
    const row = await translated(() => query().executeTakeFirst());
    return row === undefined ? null : toUser(row);
  };

  /**
   * Locks a user as `lock` does, and changes them, in one statement. The lock of a plain update is weaker: inserts of the user's sessions and
   * events do not wait for it. A later `lock` in the same unit could then deadlock with such an insert.
   */
  const changeOf = (id: string) =>
    tables()
      .with('locked', () => tables().selectFrom('users').select('id').where('id', '=', id).forUpdate())
      .updateTable('users')
      .where('id', '=', (query) => query.selectFrom('locked').select('locked.id'));

  return {
    /** Not by the EntityManager, which would write the hash into the text of the statement: a server logs that text beside an error. */
    async add(user) {
      const row: NewRow<'users'> = {
        id: user.id,
        username: user.username,
        username_canonical: canonicalUsername(user.username),
        email: canonicalEmail(user.email),
        password_hash: user.passwordHash,
        created_at: user.createdAt,
        updated_at: user.updatedAt,
        password_changed_at: user.passwordChangedAt,
        email_verified_at: user.emailVerifiedAt,
        disabled_at: user.disabledAt,
        second_factor_at: user.secondFactorAt,
        attributes: attributesText(user.attributes),
        locale: user.locale,
      };
      await translated(() => tables().insertInto('users').values(row).execute());
    },
    findById: async (id) => (isId(id) ? found(() => selectBy('id', id)) : null),
    findByUsername: async (username) =>
      isStorable(username) ? found(() => selectBy('username_canonical', canonicalUsername(username))) : null,
    findByEmail: async (email) => (isStorable(email) ? found(() => selectBy('email', canonicalEmail(email))) : null),
    async setPasswordHash(id, { passwordHash, isOfNewPassword, now, replaces }) {
      if (!isId(id)) return false;
      const values = {
        password_hash: passwordHash,
        updated_at: now,
        ...(isOfNewPassword && { password_changed_at: now }),
      };
      const { numUpdatedRows } = await translated(() => {
        const change = changeOf(id).set(values);
        return (replaces === undefined ? change : change.where('password_hash', '=', replaces)).executeTakeFirst();
      });
      return numUpdatedRows > 0n;
    },
    async update(id, { now, ...change }, onlyIf = {}) {
      if (!isId(id)) return null;
      const expected = Object.entries(toFields(onlyIf));
      const row = await translated(() =>
        changeOf(id)
          .set({ ...toFields(change), updated_at: now })
          .where((eb) =>
            eb.and(
              expected.map(([column, value]) =>
                // `Object.entries` is typed to return any names.
                eb(column as keyof ReturnType<typeof toFields>, 'is not distinct from', value),
              ),
            ),
          )
          .returning(USER_COLUMNS)
          .executeTakeFirst(),
      );
      return row === undefined ? null : toUser(row);
    },
    /** A weaker lock would not make inserts into other tables wait, whose foreign keys lock the row `for key share`. */
    async lock(id) {
      if (!isId(id)) return null;
      return found(() => (db.em.isInTransaction() ? selectBy('id', id).forUpdate() : selectBy('id', id)));
    },
    async remove(id) {
      if (!isId(id)) return;
      await translated(() => db.em.nativeDelete(UserEntity, { id }));
    },
  };
};

/** Whether PostgreSQL can store a text: it rejects NUL, and a lone surrogate has no UTF-8 encoding. */
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
