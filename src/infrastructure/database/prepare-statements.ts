import { statementName } from '../../adapters/mikro-orm/statement.ts';
import { inTransaction } from '../../adapters/mikro-orm/transaction.ts';
import { field } from '../../adapters/mikro-orm/translate-error.ts';
import { discardWhenReleased } from './limit-queries.ts';

/** The parts of the driver's client that are used here. */
type Client = {
  readonly processID: number | null;
  query(...given: readonly unknown[]): unknown;
  release?: (error?: Error) => void;
};
type Result = { readonly rows: readonly { readonly settings: string | null }[] };

/**
 * `null` unless this process of the server is the one that the connection was told. Then the session is the connection's own, and gets
 * settings: a plan is kept while its table grows, and one that scans a table which was small or empty would be used until the table is
 * analyzed. Without the second one, scanning a table that has no fitting index would be compiled first, at the cost that the first adds.
 */
const OWN_PROCESS = `select case when pg_backend_pid() = $1 then
  set_config('enable_seqscan', 'off', false) || set_config('jit', 'off', false) end as settings`;

/**
 * SQLSTATEs of a prepared statement that can't be executed any more: a column has another type since (0A000), or somebody else
 * deallocated it (26000). The server reports them before it executes anything.
 */
const OUTDATED = ['0A000', '26000'];

/**
 * Prepares statements under a name, so that the server parses and plans each of them once for a connection (ADR 0041). Only on a direct
 * connection: a pooler gives each transaction another one of the server's, which does not have the statement. There the process id
 * that the connection was told is not that of the process which answers. A statement that is outdated is sent again without a name; within
 * a transaction none has a name.
 * @param timeout milliseconds for the question.
 */
export const prepareStatements =
  (timeout: number) =>
  async (client: Client): Promise<void> => {
    const asked = { text: OWN_PROCESS, values: [client.processID], query_timeout: timeout };
    const { rows } = (await client.query(asked)) as Result;
    if (rows[0]?.settings == null) return;
    const query = client.query.bind(client);
    client.query = (text, values, ...others) => {
      const name = typeof text === 'string' && Array.isArray(values) ? statementName(text) : undefined;
      if (name === undefined || inTransaction()) return query(text, values, ...others);
      return resentIfOutdated(client, query({ name, text, values }), () => query(text, values));
    };
  };

/** Not within a transaction, which would be aborted by the first attempt. The connection's other statements may be outdated, too. */
const resentIfOutdated = async (client: Client, answer: unknown, resend: () => unknown): Promise<unknown> => {
  try {
    return await answer;
  } catch (error) {
    if (!OUTDATED.includes(String(field(error, 'code')))) throw error;
    discardWhenReleased(client, 'a prepared statement is outdated');
    return resend();
  }
};
