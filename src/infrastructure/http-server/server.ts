import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getSystemErrorMessage } from 'node:util';
import type { HttpHandlers } from '../../adapters/http/app.ts';
import { createServer } from '../../adapters/http/node-http.ts';
import { Connection } from './connection.ts';
import {
  errorResponseText,
  mustBeLast,
  type ParserError,
  requestFault,
  sendErrorResponse,
  statusOf,
} from './error-response.ts';

/** This many connections fit into the memory of a common container, even at worst (ADR 0017). */
const MAX_CONNECTIONS = 4_096;
/** Programs of operators need a few. */
const OPERATOR_CONNECTIONS = 256;
/** The settings that the address of each server comes from. */
export const SETTINGS = { service: 'HOST and PORT', metrics: 'METRICS', admin: 'ADMIN_HOST and ADMIN_PORT' } as const;

/**
 * Listens for the service's clients.
 * @throws Error that names HOST and PORT
 */
export const listen = (handlers: HttpHandlers, { host, port, requestTimeout }: Address): Promise<RunningServer> =>
  openServer(handlers, { host, port, requestTimeout, maxConnections: MAX_CONNECTIONS, settings: SETTINGS.service });

/**
 * Listens for the programs of operators.
 * @throws Error that names ADMIN_HOST and ADMIN_PORT
 */
export const listenForOperators = (handlers: HttpHandlers, { host, port, requestTimeout }: Address) =>
  openServer(handlers, { host, port, requestTimeout, maxConnections: OPERATOR_CONNECTIONS, settings: SETTINGS.admin });

type Address = Pick<ServerOptions, 'host' | 'port' | 'requestTimeout'>;

type ServerHandlers = Pick<HttpHandlers, 'request' | 'errorResponse'>;

type ListenOptions = {
  readonly host: string;
  readonly port: number;
  /** Those of `SETTINGS`, for errors. */
  readonly settings: string;
};

export type ServerOptions = ListenOptions & {
  /** Milliseconds in which a request must arrive completely. A connection on which nothing moves is closed within four times as long. */
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
 * Opens an HTTP server that limits what one connection can use (ADR 0017).
 * @throws Error that names the settings of the address
 */
export const openServer = async (handlers: ServerHandlers, options: ServerOptions): Promise<RunningServer> => {
  const connections: Connections = new Map();
  const state = { closing: false };
  const server = boundedServer(options);
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Connection(socket));
    socket.once('close', () => connections.delete(socket));
  });
  handleRequests(server, handlers, connections, state);
  refuseInvalidInput(server, handlers, connections);
  await listening(server, options);
  return {
    // A server that listens on a port has no other kind of address.
    address: server.address() as AddressInfo,
    close: () => {
      state.closing = true;
      for (const connection of connections.values()) connection.closeAfterPending();
      return closed(server, connections, options.requestTimeout + GRACE);
    },
    closeNow: () => closed(server, connections, 0),
  };
};

/** By the sockets of the connections that are open. */
type Connections = Map<Duplex, Connection>;

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
  // A worker closes a connection beyond that. Otherwise the primary process would offer it to all workers, again and again.
  Object.assign(server, { dropMaxConnection: true });
  // Time for the handler, time for the client to read, and for the checks that send 408 instead.
  server.timeout = 2 * (requestTimeout + CHECKING_INTERVAL);
  // Node limits the headers to 16 KiB. With a limit on their number, it would drop some silently.
  server.maxHeadersCount = 0;
  return server;
};

const handleRequests = (
  server: Server,
  { request, errorResponse }: ServerHandlers,
  connections: Connections,
  state: { readonly closing: boolean },
): void => {
  const onRequest: RequestListener = (incoming, response) => {
    const connection = connections.get(incoming.socket);
    if (!connection?.admit(response)) {
      // The client gets no response, but the log and the metrics count one.
      if (incoming.socket.destroyed && connections.delete(incoming.socket))
        errorResponse(400, 'too many pipelined requests').catch(() => undefined);
      return;
    }
    const fault = requestFault(incoming);
    if (state.closing || fault !== null || mustBeLast(incoming)) connection.closeAfter(response);
    if (fault === null) return request(incoming, response);
    errorResponse(fault.status, fault.reason).then(
      (refused) => sendErrorResponse(refused, response),
      () => incoming.socket.destroy(),
    );
  };
  server.on('request', onRequest);
  // An unknown expectation does not change the response.
  server.on('checkExpectation', onRequest);
};

const refuseInvalidInput = (server: Server, { errorResponse }: ServerHandlers, connections: Connections): void => {
  const refuse = (socket: Duplex, status: number, reason: string | undefined, packet?: Buffer): void => {
    const text = async () => errorResponseText(await errorResponse(status, reason), packet);
    connections
      .get(socket)
      ?.refuse(text)
      .catch(() => socket.destroy());
  };
  server.on('clientError', (error: ParserError, socket) => {
    // The client has gone: there is nobody to refuse.
    if (error.code !== 'ECONNRESET' && socket.writable) refuse(socket, statusOf(error), error.code, error.rawPacket);
  });
  // Without a listener, Node closes the connection without a response.
  server.on('connect', (_incoming, socket) => refuse(socket, 400, 'CONNECT is not supported'));
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
const closed = async (server: Server, connections: Connections, timeout: number): Promise<void> => {
  const allClosed = Promise.withResolvers<void>();
  NetServer.prototype.close.call(server, () => allClosed.resolve());
  const idle = setInterval(() => server.closeIdleConnections(), GRACE);
  const timer = setTimeout(() => {
    for (const socket of connections.keys()) socket.destroy();
  }, timeout);
  await allClosed.promise;
  clearInterval(idle);
  clearTimeout(timer);
};
