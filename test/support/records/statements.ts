import { CompiledQuery, type DatabaseConnection, type KyselyPlugin, type QueryResult } from 'kysely';
import type { Sql } from '../../../src/adapters/mikro-orm/statements.ts';

/** A plugin that changes nothing. `withPlugin` returns a Kysely with an executor of its own. */
const NO_CHANGES: KyselyPlugin = { transformQuery: ({ node }) => node, transformResult: async ({ result }) => result };

/** For each database, a statement that fails with an error of the driver that quotes the text. */
export const QUOTING = {
  postgresql: (text: string) => CompiledQuery.raw('select $1::text::int', [text]),
  mariadb: (text: string) => CompiledQuery.raw(`signal sqlstate '45000' set message_text = ?`, [text.slice(0, 400)]),
  sqlite: (text: string) => CompiledQuery.raw(`select "${text.replaceAll('"', '""')}"`),
};

/** Makes a copy of a database whose statements fail with an error of the driver that quotes their parameters. */
export const failing = (db: Sql, quoting: (text: string) => CompiledQuery): Sql =>
  databaseSendingBy(db, ({ parameters }, send) => send(quoting(JSON.stringify(parameters))));

/** Makes a copy of a database that records the texts of its statements. */
export const recording = (db: Sql): { readonly db: Sql; readonly sent: readonly string[] } => {
  const sent: string[] = [];
  const recorded = databaseSendingBy(db, (query, send) => {
    sent.push(query.sql);
    return send(query);
  });
  return { db: recorded, sent };
};

type Send = (query: CompiledQuery) => Promise<QueryResult<unknown>>;

/** Makes a copy of a database that sends each statement through `sending`. */
export const databaseSendingBy = (
  db: Sql,
  sending: (query: CompiledQuery, send: Send) => Promise<QueryResult<unknown>>,
): Sql => {
  const copy = db.withPlugin(NO_CHANGES);
  const executor = copy.getExecutor();
  const provide = executor.provideConnection.bind(executor);
  const over = (connection: DatabaseConnection): DatabaseConnection => ({
    executeQuery: (query) => sending(query, (other) => connection.executeQuery(other)) as never,
    streamQuery: (...given) => connection.streamQuery(...given),
  });
  executor.provideConnection = (consumer, options) => provide((connection) => consumer(over(connection)), options);
  return copy;
};
