import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, Server as NetServer, type Socket } from 'node:net';
import { getSystemErrorMessage } from 'node:util';
import type { HttpHandlers } from '../../adapters/http/app.ts';
import { Connection } from './connection.ts';
import { errorResponseText, mustBeLast, requestFault, sendErrorResponse, statusOf } from './error-response.ts';

/** This many connections fit into the memory of a common container, even at worst (ADR 0017). */
const MAX_CONNECTIONS = 4_096;
/** The settings that the address of each server comes from. */
export const SETTINGS = { service: 'HOST and PORT', metrics: 'METRICS' } as const;

/**
 * Listens for the service's clients.
 * @throws Error that names HOST and PORT
 */
export const listen = (
  handlers: HttpHandlers,
  { host, port, requestTimeout }: Pick<ServerOptions, 'host' | 'port' | 'requestTimeout'>,
): Promise<RunningServer> =>
  openServer(handlers, { host, port, requestTimeout, maxConnections: MAX_CONNECTIONS, settings: SETTINGS.service });

type ServerHandlers = Pick<HttpHandlers, 'request' | 'errorResponse'>;

type ListenOptions = {
  readonly host: string;
  readonly port: number;
  /** Those of `SETTINGS`, for errors. */
  readonly settings: string;
};

export type ServerOptions = ListenOptions & {
  /** Milliseconds in which a request must arrive completely, and in which the client must read each response. */
  readonly requestTimeout: number;
  /** Further connections are closed at once. */
  readonly maxConnections: number;
};

export type RunningServer = {
  readonly address: AddressInfo;
  /** Stops accepting connections and closes when every accepted request has its response, or a second after the request time-out. */
  readonly close: () => Promise<void>;
  /** Closes at once, whatever is in progress. */
  readonly closeNow: () => Promise<void>;
};

/** Milliseconds in which the headers of a request must arrive. */
const HEADERS_TIMEOUT = 10_000;
/** Milliseconds. Longer than the idle time-out of most proxies, which is a minute, so that the proxy closes first. */
export const KEEP_ALIVE_TIMEOUT = 65_000;
/** Milliseconds between two checks of the time-outs. */
const CHECKING_INTERVAL = 1_000;
/** Bytes that are buffered on either side of a socket before it is paused. */
const HIGH_WATER_MARK = 16_384;
/** Milliseconds for which a connection without a request is kept when the server closes: one may be in transit. */
const GRACE = 1_000;

/**
 * Opens an HTTP server that limits what one connection can use.
 * @throws Error that names the settings of the address
 */
export const openServer = async (handlers: ServerHandlers, options: ServerOptions): Promise<RunningServer> => {
  const connections = new Set<Connection>();
  const state = { closing: false };
  const server = boundedServer(options);
  admitConnections(server, options.requestTimeout, connections);
  handleRequests(server, handlers, state);
  refuseInvalidInput(server, handlers);
  await listening(server, options);
  return {
    // A server that listens on a port has no other kind of address.
    address: server.address() as AddressInfo,
    close: () => {
      state.closing = true;
      for (const connection of connections) connection.closeAfterPending();
      return closed(server, connections, options.requestTimeout + GRACE);
    },
    closeNow: () => closed(server, connections, 0),
  };
};

const boundedServer = ({ requestTimeout, maxConnections }: ServerOptions): Server => {
  const server = createServer({
    // Node's own response has no error envelope.
    requireHostHeader: false,
    requestTimeout,
    headersTimeout: Math.min(requestTimeout, HEADERS_TIMEOUT),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    connectionsCheckingInterval: CHECKING_INTERVAL,
    highWaterMark: HIGH_WATER_MARK,
  });
  server.maxConnections = maxConnections;
  // Node limits the headers to 16 KiB. With a limit on their number, it would drop some silently.
  server.maxHeadersCount = 0;
  return server;
};

/** Node's server accepts any stream as a connection, so each socket is replaced by a `Connection`. */
const admitConnections = (server: Server, writeTimeout: number, connections: Set<Connection>): void => {
  const [serve] = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(socket, writeTimeout);
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
    // Typed as a socket, but the server accepts any stream, and `Connection` implements what it uses of a socket.
    serve?.call(server, connection as unknown as Socket);
  });
};

/** Typed as a socket, but it is the stream that the server was given. */
const connectionOf = (incoming: IncomingMessage): Connection => incoming.socket as unknown as Connection;

const handleRequests = (
  server: Server,
  { request, errorResponse }: ServerHandlers,
  state: { readonly closing: boolean },
): void => {
  const onRequest: RequestListener = (incoming, response) => {
    const connection = connectionOf(incoming);
    if (!connection.admit(incoming, response)) return;
    const fault = requestFault(incoming);
    if (state.closing || fault !== null || mustBeLast(incoming)) connection.closeAfter(response);
    if (fault === null) return request(incoming, response);
    errorResponse(fault.status, fault.reason).then(
      (refused) => sendErrorResponse(refused, response),
      () => connection.destroy(),
    );
  };
  server.on('request', onRequest);
  // An unknown expectation does not change the response.
  server.on('checkExpectation', onRequest);
};

const refuseInvalidInput = (server: Server, { errorResponse }: ServerHandlers): void => {
  const refuse = (connection: Connection, status: number, reason: string | undefined): void => {
    const textFor = async (isHead: boolean) => errorResponseText(await errorResponse(status, reason), isHead);
    connection.refuse(textFor).catch(() => connection.destroy());
  };
  server.on('clientError', (error: NodeJS.ErrnoException, connection) =>
    // Typed as a socket, as in `connectionOf`.
    refuse(connection as unknown as Connection, statusOf(error), error.code),
  );
  // Without a listener, Node closes the connection without a response. The stream may differ from the connection.
  server.on('connect', (incoming, stream) => {
    stream.on('error', () => undefined);
    refuse(connectionOf(incoming), 400, 'CONNECT is not supported');
  });
};

const listening = (server: Server, options: ServerOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(options, error)));
    server.listen(options.port, options.host, resolve);
  });

/**
 * Checks that an address is free, before anything slow is started: listens there, and closes at once.
 * @throws Error that names the settings of the address and the system's reason
 */
export const probePort = (options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    // `close` waits for open connections.
    const server = createTcpServer((socket) => socket.destroy());
    server.once('error', (error) => reject(cannotListen(options, error)));
    server.listen(options.port, options.host, () => server.close(() => resolve()));
  });

const cannotListen = ({ host, port, settings }: ListenOptions, error: NodeJS.ErrnoException): Error => {
  const { errno, code, message } = error;
  const reason = errno === undefined || code === undefined ? message : `${getSystemErrorMessage(errno)} (${code})`;
  return new Error(`${settings}: cannot listen on ${addressText(host, port)}: ${reason}`);
};

export const addressText = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Uses `close` of the TCP server: that of the HTTP server would close idle connections at once, and lose requests in transit. */
const closed = async (server: Server, connections: ReadonlySet<Connection>, timeout: number): Promise<void> => {
  const allClosed = Promise.withResolvers<void>();
  NetServer.prototype.close.call(server, () => allClosed.resolve());
  const idle = setInterval(() => server.closeIdleConnections(), GRACE);
  const timer = setTimeout(() => {
    for (const connection of connections) connection.destroy();
  }, timeout);
  await allClosed.promise;
  clearInterval(idle);
  clearTimeout(timer);
};
