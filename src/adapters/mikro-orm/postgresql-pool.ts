import { createRequire } from 'node:module';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { monotonicTime } from '../clock/system.ts';
import { LoggableError } from '../log/redact-error.ts';
import { ConflictError, isInUnit } from '../records/storage.ts';
import { memberOf } from './dialects.ts';
import type { PoolState, ServerOptions } from './options.ts';
import { statementName } from './statements.ts';

/** The types of the driver `pg`, which comes without types. `processID`, `secretKey` and `connection` are private members (ADR 0034). */
type Driver = { readonly Pool: new (options: object) => DriversPool; readonly Client: new (options: object) => Client };
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
  /** Returns the client to the pool. @param destroys whether the pool closes its connection */
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

/** A connection that cancels queries after a time limit, and prepares statements with a `statementName` if it has a session of its own. */
export type PooledConnection = PostgresPoolClient & {
  /** `false` behind a pooler, where other clients may use the same session of the server. */
  readonly hasOwnSession: boolean;
  readonly isOutdated: () => boolean;
};

export type Pool = Omit<PostgresPool, 'connect'> & {
  connect(): Promise<PooledConnection>;
  readonly state: () => PoolState;
  /** Whether a call of `connect` would get an idle or a new connection, instead of waiting for one in use. */
  readonly hasFreeConnection: () => boolean;
};

const require = createRequire(import.meta.url);

