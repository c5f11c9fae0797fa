import { createRequire } from 'node:module';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { monotonicTime } from '../clock/system.ts';
import { LoggableError } from '../log/redact-error.ts';
import { ConflictError, isInUnit } from '../records/units.ts';
import { field } from './failures.ts';
import type { PoolState, ServerOptions } from './options.ts';
import { statementName } from './statements.ts';

/** What is used of the driver, which has no types. `processID`, `secretKey` and `connection` are private to it (ADR 0034). */
type Driver = {
  readonly Pool: new (options: object) => DriversPool;
  readonly Client: new (options: object) => Client;
};
type DriversPool = {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  connect(): Promise<Client>;
  end(): Promise<void>;
  on(event: 'connect', listener: (client: Client) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
};
type Query = {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly name?: string;
  readonly query_timeout?: number;
};
type Answer = { readonly rowCount: number | null; readonly rows: readonly Record<string, unknown>[] };
type Client = {
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly ssl: unknown;
  readonly connection: Connection;
  query(query: Query): Promise<Answer>;
  on(event: 'error', listener: () => void): unknown;
  /** Returns the client to the pool. @param destroys whether the pool closes it */
  release(destroys: boolean): void;
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

/** A connection of the pool. It ends queries that take too long, leaves a server that became read-only, and prepares statements. */
export type PooledConnection = PostgresPoolClient & {
  /** Whether no pooler gives the session of its server to others. */
  readonly hasOwnSession: boolean;
  /** Whether all connections were to be replaced since it was opened. */
  readonly isOutdated: () => boolean;
};

export type Pool = Omit<PostgresPool, 'connect'> & {
  connect(): Promise<PooledConnection>;
  readonly state: () => PoolState;
  /** Whether a connection is idle, or still to be opened, which may fail. */
  readonly isOneFree: () => boolean;
};

const require = createRequire(import.meta.url);

/** The driver parses the URL. No option may become a startup parameter that poolers refuse (ADR 0019). */
export const openPool = ({ url, ...limits }: ServerOptions): Pool => {
  // No other database needs it.
  const driver: Driver = require('pg');
  const connections = new WeakMap<Client, PooledConnection>();
  const replaced: Replaced = { until: Number.NEGATIVE_INFINITY };
  const cancel = (client: Client) => requestCancellation(new driver.Client(options), client);
  const options = {
    application_name: 'tandem',
    max: limits.poolSize,
    connectionTimeoutMillis: limits.connectionTimeout,
    idleTimeoutMillis: limits.idleTimeout,
    keepAlive: true,
    connectionString: url,
    pipeline: true,
    /** Awaited by the pool before it hands a new connection out. */
    async onConnect(client: Client) {
      connections.set(client, await pooledConnection(client, limits.statementTimeout, cancel, replaced));
    },
  };
  const pool = new driver.Pool(options);
  surviveLostConnections(pool);
  let isEnding = false;
  return {
    options: {},
    async connect() {
      for (;;) {
        const client = await pool.connect();
        const connection = connections.get(client) as PooledConnection;
        // Kysely 0.29.6 never returns a connection that it gets after `destroy`, and the pool would wait for it without an end.
        if (!isEnding && !connection.isOutdated()) return connection;
        connection.release();
        if (isEnding) throw new LoggableError('the database is closed');
      }
    },
    end() {
      isEnding = true;
      return pool.end();
    },
    state: () => ({ used: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    isOneFree: () => pool.idleCount + limits.poolSize - pool.totalCount > pool.waitingCount,
  };
};

/** An `error` without a listener would end the process. The query that is under way fails by itself, and the pool discards the connection. */
const surviveLostConnections = (pool: DriversPool): void => {
  const ignore = () => undefined;
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
};

/** In which the connections are replaced once: where every server is read-only, new ones would not help. */
const PAUSE_MS = 1_000;

/** The connections of a pool that were opened until then are closed when they are returned, or would be used again. */
type Replaced = { until: number };

/** read_only_sql_transaction */
const READ_ONLY = '25006';

const pooledConnection = async (
  client: Client,
  limit: number,
  cancel: (client: Client) => void,
  replaced: Replaced,
): Promise<PooledConnection> => {
  const openedAt = monotonicTime();
  let isFaulty = false;
  const discard = () => {
    isFaulty = true;
  };
  const replaceAll = () => {
    if (monotonicTime() - replaced.until > PAUSE_MS) replaced.until = monotonicTime();
  };
  const limitAnswer = limitingAnswers(client, limit, () => {
    discard();
    cancel(client);
  });
  const send = (query: Query): Promise<Answer> => {
    const answer = client.query(query);
    limitAnswer(answer);
    // After a fail-over, the address leads to the new primary, but connections that are open lead to the old one, which refuses to write.
    answer.catch((error) => field(error, 'code') === READ_ONLY && replaceAll());
    return answer;
  };
  const outdated = () => {
    // Also if all others were replaced a moment ago.
    discard();
    replaceAll();
  };
  const isOutdated = () => openedAt <= replaced.until;
  const isOwn = await hasOwnSession(client, limit);
  const query = isOwn
    ? preparing(send, outdated)
    : (text: string, values: readonly unknown[]) => send({ text, values });
  return {
    hasOwnSession: isOwn,
    isOutdated,
    query: query as PostgresPoolClient['query'],
    release: () => client.release(isFaulty || isOutdated()),
  };
};

/** In which the server has to report a cancelled query, before its connection is destroyed. */
const REPORT_TIME_MS = 500;

/**
 * Cancels a query that takes too long, and closes its connection: a late cancellation could hit the next query, and a server that hangs
 * would not respond to that one either. CancelRequest is part of the protocol, so this works with every pooler. A startup parameter might be
 * refused, and a `set` would stay in a session that a pooler in transaction mode gives to other clients. The time of a query that was sent behind
 * others begins with the answer to the one before it.
 */
const limitingAnswers = (client: Client, limit: number, onLimit: () => void): ((answer: Promise<unknown>) => void) => {
  let unanswered = 0;
  let isCancelled = false;
  let timer: NodeJS.Timeout | undefined;
  const cancel = () => {
    isCancelled = true;
    onLimit();
    timer = setTimeout(() => client.connection.stream.destroy(), REPORT_TIME_MS);
  };
  const answered = () => {
    unanswered -= 1;
    if (unanswered === 0) clearTimeout(timer);
    else if (!isCancelled) timer?.refresh();
  };
  return (answer) => {
    unanswered += 1;
    if (unanswered === 1) timer = setTimeout(cancel, limit);
    answer.then(answered, answered);
  };
};

/** Sends a CancelRequest, with TLS if the client has it (PostgreSQL's frontend/backend protocol, "Canceling Requests in Progress"). */
const requestCancellation = ({ connection, ssl, host, port }: Client, { processID, secretKey }: Client): void => {
  if (processID === null || secretKey === null) return;
  const end = () => connection.stream.destroy();
  const send = () => connection.cancel(processID, secretKey);
  const deadline = setTimeout(end, REPORT_TIME_MS);
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

/**
 * Returns `null` behind a pooler: the server process is not the one that the connection got at its start. Otherwise the session belongs to
 * the connection alone, and two settings are made. `enable_seqscan`: a prepared plan stays in use while its table grows, so a scan that was
 * right for a small table must not be planned. `jit`: the cost that this adds to an unavoidable scan would trigger compilation.
 */
const OWN_SESSION = `select case when pg_backend_pid() = $1 then
  set_config('enable_seqscan', 'off', false) || set_config('jit', 'off', false) end as settings`;

const hasOwnSession = async (client: Client, timeout: number): Promise<boolean> => {
  const question = { text: OWN_SESSION, values: [client.processID], query_timeout: timeout };
  const { rows } = await client.query(question);
  return rows[0]?.settings != null;
};

/**
 * SQLSTATEs of a prepared statement that can no longer be executed: a column has another type (0A000), or the statement was deallocated
 * (26000). The server reports them before it executes anything.
 */
const UNKNOWN_STATEMENT = '26000';
const OUTDATED: readonly unknown[] = ['0A000', UNKNOWN_STATEMENT];

/**
 * Prepares statements under a name, so that the server parses and plans each of them once for a connection (ADR 0019). One that is outdated is
 * sent again without a name, except within a transaction, which it aborts: that is run again. So is one that is unknown because the one that was
 * sent before, by which it would have been prepared, has failed.
 * @param onOutdated called then, since other statements of this connection, and of others, may be outdated as well.
 */
const preparing = (send: (query: Query) => Promise<Answer>, onOutdated: () => void) => {
  const prepared = new Set<string>();
  return async (text: string, values: readonly unknown[]): Promise<Answer> => {
    const name = statementName(text);
    if (name === undefined) return send({ text, values });
    try {
      const answer = await send({ name, text, values });
      prepared.add(name);
      return answer;
    } catch (error) {
      const [code, wasPrepared] = [field(error, 'code'), prepared.has(name)];
      if (wasPrepared ? !OUTDATED.includes(code) : code !== UNKNOWN_STATEMENT) throw error;
      if (wasPrepared) onOutdated();
      if (isInUnit()) throw new ConflictError('a prepared statement is outdated');
      return send({ text, values });
    }
  };
};
