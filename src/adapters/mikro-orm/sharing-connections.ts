import type { CompiledQuery, QueryResult } from 'kysely';
import type { Execute } from './statements.ts';

/** The others wait with one that waits for a lock. */
const MOST_TOGETHER = 4;

/** The parts of the driver's pool that are used here. */
export type SharedPool = {
  readonly options: { readonly max: number };
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  connect(): Promise<Client>;
};
type Client = {
  query(text: string, values: readonly unknown[]): Promise<Answer>;
  release(): void;
};
type Answer = { readonly rowCount: number | null; readonly rows: unknown[] };

/** A statement that waits for a connection. */
type Waiting = {
  readonly query: CompiledQuery;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Sends statements that are transactions by themselves. While all connections are in use, those that wait share the next one, four at most:
 * they are written with one system call, and their answers are often read with one. None follows a statement that has been sent: connections would
 * never return to the pool, and transactions would get none.
 */
export const sharingConnections = (pool: SharedPool) => {
  let latest: Waiting[] = [];
  let behind = 0;
  const isOneFree = () => pool.options.max - pool.totalCount + pool.idleCount > pool.waitingCount;
  const connect = (): Waiting[] => {
    const together: Waiting[] = [];
    const close = () => {
      if (latest === together) latest = [];
      behind -= together.length - 1;
    };
    pool.connect().then(
      (client) => {
        close();
        sendAll(client, together);
      },
      (error) => {
        close();
        for (const { reject } of together) reject(error);
      },
    );
    return together;
  };
  const execute: Execute = async <Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> => {
    const { rowCount, rows } = await new Promise<Answer>((resolve, reject) => {
      const isShared = latest.length > 0 && latest.length < MOST_TOGETHER && !isOneFree();
      if (isShared) behind += 1;
      else latest = connect();
      latest.push({ query, resolve, reject });
    });
    return { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as Row[] };
  };
  return {
    execute,
    /** Statements that wait for the connection that another one has asked for. */
    behind: () => behind,
  };
};

/** Returns the connection before the last answer is read, so that what follows finds it free. */
const sendAll = (client: Client, together: readonly Waiting[]): void => {
  let unanswered = together.length;
  const answered = () => {
    unanswered -= 1;
    if (unanswered === 0) client.release();
  };
  for (const { query, resolve, reject } of together)
    client.query(query.sql, query.parameters).then(
      (answer) => {
        answered();
        resolve(answer);
      },
      (error) => {
        answered();
        reject(error);
      },
    );
};
