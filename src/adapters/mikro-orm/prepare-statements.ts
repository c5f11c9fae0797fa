import { isInUnit } from '../records/units.ts';
import { statementName } from './built-statements.ts';
import { field } from './failures.ts';
import { discardWhenReleased } from './limit-queries.ts';

/** The parts of the driver's client that are used here. */
type Client = {
  readonly processID: number | null;
  query(...given: readonly unknown[]): unknown;
  release?: (error?: Error) => void;
};
type Result = { readonly rows: readonly { readonly settings: string | null }[] };

/**
 * Returns `null` behind a pooler: the server process is not the one that the connection got at its start. Otherwise the session belongs to
 * the connection alone, and two settings are made. `enable_seqscan`: a prepared plan stays in use while its table grows, so a scan that was
 * right for a small table must not be planned. `jit`: the cost that this adds to an unavoidable scan would trigger compilation.
 */
const OWN_PROCESS = `select case when pg_backend_pid() = $1 then
  set_config('enable_seqscan', 'off', false) || set_config('jit', 'off', false) end as settings`;

/**
 * SQLSTATEs of a prepared statement that can no longer be executed: a column has another type (0A000), or the statement was deallocated
 * (26000). The server reports them before it executes anything.
 */
const OUTDATED = ['0A000', '26000'];

/**
 * Prepares statements under a name, so that the server parses and plans each of them once for a connection (ADR 0019). Only on a direct
 * connection: a pooler may run each transaction on another connection, without the statement. Not within a transaction, which an outdated
 * statement would abort. An outdated statement is sent again without a name.
 * @param timeout milliseconds for the first query.
 */
export const prepareStatements =
  (timeout: number) =>
  async (client: Client): Promise<void> => {
    const question = { text: OWN_PROCESS, values: [client.processID], query_timeout: timeout };
    const { rows } = (await client.query(question)) as Result;
    if (rows[0]?.settings == null) return;
    const query = client.query.bind(client);
    client.query = (text, values, ...others) => {
      const name = typeof text === 'string' && Array.isArray(values) ? statementName(text) : undefined;
      if (name === undefined || isInUnit()) return query(text, values, ...others);
      return resentIfOutdated(client, query({ name, text, values }), () => query(text, values));
    };
  };

/** Also discards the connection, since its other statements may be outdated as well. */
const resentIfOutdated = async (client: Client, answer: unknown, resend: () => unknown): Promise<unknown> => {
  try {
    return await answer;
  } catch (error) {
    if (!OUTDATED.includes(String(field(error, 'code')))) throw error;
    discardWhenReleased(client, 'a prepared statement is outdated');
    return resend();
  }
};
