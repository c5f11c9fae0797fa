import { quoted, type Send, type Table } from '../tables/tables.ts';

/** Rows that are read and written at once. */
const BATCH = 1000;

/** One text for a value on every server: in a transaction, before rows are read as texts. */
const SAME_TEXTS = `select set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true),
  set_config('IntervalStyle', 'postgres', true), set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true)`;

export const useSameTexts = async (send: Send): Promise<void> => void (await send(SAME_TEXTS));

/** A row as a JSON array with the texts of its values: PostgreSQL can read each again, whatever its type is. */
const rowsOf = ({ name, columns }: Table): string => {
  const values = columns.map((column) => `${quoted(column.name)}::text`);
  return `select to_json(array[${values.join(', ')}])::text as row from ${quoted(name)}`;
};

/** Copies a table in batches, from one transaction to another. */
export const copyRows = async (table: Table, from: Send, to: Send): Promise<void> => {
  const insert = insertOf(table);
  await from(`declare moved no scroll cursor for ${rowsOf(table)}`);
  for (;;) {
    const rows = await from<{ row: string }>(`fetch ${BATCH} from moved`);
    if (rows.length === 0) break;
    await to(insert, [`[${rows.map(({ row }) => row).join(',')}]`]);
  }
  await from('close moved');
};

const insertOf = ({ name, columns }: Table): string => {
  const names = columns.map((column) => quoted(column.name));
  const values = columns.map(({ type }, index) => `(entry ->> ${index})::${type}`);
  return `insert into ${quoted(name)} (${names.join(', ')}) overriding system value
    select ${values.join(', ')} from json_array_elements($1::json) as entry`;
};

/** What the rows of a table amount to. Two tables with the same rows have the same, whatever their order. */
export type Total = { readonly rows: number; readonly sum: string };

/** The sum is that of the first 56 bits of each row's SHA-256. */
export const totalOf = async (table: Table, send: Send): Promise<Total> => {
  const [row] = await send<{ rows: string | number; sum: string }>(
    `select count(*) as rows,
      coalesce(sum(('x' || encode(substr(sha256(convert_to(row, 'UTF8')), 1, 7), 'hex'))::bit(56)::bigint), 0)::text as sum
      from (${rowsOf(table)}) as texts`,
  );
  return { rows: Number(row?.rows), sum: row?.sum ?? '' };
};

/** The next values of sequences. Nothing undoes this, but a sequence that is ahead does no harm. */
export const copySequences = async ({ columns }: Table, from: Send, to: Send): Promise<void> => {
  for (const { sequence } of columns) {
    if (sequence === null) continue;
    const [state] = await from<{ value: string | number; called: boolean }>(
      `select last_value as value, is_called as called from ${sequence}`,
    );
    if (state !== undefined) await to(`select setval($1::regclass, $2, $3)`, [sequence, state.value, state.called]);
  }
};
