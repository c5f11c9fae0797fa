import { createRequire } from 'node:module';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { monotonicTime } from '../clock/system.ts';
import { LoggableError } from '../log/redact-error.ts';
import { ConflictError, isInUnit } from '../records/storage.ts';
import { field } from './dialects.ts';
import type { PoolState, ServerOptions } from './options.ts';
import { statementName } from './statements.ts';

/** The driver, which has no types. `processID`, `secretKey` and `connection` are private to it (ADR 0034). */
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

/** A connection that cancels queries that take too long, prepares statements, and is replaced when its server became read-only. */
export type PooledConnection = PostgresPoolClient & {
  /** Whether the session on the server is used by this connection alone. Behind a pooler, it is not. */
  readonly hasOwnSession: boolean;
  /** Whether the connection has to be replaced. */
  readonly isOutdated: () => boolean;
};

export type Pool = Omit<PostgresPool, 'connect'> & {
  connect(): Promise<PooledConnection>;
  readonly state: () => PoolState;
  /** Whether a connection is idle, or can be opened. */
  readonly isOneFree: () => boolean;
};

const require = createRequire(import.meta.url);

/** No option may become a startup parameter, since poolers refuse those that they do not know (ADR 0035). */
export const openPool = ({ url, ...limits }: ServerOptions): Pool => {
  // Loaded here, since no other database needs it.
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
    // The pool awaits this before it hands out a new connection.
    async onConnect(client: Client) {
      connections.set(client, await pooledConnection(client, limits.statementTimeout, cancel, replaced));
    },
  };
  const pool = new driver.Pool(options);
  // An `error` without a listener would end the process. A query in progress fails by itself, and the pool discards the connection.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  let isEnding = false;
  return {
    options: {},
    async connect() {
      for (;;) {
        const client = await pool.connect();
        const connection = connections.get(client) as PooledConnection;
        // Kysely 0.29.6 never returns a connection that it gets after `destroy`, and the pool would wait for it for ever.
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

/** The least time between two replacements of all connections: where every server is read-only, new connections do not help. */
const PAUSE_MS = 1_000;

/** Connections that were opened until this time are closed when they are returned, or before they are used again. */
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
    // After a fail-over, the address leads to the new primary, but open connections lead to the old one, which refuses writes.
    answer.catch((error) => field(error, 'code') === READ_ONLY && replaceAll());
    return answer;
  };
  const outdated = () => {
    // `replaceAll` does nothing shortly after the last replacement.
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

/** The time that the server has to report a cancelled query, before its connection is destroyed. */
const REPORT_TIME_MS = 500;

/**
 * Limits the time of queries: cancels one that takes too long, and closes its connection, since a late cancellation could hit the next query. The time
 * of a query that was sent behind others begins with the answer to the one before it. Unlike a startup parameter or a `set`, CancelRequest works with
 * every pooler: those refuse unknown parameters, and give a session to other clients with what was set.
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
 * Returns `null` behind a pooler, where the server process is not the one that the connection got at its start. Otherwise it makes two settings of the
 * session. `enable_seqscan`: a prepared plan stays in use while a table grows, so it must not be a scan that is right for a small table. `jit`: a plan
 * that has to scan counts as so expensive without `enable_seqscan` that it would be compiled.
 */
const OWN_SESSION = `select case when pg_backend_pid() = $1 then
  set_config('enable_seqscan', 'off', false) || set_config('jit', 'off', false) end as settings`;

const hasOwnSession = async (client: Client, timeout: number): Promise<boolean> => {
  const { rows } = await client.query({ text: OWN_SESSION, values: [client.processID], query_timeout: timeout });
  return rows[0]?.settings != null;
};

/** SQLSTATEs of a prepared statement that is not executed any more: a column has another type (0A000), or it was deallocated (26000). */
const UNKNOWN_STATEMENT = '26000';
const OUTDATED: readonly unknown[] = ['0A000', UNKNOWN_STATEMENT];

/**
 * Prepares statements under a name, so that the server parses and plans each of them once for a connection (ADR 0035). If a prepared statement is
 * outdated, the server has not executed it, and it is sent again without a name; in a unit, the whole unit is repeated. The same happens to a statement
 * that is unknown, since the one sent before it, which would have prepared it, has failed.
 * @param onOutdated called for an outdated statement, since other statements, even of other connections, may be outdated as well.
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
