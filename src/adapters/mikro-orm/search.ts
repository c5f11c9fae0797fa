import { sql } from 'kysely';
import type { Query } from '../../application/storage/records.ts';
import type { TableName } from '../../application/storage/tables.ts';
import { columnNamesOf, type Row, type SqlTable, type TableStatement } from './statements.ts';

/** The index of trigrams that finds parts of texts: of PostgreSQL (`pg_trgm`), or of SQLite (`fts5`). `null`: the kind of database has none. */
export type SearchIndex = 'pg_trgm' | 'fts5' | null;

/** Makes the index of PostgreSQL without blocking writes, if the role may. First drops the rest of an interrupted attempt. @param send not in a transaction */
export const makeSearchIndex = async (send: (text: string) => Promise<readonly unknown[]>, prefix: string) => {
  await send(`do $$ begin create extension if not exists pg_trgm; exception when ${NO_EXTENSION} then null; end $$`);
  const mayMake = await send(
    `select 1 from pg_opclass, pg_class where opcname = 'gin_trgm_ops' and pg_opclass_is_visible(pg_opclass.oid)
      and pg_class.oid = '"${prefix}users"'::regclass and pg_has_role(relowner, 'usage')`,
  );
  if (mayMake.length === 0) return;
  await send(`drop index concurrently if exists "${prefix}users_search"`);
  await send(`create index concurrently ${trigramIndex(prefix)}`);
};

const NO_EXTENSION = 'insufficient_privilege or undefined_file or undefined_object or feature_not_supported';
const trigramIndex = (prefix: string) =>
  `"${prefix}users_search" on "${prefix}users" using gin (username_key gin_trgm_ops, email gin_trgm_ops)`;

/** The statements that make the index. Those of PostgreSQL do nothing if the extension cannot be created. */
export const searchIndex = (index: SearchIndex, prefix: string): readonly string[] => {
  const [users, names, search] = ['users', 'users_names', 'users_search'].map((name) => `"${prefix}${name}"`);
  if (index === 'pg_trgm')
    return [
      `do $$ begin
        create extension if not exists pg_trgm;
        create index ${trigramIndex(prefix)};
      exception when ${NO_EXTENSION} then null; end $$`,
    ];
  if (index !== 'fts5') return [];
  const columns = 'id, username_key, email';
  const add = `insert into ${names} (${columns}) values (new.id, new.username_key, new.email); insert into ${search} (rowid, ${columns}) values (last_insert_rowid(), new.id, new.username_key, new.email);`;
  const remove = `insert into ${search} (${search}, rowid, ${columns}) select 'delete', place, ${columns} from ${names} where id = old.id; delete from ${names} where id = old.id;`;
  const trigger = (name: string, when: string, what: string) =>
    `create trigger "${prefix}users_search_${name}" after ${when} on ${users} begin ${what} end`;
  return [
    // The index refers to rowids. `vacuum` may change the rowids of users, and never those of this table, whose `place` is its rowid.
    `create table ${names} (place integer primary key, id text not null unique, username_key text not null, email text not null) strict`,
    `create virtual table ${search} using fts5(id unindexed, username_key, email, content=${names}, content_rowid=place, tokenize='trigram', detail=none)`,
    `insert into ${names} (${columns}) select ${columns} from ${users} order by id`,
    `insert into ${search} (${search}) values ('rebuild')`,
    trigger('insert', 'insert', add),
    trigger('delete', 'delete', remove),
    trigger('update', 'update of username_key, email', `${remove} ${add}`),
  ];
};

/** With an index, the first statement reads up to this many rows without it, since the index would return too many rows for a frequent text. */
const FIRST_ROWS = 5_000;
const TRIGRAM_LENGTH = 3;
const MAX_TRIGRAMS = 20;

/** A query of FTS5 for rows with all trigrams of a text, or with the first `MAX_TRIGRAMS`. */
const trigramQuery = (text: string): string => {
  const letters = [...text];
  const grams = letters.slice(TRIGRAM_LENGTH - 1).map((_, at) => letters.slice(at, at + TRIGRAM_LENGTH).join(''));
  return [...new Set(grams)]
    .slice(0, MAX_TRIGRAMS)
    .map((gram) => `"${gram.replaceAll('"', '""')}"`)
    .join(' AND ');
};

/** One statement for a query with `contains`, or with an index two: the second is for when the first finds fewer rows than `limit`. */
export const searchRows = <Name extends TableName>(
  table: SqlTable,
  { contains = '', range, order = [], descending = false, limit }: Query<Name>,
  index: SearchIndex,
): readonly TableStatement[] => {
  const columns = sql.join(columnNamesOf(table).map((name) => sql.ref(name)));
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const sortTerms = order.map((member) => sql`${sql.ref(table.column(member).name)} ${direction}`);
  const isIndexed = index !== null && [...contains].length >= TRIGRAM_LENGTH;
  const pattern = `%${contains.replaceAll(/[%_!]/g, '!$&')}%`;
  const statement = (kind: 'first' | 'all' | SearchIndex): TableStatement => ({
    table,
    shape: JSON.stringify(['search', table.name, kind, range?.slice(0, 2), order, descending]),
    values: [pattern, trigramQuery(contains), range?.[2], limit],
    build: (db, [like, grams, bound, most]) => {
      const containsText = sql.join(
        table.search.map(({ name }) => sql`${sql.ref(name)} like ${like} escape '!'`),
        sql` or `,
      );
      const inRange =
        range === undefined ? sql`1 = 1` : sql`${sql.ref(table.column(range[0]).name)} ${sql.raw(range[1])} ${bound}`;
      const rows = sql`${sql.table(table.name)}`;
      const ordered = sql`order by ${sql.join(sortTerms)}`;
      const from = {
        first: sql`(select ${columns} from ${rows} where ${inRange} ${ordered} limit ${sql.lit(FIRST_ROWS)}) as part where (${containsText})`,
        all: sql`${rows} where ${inRange} and (${containsText})`,
        // `offset 0` makes PostgreSQL execute the inner query on its own, so that it can use the index.
        pg_trgm: sql`(select ${columns} from ${rows} where ${containsText} offset 0) as part where ${inRange}`,
        fts5: sql`(select id as found from ${sql.table(`${table.name}_search`)} where ${sql.ref(`${table.name}_search`)} match ${grams}) cross join ${rows} on id = found where ${inRange} and (${containsText})`,
      }[kind ?? 'all'];
      const found = sql<Row>`select ${columns} from ${from} ${ordered} limit ${most}`;
      return { compile: () => found.compile(db) };
    },
  });
  return isIndexed ? [statement('first'), statement(index)] : [statement('all')];
};
