import type { InferKyselyDB } from '@mikro-orm/sql';
import type { ColumnType, Insertable, InsertType, Selectable, SelectType, UpdateType } from 'kysely';
import type { ENTITIES } from './entities.ts';

/** The tables, their columns and the defaults, from the entities. */
type Entities = InferKyselyDB<(typeof ENTITIES)[number]>;

/** Kysely returns what the driver parsed: an int8 is a number from PGlite, a string from PostgreSQL. */
type Read<Value> = Value extends number ? number | string : Value;

/** Kysely passes values to the driver as they are, and the driver would send an array as a PostgreSQL array, not as JSON. */
type Written<Value> = Value extends readonly object[] ? string : Value;

type Column<T> = ColumnType<Read<SelectType<T>>, Written<InsertType<T>>, Written<UpdateType<T>>>;

/** The tables as Kysely reads and writes them. */
export type Tables = {
  [Name in keyof Entities]: { [Key in keyof Entities[Name]]: Column<Entities[Name][Key]> };
};

/** A row as it is read. */
export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;

/** A row to insert, with every column, also those that have a default. */
export type NewRow<Name extends keyof Tables> = Required<Insertable<Tables[Name]>>;
