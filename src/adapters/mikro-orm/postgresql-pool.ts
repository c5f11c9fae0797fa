import { monotonicTime } from '../clock/system.ts';
import { LoggableError } from '../log/redact-error.ts';
import { ConflictError } from '../records/database.ts';
import { isInUnit } from '../records/units.ts';
import { statementName } from './built-statements.ts';
import { field } from './failures.ts';

/** The parts of the driver's pool and clients that are used here. */
export type Pool = {
  readonly options: object;
  readonly Client: new (options: object) => Client;
  readonly ending: boolean;
  connect: () => Promise<Client>;
  on(event: 'acquire' | 'connect' | 'remove', listener: (client: Client) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
  on(event: 'release', listener: (error: unknown, client: Client) => void): unknown;
};
type Query = (...given: readonly unknown[]) => unknown;
type Client = {
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly ssl: unknown;
  readonly connection: Connection;
  /** Whether no pooler gives the session of its server to others. Known before the pool hands it out. */
  hasOwnSession?: boolean;
  query: Query;
  on(event: 'error', listener: () => void): unknown;
  emit(event: 'error', error: Error): unknown;
  /** Returns the client to the pool, which closes it if there is an error. */
  release: (error?: Error) => void;
};
type Connection = {
  readonly sslNegotiation: string;
  readonly stream: { destroy(): void; cork(): void; uncork(): void; readonly writableCorked: number };
  on(event: 'connect' | 'sslconnect' | 'error' | 'end', listener: () => void): unknown;
  connect(port: number, host: string): void;
  connect(path: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

/**
 * Options of the driver by which its pool limits the time of queries, leaves servers that became read-only, and prepares statements.
 * `onPoolCreated` is for the pool that is made with the others.
 * @param limit milliseconds that a query may take.
 */
export const poolOptions = (limit: number) => {
  let pool: Pool;
  let replaceAll: (reason: string) => void;
  return {
    onPoolCreated(created: Pool) {
      pool = created;
      replaceAll = replacingConnections(created);
      refuseWhenEnding(created);
      surviveLostConnections(created);
    },
    /** Awaited by the pool before it hands a new connection out. */
    async onConnect(client: Client) {
      client.hasOwnSession = await hasOwnSession(client, limit);
      const send = client.query.bind(client);
      const limitAnswer = limitingQueries(pool, client, limit);
      const query: Query = (...given) => {
        writeTogether(client.connection.stream);
        const answer = send(...given);
        if (!(answer instanceof Promise)) return answer;
        limitAnswer(answer);
        answer.catch((error) => field(error, 'code') === READ_ONLY && replaceAll('the server is read-only'));
        return answer;
      };
      const outdated = () => {
        const reason = 'prepared statements are outdated';
        // Also if all others were closed a moment ago.
        discardWhenReleased(client, reason);
        replaceAll(reason);
      };
      client.query = client.hasOwnSession ? preparing(query, outdated) : query;
    },
  };
};

/** Makes the pool close the connection when it is returned, instead of giving it to the next caller. */
const discardWhenReleased = (client: Client, reason: string): void => {
  const { release } = client;
  client.release = () => release(new Error(reason));
};

/** Sends what is asked before the next turn of the event loop with one system call: the statements of a transaction that don't wait for each other. */
const writeTogether = (stream: Connection['stream']): void => {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
};

/** In which the server has to report a cancelled query, before its connection is destroyed. */
const REPORT_TIME_MS = 500;

/**
 * Cancels a query that takes too long, and closes its connection: a late cancellation could hit the next query, and a server that hangs
 * would not respond to that one either. CancelRequest is part of the protocol, so this works with every pooler. A startup parameter might be
 * refused, and a `set` would stay in a session that a pooler in transaction mode gives to other clients. The time of a query that was sent behind
 * others begins with the answer to the one before it.
 */
const limitingQueries = (pool: Pool, client: Client, limit: number): ((answer: Promise<unknown>) => void) => {
  let unanswered = 0;
  let isCancelled = false;
  let timer: NodeJS.Timeout | undefined;
  const cancel = () => {
    isCancelled = true;
    discardWhenReleased(client, 'a query timed out');
    requestCancellation(pool, client);
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
const requestCancellation = (pool: Pool, { processID, secretKey }: Client): void => {
  if (processID === null || secretKey === null) return;
  const { connection, ssl, host, port } = new pool.Client(pool.options);
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
 * Kysely 0.29.6, which MikroORM requires, never returns a connection that it gets after `destroy`, and the pool would wait for it without
 * an end. Its version 0.29.9 returns it.
 */
const refuseWhenEnding = (pool: Pool): void => {
  const connect = pool.connect.bind(pool);
  pool.connect = async () => {
    const client = await connect();
    if (!pool.ending) return client;
    client.release();
    throw new LoggableError('the database is closed');
  };
};

/** An `error` without a listener would end the process. The query that is under way fails by itself, and the pool discards the connection. */
const surviveLostConnections = (pool: Pool): void => {
  const ignore = () => undefined;
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
};

/** read_only_sql_transaction */
const READ_ONLY = '25006';
/** In which the connections are closed once: where every server is read-only, new ones would not help. */
const PAUSE_MS = 1_000;

/**
 * Closes all connections of a pool, those in use when they are returned. After a fail-over, an address leads to the new primary, but
 * connections that are open lead to the old one, whose server refuses to write.
 */
const replacingConnections = (pool: Pool): ((reason: string) => void) => {
  const idle = new Set<Client>();
  const used = new Set<Client>();
  let closedAt = Number.NEGATIVE_INFINITY;
  pool.on('acquire', (client) => {
    idle.delete(client);
    used.add(client);
  });
  pool.on('release', (error, client) => {
    used.delete(client);
    if (!error) idle.add(client);
  });
  pool.on('remove', (client) => void idle.delete(client));
  return (reason) => {
    if (monotonicTime() - closedAt < PAUSE_MS) return;
    closedAt = monotonicTime();
    for (const client of used) discardWhenReleased(client, reason);
    // The pool closes an idle client that reports an error.
    for (const client of [...idle]) client.emit('error', new Error(reason));
  };
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
  const { rows } = (await client.query(question)) as { readonly rows: readonly { readonly settings: string | null }[] };
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
const preparing = (query: Query, onOutdated: () => void): Query => {
  const prepared = new Set<string>();
  return async (text, values, ...others) => {
    const name = typeof text === 'string' && Array.isArray(values) ? statementName(text) : undefined;
    if (name === undefined) return query(text, values, ...others);
    try {
      const answer = await query({ name, text, values });
      prepared.add(name);
      return answer;
    } catch (error) {
      const [code, wasPrepared] = [field(error, 'code'), prepared.has(name)];
      if (wasPrepared ? !OUTDATED.includes(code) : code !== UNKNOWN_STATEMENT) throw error;
      if (wasPrepared) onOutdated();
      if (isInUnit()) throw new ConflictError('a prepared statement is outdated');
      return query(text, values);
    }
  };
};
