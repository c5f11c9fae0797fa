import { EntitySchema } from '@mikro-orm/core';
import { MikroORM, type Options } from '@mikro-orm/sql';
import { type AnyTable, TABLES, uniquesOf } from '../../application/storage/tables.ts';
import type { DatabaseKind, SqlTypes } from './options.ts';
import { columnsOf, ROW_VERSION, type SqlColumn, type ValueKind } from './statements.ts';

type OptionsOfEntity = ConstructorParameters<typeof EntitySchema>[0];

/** JSON is stored as text, since `jsonb` of PostgreSQL refuses NUL. */
const typeOf = (kind: ValueKind, types: SqlTypes, isIndexed: boolean) => {
  if (kind === 'boolean') return { type: 'boolean' };
  if (kind === 'integer') return { type: 'bigint', columnType: types.integer, unsigned: false };
  if (isIndexed && types.indexedText !== types.text) return { type: 'text', columnType: types.indexedText };
  const collation = kind === 'text' && types.collation !== null && { collation: types.collation };
  return { type: 'text', columnType: types.text, ...collation };
};

const propertyOf = ({ name, kind, isNullable }: SqlColumn, types: SqlTypes, isIndexed: boolean) => ({
  ...typeOf(kind, types, isIndexed),
  fieldName: name,
  nullable: isNullable,
});

const prefixedIndexes = (prefix: string, indexes: Readonly<Record<string, readonly string[]>> = {}) =>
  Object.entries(indexes).map(([name, properties]) => ({ name: `${prefix}${name}`, properties: [...properties] }));

/** Declares a table for MikroORM. @param users the entity of the users, if the rows of the table are deleted with their user */
const entityOf = (table: AnyTable, types: SqlTypes, prefix: string, users?: EntitySchema): EntitySchema => {
  const tableName = `${prefix}${table.name}`;
  const userReference = {
    kind: 'm:1',
    entity: () => users,
    mapToPk: true,
    deleteRule: 'cascade',
    updateRule: 'no action',
    foreignKeyName: `${tableName}_user_id_fkey`,
    index: false,
  };
  const indexed = new Set([uniquesOf(table).map(([, columns]) => columns), Object.values(table.indexes ?? {})].flat(2));
  const properties = columnsOf(table).map((column) => [
    column.member,
    {
      ...propertyOf(column, types, indexed.has(column.member)),
      ...(column.member === 'userId' && users && userReference),
      primary: table.key.includes(column.member),
    },
  ]);
  return new EntitySchema({
    name: table.name,
    tableName,
    properties: {
      ...Object.fromEntries(properties),
      version: propertyOf({ member: ROW_VERSION, name: ROW_VERSION, kind: 'integer', isNullable: false }, types, false),
    },
    uniques: prefixedIndexes(prefix, table.unique),
    indexes: prefixedIndexes(prefix, table.indexes),
    // The cast: MikroORM derives the types of properties from a class, which these entities do not have.
  } as OptionsOfEntity);
};

/** MikroORM's options with all tables, also for its command line. @param prefix of the names of tables, indexes and foreign keys */
export const ormOptions = async (
  { orm, types }: DatabaseKind,
  prefix: string,
  { users: tableOfUsers, ...others } = TABLES,
): Promise<Partial<Options>> => {
  const users = entityOf(tableOfUsers, types, prefix);
  return {
    ...(await orm()),
    entities: [users, ...Object.values(others).map((table) => entityOf(table, types, prefix, table.ofUser && users))],
    ensureDatabase: false,
    // MikroORM's command line would drop the tables of the search index (`search.ts`) and of migrations, which are no entities.
    schemaGenerator: { skipTables: [/users_(names|search)|tandem_migrations/] },
    allowGlobalContext: true,
    debug: false,
    logger: () => undefined,
  };
};

/** The statements that create all tables. They are made without a connection to a database. */
export const schemaStatements = async (kind: DatabaseKind, prefix: string, tables = TABLES): Promise<string[]> => {
  const orm = new MikroORM(await ormOptions(kind, prefix, tables));
  const text = await orm.schema.getCreateSchemaSQL({ wrap: false });
  return kind.completeSchema(
    text
      .trim()
      .split(/\s*;\s*/)
      .filter((statement) => statement !== ''),
  );
};
