import { query } from '../parts/parts.ts';

/** Only the statements of the service, not those of the bench. */
const OF_THE_SERVICE = `dbid = (select oid from pg_database where datname = current_database()) and query !~ 'pg_stat|explain'`;

export const countStatements = (url: string) => query(url, 'create extension pg_stat_statements');

export const forgetStatements = (url: string) => query(url, 'select pg_stat_statements_reset()');

export type Counters = { readonly statements: number; readonly updates: number; readonly hotUpdates: number };

/** Statements of any kind, and updates of sessions, with those that wrote no index. */
export const readCounters = async (url: string): Promise<Counters> => {
  const [row] = await query(
    url,
    `select (select coalesce(sum(calls), 0) from pg_stat_statements where ${OF_THE_SERVICE}) as statements,
      n_tup_upd as updates, n_tup_hot_upd as hot from pg_stat_user_tables where relname = 'sessions'`,
  );
  return { statements: Number(row?.statements), updates: Number(row?.updates), hotUpdates: Number(row?.hot) };
};
