import type { KyselyPlugin } from 'kysely';
import type { Sql } from '../../../src/adapters/mikro-orm/statements.ts';

const NO_CHANGES: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }) => result,
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
