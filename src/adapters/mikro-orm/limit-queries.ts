/** The parts of the driver's pool and clients that are used here. */
export type LimitedPool = {
  readonly options: object;
  readonly Client: new (options: object) => Client;
  on(event: 'connect', listener: (client: Client) => void): unknown;
};
type Client = {
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly ssl: unknown;
  readonly connection: Connection;
  query: (...given: readonly unknown[]) => unknown;
  /** Returns the client to the pool, which closes it if there is an error. */
  release: (error?: Error) => void;
};
type Connection = {
  readonly sslNegotiation: string;
  readonly stream: { destroy(): void };
  on(event: 'connect' | 'sslconnect' | 'error' | 'end', listener: () => void): unknown;
  connect(port: number, host: string): void;
  connect(path: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

/** Milliseconds that the server has to report a cancelled query, before its connection is destroyed. */
const REPORT_TIME = 500;

/**
 * Cancels every query that takes longer than `limit` milliseconds, and closes its connection: a late cancellation could hit the next query,
 * and a server that hangs would not respond to that one either.
 *
 * CancelRequest is part of the protocol, so this works with every pooler. A startup parameter might be refused, and a `set` would stay in
 * a session that a pooler in transaction mode gives to other clients.
 */
export const limitQueries =
  (limit: number) =>
  (pool: LimitedPool): void => {
    pool.on('connect', (client) => {
      const query = client.query.bind(client);
      client.query = (...given) => {
        const answer = query(...given);
        if (answer instanceof Promise) limitQuery(answer, { pool, client, limit });
        return answer;
      };
    });
  };

type Sent = { readonly pool: LimitedPool; readonly client: Client; readonly limit: number };

const limitQuery = (answer: Promise<unknown>, { pool, client, limit }: Sent): void => {
  const cancel = () => {
    discardWhenReleased(client, 'a query timed out');
    requestCancellation(pool, client);
    timer = setTimeout(() => client.connection.stream.destroy(), REPORT_TIME);
  };
  let timer = setTimeout(cancel, limit);
  const stopTimer = () => clearTimeout(timer);
  answer.then(stopTimer, stopTimer);
};

/** Sends a CancelRequest, with TLS if the client has it (PostgreSQL's frontend/backend protocol, "Canceling Requests in Progress"). */
const requestCancellation = (pool: LimitedPool, { processID, secretKey }: Client): void => {
  if (processID === null || secretKey === null) return;
  const { connection, ssl, host, port } = new pool.Client(pool.options);
  const end = () => connection.stream.destroy();
  const send = () => connection.cancel(processID, secretKey);
  const deadline = setTimeout(end, REPORT_TIME);
  connection.on('end', () => clearTimeout(deadline));
  connection.on('error', end);
  connection.on('sslconnect', send);
  connection.on('connect', () => {
    if (!ssl) send();
    else if (connection.sslNegotiation !== 'direct') connection.requestSsl();
  });
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
};

type Pooled = {
  /** Returns the connection to the pool, which closes it if there is an error. Missing until the pool has handed the connection out. */
  release?: (error?: Error) => void;
};

/** Makes the pool close the connection when it is returned, instead of giving it to the next caller. */
export const discardWhenReleased = (client: Pooled, reason: string): void => {
  const { release } = client;
  client.release = () => release?.(new Error(reason));
};