/** Opens a pool. Only `application_name` is added here to the startup parameters: poolers refuse parameters that they do not know (ADR 0035). */
export const openPool = ({ url, ...limits }: ServerOptions): Pool => {
  // Loaded on use, since only PostgreSQL needs the driver.
  const driver: Driver = require('pg');
  const connections = new WeakMap<Client, PooledConnection>();
  const replacement: Replacement = { until: Number.NEGATIVE_INFINITY };
  const cancel = (client: Client) => requestCancellation(new driver.Client(options), client);
  const options = {
    application_name: 'tandem',
    max: limits.poolSize,
    connectionTimeoutMillis: limits.connectionTimeout,
    idleTimeoutMillis: limits.idleTimeout,
    keepAlive: true,
    connectionString: url,
    pipeline: true,
    // The pool awaits this function before it hands out a new connection.
    async onConnect(client: Client) {
      connections.set(client, await pooledConnection(client, limits.statementTimeout, cancel, replacement));
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
        // Kysely 0.29.6 never releases a connection that it gets after `destroy`: `end` of the pool would wait for ever.
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
    hasFreeConnection: () => pool.idleCount + limits.poolSize - pool.totalCount > pool.waitingCount,
  };
};

/** The least time between two replacements of all connections, since new connections do not help while every server is read-only. */
const REPLACEMENT_INTERVAL_MS = 1_000;

/** Connections that were opened up to the time `until` are closed when they are released, or before they are used again. */
type Replacement = { until: number };

/** The SQLSTATE read_only_sql_transaction. */
const READ_ONLY = '25006';

const pooledConnection = async (
  client: Client,
  limit: number,
  cancel: (client: Client) => void,
  replacement: Replacement,
): Promise<PooledConnection> => {
  const openedAt = monotonicTime();
  let isFaulty = false;
  const discard = () => {
    isFaulty = true;
  };
  const replaceConnections = () => {
    if (monotonicTime() - replacement.until > REPLACEMENT_INTERVAL_MS) replacement.until = monotonicTime();
  };
  const limitAnswer = answerLimiter(client, limit, () => {
    discard();
    cancel(client);
  });
  const send = (query: Query): Promise<Answer> => {
    const answer = client.query(query);
    limitAnswer(answer);
    // After a fail-over, the address leads to the new primary. Connections that were open before may lead to the old one, which refuses writes.
    answer.catch((error) => memberOf(error, 'code') === READ_ONLY && replaceConnections());
    return answer;
  };
  const onOutdated = () => {
    // Shortly after the last replacement, `replaceConnections` does nothing, so this connection is discarded as well.
    discard();
    replaceConnections();
  };
  const isOutdated = () => openedAt <= replacement.until;
  const isOwn = await hasOwnSession(client, limit);
  const query = isOwn
    ? statementPreparer(send, onOutdated)
    : (text: string, values: readonly unknown[]) => send({ text, values });
  return {
    hasOwnSession: isOwn,
    isOutdated,
    query: query as PostgresPoolClient['query'],
    release: () => client.release(isFaulty || isOutdated()),
  };
};

/** Milliseconds for sending a cancellation, and for the server to report the end of the query after it. Then the connections are destroyed. */
const REPORT_TIME_MS = 500;

/**
 * Limits the time of queries (ADR 0035): cancels a query that takes too long, and closes its connection, since a late cancellation could hit the next
 * query. If a query was sent before the former one was answered, its time begins with that answer.
 */
const answerLimiter = (client: Client, limit: number, onLimit: () => void): ((answer: Promise<unknown>) => void) => {
  let unanswered = 0;
  let isCancelled = false;
  let timer: NodeJS.Timeout | undefined;
  const cancel = () => {
    isCancelled = true;
    onLimit();
    timer = setTimeout(() => client.connection.stream.destroy(), REPORT_TIME_MS);
  };
  const onAnswer = () => {
    unanswered -= 1;
    if (unanswered === 0) clearTimeout(timer);
    else if (!isCancelled) timer?.refresh();
  };
  return (answer) => {
    unanswered += 1;
    if (unanswered === 1) timer = setTimeout(cancel, limit);
    answer.then(onAnswer, onAnswer);
  };
};

/** Sends a CancelRequest, over TLS if the client uses TLS (PostgreSQL's frontend/backend protocol, "Canceling Requests in Progress"). */
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
 * Selects `null` behind a pooler, where the process of the server is not the one that the connection got at its start. Otherwise it changes two settings
 * of the session. `enable_seqscan` is off, since a prepared plan stays in use while a table grows: a sequential scan, good for a small table, would be
 * slow later. `jit` is off, since without `enable_seqscan` an unavoidable scan counts as so expensive that its plan would be compiled.
 */
const OWN_SESSION = `select case when pg_backend_pid() = $1 then
  set_config('enable_seqscan', 'off', false) || set_config('jit', 'off', false) end as settings`;

const hasOwnSession = async (client: Client, timeout: number): Promise<boolean> => {
  const { rows } = await client.query({ text: OWN_SESSION, values: [client.processID], query_timeout: timeout });
  return rows[0]?.settings != null;
};

/** SQLSTATEs with which the server refuses a prepared statement: its result has other types (0A000), or the server does not know the name (26000). */
const UNKNOWN_STATEMENT = '26000';
const OUTDATED_STATEMENT: readonly unknown[] = ['0A000', UNKNOWN_STATEMENT];

/**
 * Prepares statements with a `statementName`, so that the server need not parse and plan each of them every time (ADR 0035). If the server refuses a prepared
 * statement as outdated, it has not executed it: the statement is sent again without a name, or in a unit, the whole unit is repeated. The same
 * happens if the server does not know the name because the former statement, which would have prepared it, has failed.
 * @param onOutdated called if a prepared statement is outdated: then other statements of all connections may be outdated, too
 */
const statementPreparer = (send: (query: Query) => Promise<Answer>, onOutdated: () => void) => {
  const prepared = new Set<string>();
  return async (text: string, values: readonly unknown[]): Promise<Answer> => {
    const name = statementName(text);
    if (name === undefined) return send({ text, values });
    try {
      const answer = await send({ name, text, values });
      prepared.add(name);
      return answer;
    } catch (error) {
      const [code, wasPrepared] = [memberOf(error, 'code'), prepared.has(name)];
      if (wasPrepared ? !OUTDATED_STATEMENT.includes(code) : code !== UNKNOWN_STATEMENT) throw error;
      if (wasPrepared) onOutdated();
      if (isInUnit()) throw new ConflictError('a prepared statement is outdated');
      return send({ text, values });
    }
  };
};
