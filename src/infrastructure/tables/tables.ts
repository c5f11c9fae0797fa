import type { SqlEntityManager } from '@mikro-orm/sql';
import { CompiledQuery, type Kysely } from 'kysely';

/** Sends a statement with `$1`, `$2` … over one connection or transaction. */
export type Send = <Row extends object>(statement: string, parameters?: readonly unknown[]) => Promise<Row[]>;

type Connection = Pick<Kysely<unknown>, 'executeQuery'>;

export const sendOver =
  (connection: Connection): Send =>
  async <Row extends object>(statement: string, parameters: readonly unknown[] = []) =>
    (await connection.executeQuery<Row>(CompiledQuery.raw(statement, [...parameters]))).rows;

export type Table = {
  readonly name: string;
  /** Those whose values are stored: in their order. */
  readonly columns: readonly Column[];
  /** Other tables that it references. */
  readonly references: readonly string[];
};
type Column = {
  readonly name: string;
  readonly type: string;
  /** The sequence that its values come from, if any, as SQL. */
  readonly sequence: string | null;
};

/** The tables with data: all but the list of migrations, which each database has of its own. Referenced tables come first. */
export const tablesOf = async (send: Send): Promise<Table[]> => {
  const [row] = await send<{ tables: string }>(TABLES);
  const tables: readonly Table[] = JSON.parse(row?.tables ?? '[]');
  return inOrder(tables);
};

const TABLES = `select coalesce(json_agg(json_build_object(
    'name', t.relname,
    'columns', (
      select coalesce(json_agg(json_build_object(
          'name', attname,
          'type', format_type(atttypid, atttypmod),
          'sequence', pg_get_serial_sequence(quote_ident(t.relname), attname)
        ) order by attnum), '[]')
      from pg_attribute where attrelid = t.oid and attnum > 0 and not attisdropped and attgenerated = ''),
    'references', (
      select coalesce(json_agg(distinct other.relname), '[]')
      from pg_constraint f join pg_class other on other.oid = f.confrelid
      where f.contype = 'f' and f.conrelid = t.oid and other.oid <> t.oid)
  ) order by t.relname), '[]')::text as tables
  from pg_class t
  where t.relnamespace = current_schema()::regnamespace and t.relkind = 'r' and t.relname <> 'mikro_orm_migrations'`;

const inOrder = (tables: readonly Table[]): Table[] => {
  const sorted: Table[] = [];
  const isSorted = (name: string) => sorted.some((table) => table.name === name);
  while (sorted.length < tables.length) {
    const next = tables.find(({ name, references }) => !isSorted(name) && references.every(isSorted));
    if (next === undefined) throw new Error('Tables reference each other in a circle.');
    sorted.push(next);
  }
  return sorted;
};

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The number of rows of each table. */
export type Counts = Readonly<Record<string, number>>;

export const countRows = async (em: SqlEntityManager): Promise<Counts> => {
  const send = sendOver(em.getKysely());
  const counts: [string, number][] = [];
  for (const { name } of await tablesOf(send)) {
    const [row] = await send<{ count: string | number }>(`select count(*) as count from ${quoted(name)}`);
    counts.push([name, Number(row?.count)]);
  }
  return Object.fromEntries(counts);
};
