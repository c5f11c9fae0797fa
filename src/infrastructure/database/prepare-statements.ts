import { statementName } from '../../adapters/mikro-orm/statement.ts';
import { discardWhenReleased } from './discard-connection.ts';

/** The parts of the driver's client that are used here. */
type Client = {
  readonly processID: number | null;
  query(...given: readonly unknown[]): unknown;
  release?: (error?: Error) => void;
};
type Result = { readonly rows: readonly { readonly pid: number }[] };

/**
 * SQLSTATEs of a prepared statement that can't be executed any more: a column has another type since (0A000), or somebody else
 * deallocated it (26000).
 */
const OUTDATED = ['0A000', '26000'];

/**
 * Prepares statements under a name, so that the server parses and plans each of them once for a connection (ADR 0041). Only on a direct
 * connection: a pooler gives each transaction another one of the server's, which does not have the statement. There the process id
 * that the connection was told is not that of the process which answers.
 * @param timeout milliseconds for the question.
 */
export const prepareStatements =
  (timeout: number) =>
  async (client: Client): Promise<void> => {
    const question = { text: 'select pg_backend_pid() as pid', query_timeout: timeout };
    const { rows } = (await client.query(question)) as Result;
    if (rows[0]?.pid !== client.processID) return;
    const query = client.query.bind(client);
    client.query = (text, values, ...others) => {
      const name = typeof text === 'string' && Array.isArray(values) ? statementName(text) : undefined;
      if (name === undefined) return query(text, values, ...others);
      const result = query({ name, text, values });
      if (result instanceof Promise) result.catch((error) => discardIfOutdated(client, error));
      return result;
    };
  };

const discardIfOutdated = (client: Client, error: { readonly code?: unknown }): void => {
  if (OUTDATED.includes(String(error.code))) discardWhenReleased(client, 'a prepared statement is outdated');
};
