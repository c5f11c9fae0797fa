import { CompiledQuery, type KyselyPlugin, type QueryExecutor } from 'kysely';
import type { Sql } from '../../../src/adapters/mikro-orm/statements.ts';

/** Gives a Kysely an executor of its own. */
const NO_CHANGES: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }) => result,
};

/** A statement that fails with an error of the driver which quotes the text. */
export const QUOTING = {
  postgresql: (text: string) => CompiledQuery.raw('select $1::text::int', [text]),
  mariadb: (text: string) => CompiledQuery.raw(`signal sqlstate '45000' set message_text = ?`, [text.slice(0, 400)]),
  sqlite: (text: string) => CompiledQuery.raw(`select "${text.replaceAll('"', '""')}"`),
};

/** The same database, whose statements fail with an error of the driver that quotes their parameters. */
export const failing = (db: Sql, quoting: (text: string) => CompiledQuery): Sql => {
  const copy = db.withPlugin(NO_CHANGES);
  fail(copy.getExecutor(), quoting);
  return copy;
};

const fail = (executor: QueryExecutor, quoting: (text: string) => CompiledQuery): QueryExecutor => {
  const execute = executor.executeQuery.bind(executor);
  const connect = executor.withConnectionProvider.bind(executor);
  executor.executeQuery = ({ parameters }, options) => execute(quoting(JSON.stringify(parameters)) as never, options);
  executor.withConnectionProvider = (provider) => fail(connect(provider), quoting);
  return executor;
};

/** The same database, and the texts of the statements that are sent to it. */
export const recording = (db: Sql): { readonly db: Sql; readonly sent: readonly string[] } => {
  const sent: string[] = [];
  const copy = db.withPlugin(NO_CHANGES);
  const executor = copy.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  executor.executeQuery = (query, options) => {
    sent.push(query.sql);
    return execute(query, options);
  };
  return { db: copy, sent };
};
