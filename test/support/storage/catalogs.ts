import type { Database } from './open-database.ts';

/** The queries that list the tables, columns, indexes and constraints of each kind of database. */
const CATALOGS = {
  sqlite: [
    `select t.name, t.strict, t.type from pragma_table_list t where t.schema = 'main' and t.name not like 'sqlite_%'`,
    `select m.name, c.name as "column", c.type, c."notnull", c.dflt_value, c.pk from sqlite_schema m, pragma_table_info(m.name) c
      where m.type = 'table'`,
    `select m.name, i.name as "index", i."unique", i.partial, x.seqno, x.name as "column"
      from sqlite_schema m, pragma_index_list(m.name) i, pragma_index_info(i.name) x where m.type = 'table'`,
    `select m.name, f."from", f."table", f."to", f.on_delete, f.on_update from sqlite_schema m, pragma_foreign_key_list(m.name) f
      where m.type = 'table'`,
  ],
  postgresql: [
    `select relname, relkind, reloptions::text from pg_class where relnamespace = current_schema()::regnamespace`,
    `select table_name, column_name, data_type, character_maximum_length, collation_name, is_nullable, column_default
      from information_schema.columns where table_schema = current_schema()`,
    `select indexdef from pg_indexes where schemaname = current_schema()`,
    `select conrelid::regclass::text as name, conname, pg_get_constraintdef(oid) as definition from pg_constraint
      where connamespace = current_schema()::regnamespace and contype <> 'n'`,
  ],
  mariadb: [
    'select table_name, engine, table_collation from information_schema.tables where table_schema = database()',
    `select table_name, column_name, column_type, collation_name, is_nullable, column_default from information_schema.columns
      where table_schema = database()`,
    `select table_name, index_name, non_unique, seq_in_index, column_name, sub_part from information_schema.statistics
      where table_schema = database()`,
    `select table_name, constraint_name, referenced_table_name, delete_rule, update_rule
      from information_schema.referential_constraints where constraint_schema = database()`,
  ],
};

/** The schema of a database as sorted texts, so that databases can be compared. */
export const catalogOf = async ({ em }: Pick<Database, 'em'>, kind: keyof typeof CATALOGS): Promise<string[]> => {
  const rows: object[] = [];
  for (const query of CATALOGS[kind]) rows.push(...(await em.execute<object[]>(query)));
  return rows.map((row) => JSON.stringify(row)).sort();
};
