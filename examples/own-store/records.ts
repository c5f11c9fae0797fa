import { AsyncLocalStorage } from 'node:async_hooks';
import type { Pool, PoolClient, QueryResult } from 'pg';
import * as tandem from 'tandem';
import { type AnyTable, AppError, type Calls, isStorable, TABLES, type TableName } from 'tandem';
import { SCHEMA } from './schema.ts';

type Row = Readonly<Record<string, unknown>>;
type Send = (text: string, values?: readonly unknown[]) => Promise<QueryResult>;
/** For statements of the application's own, too: those of the code of a unit belong to its transaction. */
export type Sql = {
  readonly send: Send;
  /** The end of a statement that locks a row until the end of the unit. Outside of units, nothing is locked. */
  readonly rowLock: () => string;
};

/** Without the error of the driver, which may quote what is stored. */
const translated = (error: { readonly code?: string; readonly constraint?: string }): never => {
  if (error instanceof AppError) throw error;
  const { code = 'does not answer', constraint = '' } = error;
  if (code === '23505') throw tandem.violation(constraint);
  if (code === '40001' || code === '40P01') throw new tandem.ConflictError(`PostgreSQL ${code}`);
  throw new AppError('DB_QUERY_FAILED', { reason: `PostgreSQL ${code}` });
};

const nameOf = ({ name }: AnyTable): string => `${SCHEMA}.${name}`;
const namesOf = ({ columns }: AnyTable): string =>
  [...Object.keys(columns), 'version'].map((column) => `"${column}"`).join(', ');

const toSql = ({ columns }: AnyTable, row: Row): unknown[] =>
  [...Object.entries(columns), ['version', 'integer'] as const].map(([column, type]) => {
    const value = row[column];
    if (type.startsWith('json')) return value === null ? null : JSON.stringify(value);
    if (!isStorable(value)) throw tandem.unstorable();
    return value;
  });

/** The driver returns integers of 64 bits as texts, which are JSON, too. */
const fromSql = ({ columns }: AnyTable, row: Row): Row => {
  const read = Object.entries({ ...columns, version: 'integer' }).map(([column, type]) => {
    const isText = row[column] !== null && /^(?:json|integer)/.test(type);
    return [column, isText ? JSON.parse(String(row[column])) : row[column]];
  });
  return Object.fromEntries(read);
};

/** The values of a statement. `bound(value)` is the place of one in its text. */
const binding = () => {
  const values: unknown[] = [];
  return { values, bound: (value: unknown): string => `$${values.push(value)}` };
};
const isRow = ({ key }: AnyTable, row: Row, bound: (value: unknown) => string): string =>
  [...key, 'version'].map((column) => `"${column}" = ${bound(row[column])}`).join(' and ');

const callsOver = ({ send, rowLock }: Sql): Calls => {
  const select = async <Name extends TableName>(name: Name, query: tandem.Query<Name>, end = '') => {
    const { equal = {}, range, order = [], descending = false, skip = 0, limit = null } = query;
    if (![...Object.values(equal), range?.[2]].every(isStorable)) return [];
    const table = TABLES[name];
    const { values, bound } = binding();
    const conditions = Object.entries(equal).map(([column, value]) => `"${column}" = ${bound(value)}`);
    if (range !== undefined) conditions.push(`"${range[0]}" ${range[1]} ${bound(range[2])}`);
    const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
    const columns = order.map((column) => `"${column}" ${descending ? 'desc' : 'asc'}`).join(', ');
    const part = `${order.length > 0 ? `order by ${columns}` : ''} limit ${bound(limit)} offset ${bound(skip)}`;
    const { rows } = await send(`select ${namesOf(table)} from ${nameOf(table)} ${where} ${part} ${end}`, values);
    return rows.map((row) => fromSql(table, row) as unknown as tandem.Stored<Name>);
  };
  return {
    async insert(name, row) {
      const table = TABLES[name];
      const { values, bound } = binding();
      const places = toSql(table, { ...row, version: tandem.firstVersion() })
        .map(bound)
        .join(', ');
      await send(`insert into ${nameOf(table)} (${namesOf(table)}) values (${places})`, values);
    },
    list: (name, query) => select(name, query),
    async replace(name, before, after) {
      const table = TABLES[name];
      const { values, bound } = binding();
      const places = toSql(table, { ...after, version: before.version + 1 })
        .map(bound)
        .join(', ');
      const where = isRow(table, before, bound);
      const update = `update ${nameOf(table)} set (${namesOf(table)}) = (${places}) where ${where}`;
      return (await send(update, values)).rowCount === 1;
    },
    async remove(name, rows) {
      const table = TABLES[name];
      const removed: (typeof rows)[number][] = [];
      // One by one: if one statement deleted them all, two callers could wait for each other.
      for (const row of rows) {
        const { values, bound } = binding();
        const { rowCount } = await send(`delete from ${nameOf(table)} where ${isRow(table, row, bound)}`, values);
        if (rowCount === 1) removed.push(row);
      }
      return removed;
    },
    lock: async (name, key) => (await select(name, { equal: key }, rowLock()))[0] ?? null,
  };
};

const ignore = () => undefined;

/** Sends one statement after the other: a unit may not have waited for one before it calls the next. */
const inOrder = (client: PoolClient): Send => {
  let last: Promise<unknown> = Promise.resolve();
  return (text, values) => {
    const answer = last.then(() => client.query(text, values));
    last = answer.catch(ignore);
    return answer;
  };
};

/** Runs work on a connection of its own. */
const connected = async <Result>(pool: Pool, work: (client: PoolClient) => Promise<Result>): Promise<Result> => {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    const rolledBack = client.query('rollback').then(() => true);
    client.release(!(await rolledBack.catch(() => false)));
    throw error;
  }
};

/** Records in the tables that `createTables` makes. */
export const pgRecords = (pool: Pool): Sql & { readonly records: tandem.Records } => {
  // A lost connection is an error of the next statement. Without a listener it would end the process.
  pool.on('error', ignore).on('connect', (client) => client.on('error', ignore));
  /** The unit that this code is within. Callbacks that one has left behind are outside. */
  const units = new AsyncLocalStorage<{ send?: Send }>();
  const sql: Sql = {
    send: (text, values) => {
      const ofUnit = units.getStore()?.send;
      const answer = ofUnit ? ofUnit(text, values) : connected(pool, (client) => client.query(text, values));
      return answer.catch(translated);
    },
    rowLock: () => (units.getStore()?.send ? 'for no key update' : ''),
  };
  const calls = callsOver(sql);
  const transact: tandem.Transact = async (work) => {
    await sql.send('begin isolation level read committed');
    const result = await work(calls);
    const { command } = await sql.send('commit');
    // After a statement that failed, PostgreSQL rolls back.
    if (command !== 'COMMIT') throw new AppError('DB_QUERY_FAILED', { reason: 'a statement of the unit failed' });
    return result;
  };
  const records = tandem.recordsOver(calls, (work) => {
    const ended = connected(pool, (client) => {
      const unit: { send?: Send } = { send: inOrder(client) };
      return units.run(unit, () => transact(work)).finally(() => delete unit.send);
    });
    return ended.catch(translated);
  });
  return { records, ...sql };
};
