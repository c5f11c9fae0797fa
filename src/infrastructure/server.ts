import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { HttpHandlers } from '../adapters/http/app.ts';

type ServerOptions = {
  readonly host: string;
  readonly port: number;
  /** Milliseconds within which a request has to be there as a whole. */
  readonly requestTimeout: number;
};

export type RunningServer = {
  readonly address: AddressInfo;
  /** Takes no new connections, answers every request that was accepted, and closes: soon after the request time-out at the latest. */
  readonly close: () => Promise<void>;
};

/** Milliseconds. Headers that take longer are an attack; a proxy's own idle time-out, a minute as a rule, should be shorter. */
const HEADERS_TIMEOUT = 10_000;
const KEEP_ALIVE_TIMEOUT = 65_000;
const CHECKING_INTERVAL = 1_000;
/** Milliseconds that a connection without a request gets when the server closes: one may be on its way. */
const GRACE = 1_000;

/** Listens. Rejects with a clear error when the address can't be had. */
export const listen = async (
  { request, clientError }: HttpHandlers,
  options: ServerOptions,
): Promise<RunningServer> => {
  const underWay = new Set<ServerResponse>();
  let closing = false;
  const handler: RequestListener = (incoming, response) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
    if (lacksHost(incoming)) return void clientError(new Error('no Host'), incoming.socket);
    if (closing || losesTheNext(incoming)) lastOfItsConnection(response);
    request(incoming, response);
  };
  const server = createServer(
    {
      // Node's own refusal has no envelope.
      requireHostHeader: false,
      requestTimeout: options.requestTimeout,
      headersTimeout: Math.min(options.requestTimeout, HEADERS_TIMEOUT),
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      connectionsCheckingInterval: CHECKING_INTERVAL,
    },
    handler,
  );
  server.on('clientError', clientError);
  // An expectation the service does not know is no reason to answer without an envelope.
  server.on('checkExpectation', handler);
  // Node would close the connection without a word.
  server.on('connect', (_incoming, socket) => void clientError(new Error('no tunnels'), socket));
  await listening(server, options);
  return {
    address: server.address() as AddressInfo,
    close: () => {
      closing = true;
      for (const response of underWay) lastOfItsConnection(response);
      return closed(server, options.requestTimeout + GRACE);
    },
  };
};

/** RFC 9112 §3.2: then the answer is 400. */
const lacksHost = ({ httpVersion, headers }: IncomingMessage): boolean =>
  httpVersion === '1.1' && headers.host === undefined;

/** Of a connection on which a body came with `Upgrade`, Node's parser may drop the beginning of the next request. */
const losesTheNext = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade !== undefined &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

const lastOfItsConnection = (response: ServerResponse): void => {
  if (!response.headersSent) response.setHeader('Connection', 'close');
};

const listening = (server: Server, { host, port }: ServerOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Error(`HOST and PORT cannot be listened on: ${error.message}`)));
    server.listen(port, host, resolve);
  });

/** The HTTP server's own `close` would cut idle connections at once, and with them requests that are on their way. */
const closed = async (server: Server, bound: number): Promise<void> => {
  const gone = Promise.withResolvers<void>();
  NetServer.prototype.close.call(server, () => gone.resolve());
  const idle = setInterval(() => server.closeIdleConnections(), GRACE);
  const late = setTimeout(() => server.closeAllConnections(), bound);
  await gone.promise;
  clearInterval(idle);
  clearTimeout(late);
};
