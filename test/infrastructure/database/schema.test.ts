import { MikroORM } from '@mikro-orm/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseOptions } from '../../../src/infrastructure/config/stores.ts';
import { TABLE_NAMES } from '../../../src/infrastructure/data/tables.ts';
import { migratorOptions } from '../../../src/infrastructure/database/migrate.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { copyEmbedded } from '../../support/storage/embedded-template.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

/** No difference in either direction. */
const SAME = { up: '', down: '' };

/** Changes that make the schema differ from the entities, each with the statement that reverts it. */
const DIFFERENCES = [
  ['a table too many', 'create table planted (id int)', 'drop table planted'],
  ['a column too many', 'alter table users add planted text', 'alter table users drop planted'],
  ['a column too few', 'alter table sessions drop address', 'alter table sessions add address text'],
  [
    'a column of another type',
    'alter table users alter updated_at type int',
    'alter table users alter updated_at type bigint',
  ],
  [
    'a column of another length',
    'alter table sessions alter current_token_id type char(27)',
    'alter table sessions alter current_token_id type char(26)',
  ],
  ['a nullable column', 'alter table users alter email drop not null', 'alter table users alter email set not null'],
  [
    'a column that is not nullable',
    'alter table sessions alter user_agent set not null',
    'alter table sessions alter user_agent drop not null',
  ],
  [
    'a default too many',
    'alter table users alter created_at set default 0',
    'alter table users alter created_at drop default',
  ],
  [
    'a default too few',
    'alter table sessions alter earlier_tokens drop default',
    `alter table sessions alter earlier_tokens set default '[]'`,
  ],
  [
    'another default',
    'alter table users alter password_changed_at set default 1',
    'alter table users alter password_changed_at set default 0',
  ],
  ['an index too many', 'create index planted on users (created_at)', 'drop index planted'],
  [
    'an index too few',
    'drop index sessions_purge_check_at_index',
    'create index sessions_purge_check_at_index on sessions (purge_check_at)',
  ],
  [
    'a constraint too few',
    'alter table users drop constraint users_email_key',
    'alter table users add constraint users_email_key unique (email)',
  ],
  [
    'a foreign key of another rule',
    `alter table sessions drop constraint sessions_user_id_fkey,
      add constraint sessions_user_id_fkey foreign key (user_id) references users (id)`,
    `alter table sessions drop constraint sessions_user_id_fkey,
      add constraint sessions_user_id_fkey foreign key (user_id) references users (id) on delete cascade`,
  ],
  [
    'a check too many',
    'alter table users add constraint planted check (id <> email)',
    'alter table users drop constraint planted',
  ],
] as const;

const describeMigrations = (name: string, make: () => Promise<{ options: DatabaseOptions; drop: () => unknown }>) =>
  describe(`the migrations on ${name}`, () => {
    let drop: () => unknown;
    let orm: MikroORM;
    beforeAll(async () => {
      const made = await make();
      drop = made.drop;
      orm = await MikroORM.init({ ...(await migratorOptions(made.options)), logger: () => undefined });
      await orm.migrator.up();
    });
    afterAll(async () => {
      await orm?.close();
      await drop?.();
    });

    const tables = async () => {
      const rows = await orm.em.execute<{ name: string }[]>(
        "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
      );
      return rows.map(({ name: table }) => table);
    };

    /** The statements that turn the schema into that of the entities, and back. */
    const differences = () => orm.schema.getUpdateSchemaMigrationSQL();

    it('create the schema that the entities describe', async () => {
      expect(await tables()).toEqual([...TABLE_NAMES, 'mikro_orm_migrations'].sort());
      expect(await differences()).toEqual(SAME);
    });

    it.each(DIFFERENCES)('would fail the comparison with %s', async (_what, change, undo) => {
      await orm.em.execute(change);
      const found = await differences();
      await orm.em.execute(undo);
      expect(found.up).not.toBe('');
      expect(found.down).not.toBe('');
      expect(await differences()).toEqual(SAME);
    });
  });

describeMigrations('PGlite', async () => {
  const { path, remove } = temporaryDirectory();
  await copyEmbedded(path, { migrated: false });
  return { options: { kind: 'embedded', dataDir: path }, drop: remove };
});

const server = TEST_DATABASE_URL;
if (server !== undefined) {
  describeMigrations('PostgreSQL', async () => {
    const { url, drop } = await createDatabase(server);
    return { options: onPostgresql(url), drop };
  });
}
