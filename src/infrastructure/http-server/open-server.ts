import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { Connection } from './connection.ts';
import { cannotListen, type ListenOptions } from './listen-error.ts';
import { type Refusal, refusalText, sendRefusal, statusOf } from './refusal.ts';
import { requestFault, spoilsConnection } from './request-fault.ts';

export type ServerHandlers = {
  readonly request: RequestListener;
  /** Says what a client is told whose request no handler gets. */
  readonly refusal: (status: number, reason: string | undefined) => Promise<Refusal>;
};

export type ServerOptions = ListenOptions & {
  /** Milliseconds in which a request must arrive completely, and in which the client must read each response. */
  readonly requestTimeout: number;
  /** Further connections are closed at once. */
  readonly maxConnections: number;
};

export type RunningServer = {
  readonly address: AddressInfo;
  /** Takes no new connections, answers every request that was accepted, and closes: soon after the request time-out at the latest. */
  readonly close: () => Promise<void>;
  /** Closes without a regard for what is under way. */
  readonly cut: () => Promise<void>;
};

/** Milliseconds. Headers that take longer are an attack; a proxy's own idle time-out, a minute as a rule, should be shorter. */
const HEADERS_TIMEOUT = 10_000;
const KEEP_ALIVE_TIMEOUT = 65_000;
const CHECKING_INTERVAL = 1_000;
/** Bytes that wait on either side of a socket before it is paused. */
const HIGH_WATER_MARK = 16_384;
/** Milliseconds that a connection without a request gets when the server closes: one may be on its way. */
const GRACE = 1_000;

/** Listens for strangers: whatever one connection sends has bounds. Rejects with a clear error when the address can't be had. */
export const openServer = async (handlers: ServerHandlers, options: ServerOptions): Promise<RunningServer> => {
  const connections = new Set<Connection>();
  const state = { closing: false };
  const server = boundedServer(options);
  admitConnections(server, options.requestTimeout, connections);
  answerRequests(server, handlers, state);
  refuseTheRest(server, handlers);
  await listening(server, options);
  return {
    address: server.address() as AddressInfo,
    close: () => {
      state.closing = true;
      for (const connection of connections) connection.closeAfterAnswers();
      return closed(server, connections, options.requestTimeout + GRACE);
    },
    cut: () => closed(server, connections, 0),
  };
};

const boundedServer = ({ requestTimeout, maxConnections }: ServerOptions): Server => {
  const server = createServer({
    // Node's own refusal has no envelope.
    requireHostHeader: false,
    requestTimeout,
    headersTimeout: Math.min(requestTimeout, HEADERS_TIMEOUT),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    connectionsCheckingInterval: CHECKING_INTERVAL,
    highWaterMark: HIGH_WATER_MARK,
  });
  server.maxConnections = maxConnections;
  // Node takes 16 KiB of them at most. Counted by itself, it would drop some without a word.
  server.maxHeadersCount = 0;
  return server;
};

/** Node's server takes any stream for a connection: here each socket is one with bounds. */
const admitConnections = (server: Server, writeTimeout: number, connections: Set<Connection>): void => {
  const [serve] = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(socket, writeTimeout);
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
    serve?.call(server, connection as unknown as Socket);
  });
};

/** Node types it as a socket, and gives back what it was given. */
const connectionOf = (incoming: IncomingMessage): Connection => incoming.socket as unknown as Connection;

const answerRequests = (
  server: Server,
  { request, refusal }: ServerHandlers,
  state: { readonly closing: boolean },
): void => {
  const answer: RequestListener = (incoming, response) => {
    const connection = connectionOf(incoming);
    if (!connection.admit(incoming, response)) return;
    const fault = requestFault(incoming);
    if (state.closing || fault !== null || spoilsConnection(incoming)) connection.closeAfter(response);
    if (fault === null) return request(incoming, response);
    refusal(fault.status, fault.reason).then(
      (given) => sendRefusal(given, response),
      () => connection.destroy(),
    );
  };
  server.on('request', answer);
  // An expectation that is not known is no reason to answer in another way.
  server.on('checkExpectation', answer);
};

const refuseTheRest = (server: Server, { refusal }: ServerHandlers): void => {
  const refuse = (connection: Connection, status: number, reason: string | undefined): void => {
    const textFor = async (isHead: boolean) => refusalText(await refusal(status, reason), isHead);
    connection.refuse(textFor).catch(() => connection.destroy());
  };
  server.on('clientError', (error: NodeJS.ErrnoException, connection) =>
    refuse(connection as unknown as Connection, statusOf(error), error.code),
  );
  // Node would close the connection without a word. It may hand over a stream of its own, which ends with the connection.
  server.on('connect', (incoming, stream) => {
    stream.on('error', () => undefined);
    refuse(connectionOf(incoming), 400, 'no tunnels');
  });
};

const listening = (server: Server, options: ServerOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(options, error)));
    server.listen(options.port, options.host, resolve);
  });

/** The HTTP server's own `close` would cut idle connections at once, and with them requests that are on their way. */
const closed = async (server: Server, connections: ReadonlySet<Connection>, patience: number): Promise<void> => {
  const gone = Promise.withResolvers<void>();
  NetServer.prototype.close.call(server, () => gone.resolve());
  const idle = setInterval(() => server.closeIdleConnections(), GRACE);
  const late = setTimeout(() => {
    for (const connection of connections) connection.destroy();
  }, patience);
  await gone.promise;
  clearInterval(idle);
  clearTimeout(late);
};
