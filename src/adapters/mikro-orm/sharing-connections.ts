import type { CompiledQuery, QueryResult } from 'kysely';
import type { Pool, PooledConnection } from './postgresql-pool.ts';
import type { Execute } from './statements.ts';

/** Few, since one that waits for a lock keeps the others waiting. More of them make no difference to the time that they take. */
const BATCH_SIZE = 4;

type Answer = { readonly rowCount: number | null; readonly rows: unknown[] };

/** A statement that waits for a connection. */
type Waiting = {
  readonly query: CompiledQuery;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Sends short statements outside of transactions. While all connections are in use, those that wait share the next one, four at most: they are
 * written with one system call, and their answers are often read with one. None joins those that were sent: the connection would not return to
 * the pool, and transactions would get none. Callers are not in a unit, since all run in the context of the first.
 */
export const sharingConnections = (pool: Pool) => {
  let joinable: Waiting[] = [];
  let joined = 0;
  let isPooled = false;
  const connect = (batch: Waiting[]): void => {
    const stopJoining = () => {
      if (joinable === batch) joinable = [];
      joined -= batch.length - 1;
    };
    pool.connect().then(
      (client) => {
        stopJoining();
        isPooled = !client.hasOwnSession;
        return sendAll(client, batch);
      },
      (error) => {
        stopJoining();
        for (const { reject } of batch) reject(error);
      },
    );
  };
  const add = (statement: Waiting): void => {
    if (pool.isOneFree() || isPooled) connect([statement]);
    else if (joinable.length > 0 && joinable.length < BATCH_SIZE) {
      joined += 1;
      joinable.push(statement);
    } else {
      joinable = [statement];
      connect(joinable);
    }
  };
  const execute: Execute = async <Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> => {
    const { rowCount, rows } = await new Promise<Answer>((resolve, reject) => add({ query, resolve, reject }));
    return { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as Row[] };
  };
  return {
    execute,
    /** How many statements wait for the connection that another one has asked for. */
    joined: () => joined,
  };
};

/** Returns the connection before the last caller goes on. */
const sendAll = async (client: PooledConnection, batch: readonly Waiting[]): Promise<void> => {
  let unanswered = batch.length;
  const send = async ({ sql, parameters }: CompiledQuery): Promise<Answer> => {
    try {
      return await client.query(sql, parameters);
    } finally {
      unanswered -= 1;
      if (unanswered === 0) client.release();
    }
  };
  for (const { query, resolve, reject } of batch) {
    const answered = send(query).then(resolve, reject);
    // Once one is answered, a pooler lends the session to others. They would get the answers that follow if this connection broke.
    if (!client.hasOwnSession) await answered;
  }
};
