import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpHandlers } from '../adapters/http/app.ts';

type ServerOptions = {
  readonly host: string;
  readonly port: number;
  /** Milliseconds within which a request has to be there as a whole. */
  readonly requestTimeout: number;
};

export type RunningServer = {
  readonly address: AddressInfo;
  /** Takes no new connections, answers what was accepted, then closes. */
  readonly close: () => Promise<void>;
};

/** Listens. Rejects with a clear error when the address can't be had. */
export const listen = async (
  { request, clientError }: HttpHandlers,
  options: ServerOptions,
): Promise<RunningServer> => {
  const server = createServer(
    { requestTimeout: options.requestTimeout, headersTimeout: Math.min(options.requestTimeout, 10_000) },
    request,
  );
  server.on('clientError', clientError);
  // An expectation the service does not know is no reason to answer without an envelope.
  server.on('checkExpectation', request);
  await listening(server, options);
  return {
    address: server.address() as AddressInfo,
    close: () => closed(server),
  };
};

const listening = (server: Server, { host, port }: ServerOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Error(`HOST and PORT cannot be listened on: ${error.message}`)));
    server.listen(port, host, resolve);
  });

const closed = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeIdleConnections();
  });
