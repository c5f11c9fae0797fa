import { type AnyTable, TABLES, type TableName } from '../../../src/application/storage/tables.ts';
import { NOW } from '../builders.ts';

/** Tables that do not grow with the users: the service or its operators limit them. */
const FEW: readonly string[] = ['webhooks', 'massEndings', 'operations', 'invitations'] satisfies TableName[];
/** What many rows have in common, though they are found by it. */
const COMMON = ['webhookId', 'purpose', 'issuer'];

const nameIn = (column: string): string => `"${column.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;

/** A column of the copy with the number n: what it is found by differs, and times lie a second apart. */
const copied = (table: AnyTable, column: string): string => {
  const [name, type] = [nameIn(column), table.columns[column] ?? ''];
  const ordered = Object.values(table.indexes ?? {}).flat();
  const isFoundBy = [table.key, ordered, ...Object.values(table.unique ?? {})].flat().includes(column);
  if (type.startsWith('integer') && ordered.includes(column)) return `${name} - 1000 * n`;
  if (!type.startsWith('text') || !isFoundBy || COMMON.includes(column)) return name;
  // Ids of PostgreSQL's neighbours: the time is in the first ten characters.
  return `case when ${name} like '%@%' then n || ${name} else overlay(${name} placing lpad(n::text, 6, '0') from 11) end`;
};

/**
 * Statements that copy a row of each table so many times, for one user each, of whose kind nothing is due, and leave what PostgreSQL knows about the
 * tables up to date. Foreign keys hold, and are not checked.
 */
export const copies = (count: number): readonly string[] => [
  `update users set username = 'Copied', username_key = 'copied', email = 'copied@example.org'`,
  `update outbox set next_attempt_at = ${NOW}`,
  'delete from mass_endings',
  'set session_replication_role = replica',
  ...Object.entries<AnyTable>(TABLES)
    .filter(([table]) => !FEW.includes(table))
    .flatMap(([, table]) => {
      const { name, columns, key } = table;
      const all = [...Object.keys(columns), 'version'];
      const values = all.map((column) => copied(table, column));
      const one = `select * from ${name} order by ${key.map(nameIn)} limit 1`;
      return [
        `alter table ${name} set (autovacuum_enabled = off)`,
        `insert into ${name} (${all.map(nameIn)}) select ${values} from (${one}) one, generate_series(1, ${count}) n`,
        `vacuum analyze ${name}`,
      ];
    }),
  'set session_replication_role = default',
];
