import { CompiledQuery, type DatabaseConnection, type KyselyPlugin, type QueryResult } from 'kysely';
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
export const failing = (db: Sql, quoting: (text: string) => CompiledQuery): Sql =>
  sendingBy(db, ({ parameters }, send) => send(quoting(JSON.stringify(parameters))));

/** The same database, and the texts of the statements that are sent to it. */
export const recording = (db: Sql): { readonly db: Sql; readonly sent: readonly string[] } => {
  const sent: string[] = [];
  const recorded = sendingBy(db, (query, send) => {
    sent.push(query.sql);
    return send(query);
  });
  return { db: recorded, sent };
};

type Send = (query: CompiledQuery) => Promise<QueryResult<unknown>>;

/** The same database, to whose connections statements go by `sending`. */
export const sendingBy = (
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
