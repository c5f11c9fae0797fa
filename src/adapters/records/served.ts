import type { Query } from './records.ts';
import { type AnyTable, TABLES, type TableName, uniquesOf } from './tables.ts';

/**
 * Whether a declared index finds the rows of a query in its order, so that no store reads a whole table, or sorts it. Conditions on other
 * columns are checked for the rows that the first columns of the index find.
 */
export const isServed = <Name extends TableName>(name: Name, query: Query<Name>): boolean => {
  const table: AnyTable = TABLES[name];
  const indexes = [...uniquesOf(table).map(([, columns]) => columns), ...Object.values(table.indexes ?? {})];
  return indexes.some((columns) => serves(columns, query));
};

const serves = <Name extends TableName>(
  columns: readonly string[],
  { equal = {}, range, order = [] }: Query<Name>,
): boolean => {
  const isEqual = (column: string): boolean => column in equal;
  const found = columns.findIndex((column) => !isEqual(column));
  const rest = found < 0 ? [] : columns.slice(found);
  const isOrdered = order.every((column, at) => column === rest[at]);
  const isNarrow = rest.length < columns.length || range?.[0] === rest[0] || order.length > 0;
  return isNarrow && isOrdered;
};
