import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getSystemErrorMessage } from 'node:util';
import type { HttpHandlers } from '../../adapters/http/app.ts';
import { createServer } from '../../adapters/http/node-http.ts';
import type { MetricsSource } from '../../adapters/metrics/prometheus.ts';
import {
  Connection,
  errorResponseText,
  mustBeLast,
  type ParserError,
  requestFault,
  sendErrorResponse,
  statusOf,
} from './connection.ts';

/** The most open connections of a server, by the variables of its address (ADR 0017). Further connections are closed at once. */
export const MAX_CONNECTIONS = { 'HOST and PORT': 4_096, 'ADMIN_HOST and ADMIN_PORT': 256, METRICS: 64 } as const;
type AddressNames = keyof typeof MAX_CONNECTIONS;

type Address = { readonly host: string; readonly port: number };

type Options = Address & {
  /** Milliseconds in which a request must arrive completely. During a request, a connection without traffic is closed two seconds after twice this time. */
  readonly requestTimeoutMs: number;
};

type ServerHandlers = Pick<HttpHandlers, 'request' | 'errorResponse'>;

const HEADERS_TIMEOUT = 10_000;
/** Milliseconds that an idle connection stays open: longer than the minute of most proxies, so that the proxy closes it first. */
export const KEEP_ALIVE_TIMEOUT = 65_000;
const CHECKING_INTERVAL = 1_000;
/** Bytes that are buffered in each direction of a socket before its source is paused. */
const HIGH_WATER_MARK = 16_384;
/** Milliseconds that idle connections stay open after `close`, since a request may be in transit. */
const GRACE = 1_000;

/** Opens an HTTP server that limits what one connection can use (ADR 0017). @throws Error that names the settings of the address */
export const listen = async (handlers: ServerHandlers, options: Options, settings: AddressNames = 'HOST and PORT') => {
  const connections: Connections = new Map();
  const state = { closing: false };
  const server = boundedServer(options.requestTimeoutMs, MAX_CONNECTIONS[settings]);
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Connection(socket));
    socket.once('close', () => connections.delete(socket));
  });
  handleRequests(server, handlers, connections, state);
  refuseInvalidInput(server, handlers, connections);
  await startListening(server, options, settings);
  return {
    // The cast: a server that listens on a port has an address of this type.
    address: server.address() as AddressInfo,
    /** Accepts no further connection, and closes when all requests have their responses, or at the latest after `requestTimeoutMs` and a second. */
    close: () => {
      state.closing = true;
      for (const connection of connections.values()) connection.closeAfterPending();
      return closeServer(server, connections, options.requestTimeoutMs + GRACE);
    },
    closeNow: () => closeServer(server, connections, 0),
  };
};

type Connections = Map<Duplex, Connection>;

const boundedServer = (requestTimeout: number, maxConnections: number): Server => {
  const server = createServer({
    // With `true`, Node.js would answer a request without the header Host by itself, without the error envelope.
    requireHostHeader: false,
    requestTimeout,
    headersTimeout: Math.min(requestTimeout, HEADERS_TIMEOUT),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    connectionsCheckingInterval: CHECKING_INTERVAL,
    highWaterMark: HIGH_WATER_MARK,
  });
  server.maxConnections = maxConnections;
  // With this option, which the types lack, a worker closes connections beyond the limit. Else the primary process would offer them to the workers again.
  Object.assign(server, { dropMaxConnection: true });
  // Closes a connection after this time without traffic, while the handler runs or the client reads. The time-outs for requests are shorter, and send 408.
  server.timeout = 2 * (requestTimeout + CHECKING_INTERVAL);
  // 0: no limit, since Node.js silently drops the headers beyond one. By default, Node.js bounds their size to 16 KiB.
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
      // The client gets no response. `errorResponse` is called since it also logs and counts the refusal.
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
  // Node.js emits this event for a request with an unknown value of the header Expect, which the service ignores.
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
    // After ECONNRESET, the client would not read a response.
    if (error.code !== 'ECONNRESET' && socket.writable) refuse(socket, statusOf(error), error.code, error.rawPacket);
  });
  // Without a listener, Node.js would close the connection without a response.
  server.on('connect', (_incoming, socket) => refuse(socket, 400, 'CONNECT is not supported'));
};

const startListening = (server: NetServer, { host, port }: Address, settings: AddressNames): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', ({ errno, code, message }: NodeJS.ErrnoException) => {
      const reason = errno === undefined || code === undefined ? message : `${getSystemErrorMessage(errno)} (${code})`;
      reject(new Error(`${settings}: cannot listen on ${addressText(host, port)}: ${reason}`));
    });
    server.listen(port, host, resolve);
  });

/** Checks that an address is free, before slow parts are started. @throws Error that names the settings of the address and the system's reason */
export const probePort = async (address: Address, settings: AddressNames = 'HOST and PORT'): Promise<void> => {
  // Connections are destroyed, since `close` waits for open ones.
  const server = createTcpServer((socket) => socket.destroy());
  await startListening(server, address, settings);
  await new Promise((resolve) => server.close(resolve));
};

export const addressText = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Calls `close` of the TCP server, since `close` of the HTTP server would close idle connections at once, and lose requests in transit. */
const closeServer = async (server: Server, connections: Connections, timeout: number): Promise<void> => {
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

const SCRAPE_TIMEOUT = 5_000;

/** Serves `GET /metrics` on a separate address, which should not be public. */
export const listenForMetrics = (metrics: MetricsSource, address: Address) => {
  const request: RequestListener = (incoming, response) => {
    if (incoming.method !== 'GET' || incoming.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
  const errorResponse = async (status: number) => ({ status, headers: [], body: '' });
  return listen({ request, errorResponse }, { ...address, requestTimeoutMs: SCRAPE_TIMEOUT }, 'METRICS');
};
