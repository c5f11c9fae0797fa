import { type AnyTable, TABLES, type TableName } from '../../../src/application/storage/tables.ts';
import { NOW } from '../builders.ts';

/** Tables that do not grow with the number of users, because the service or its operators limit them. */
const SMALL_TABLES: readonly string[] = ['webhooks', 'massEndings', 'operations', 'invitations'] satisfies TableName[];
/** Indexed columns in which many rows have the same value. */
const SHARED_COLUMNS = ['webhookId', 'purpose', 'issuer'];

const nameIn = (column: string): string => `"${column.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;

/** The SQL for a column of the copy with the number n. Indexed texts differ between copies, and indexed times are a second apart. */
const copiedColumn = (table: AnyTable, column: string): string => {
  const [name, type] = [nameIn(column), table.columns[column] ?? ''];
  const ordered = Object.values(table.indexes ?? {}).flat();
  const isFoundBy = [table.key, ordered, ...Object.values(table.unique ?? {})].flat().includes(column);
  if (type.startsWith('integer') && ordered.includes(column)) return `${name} - 1000 * n`;
  if (!type.startsWith('text') || !isFoundBy || SHARED_COLUMNS.includes(column)) return name;
  // The first ten characters of an id are its time, which stays the same.
  return `case when ${name} like '%@%' then n || ${name} else overlay(${name} placing lpad(n::text, 6, '0') from 11) end`;
};

/**
 * Statements that copy a row of each table `count` times, one copy for each user, and update the statistics of PostgreSQL.
 * Foreign keys stay valid without being checked, and no copied message is due.
 */
export const copyStatements = (count: number): readonly string[] => [
  `update users set username = 'Copied', username_key = 'copied', email = 'copied@example.org'`,
  `update outbox set next_attempt_at = ${NOW}`,
  'delete from mass_endings',
  'set session_replication_role = replica',
  ...Object.entries<AnyTable>(TABLES)
    .filter(([table]) => !SMALL_TABLES.includes(table))
    .flatMap(([, table]) => {
      const { name, columns, key } = table;
      const all = [...Object.keys(columns), 'version'];
      const values = all.map((column) => copiedColumn(table, column));
      const one = `select * from ${name} order by ${key.map(nameIn)} limit 1`;
      return [
        `alter table ${name} set (autovacuum_enabled = off)`,
        `insert into ${name} (${all.map(nameIn)}) select ${values} from (${one}) one, generate_series(1, ${count}) n`,
        `vacuum analyze ${name}`,
      ];
    }),
  'set session_replication_role = default',
];
