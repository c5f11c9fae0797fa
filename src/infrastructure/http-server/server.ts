import type { HttpHandlers } from '../../adapters/http/app.ts';
import { openServer, type RunningServer, type ServerOptions } from './open-server.ts';
import { probePort } from './probe-port.ts';

/** At worst, so many connections still fit into a process of a common size (ADR 0026). */
const MAX_CONNECTIONS = 4_096;
const SETTINGS = 'HOST and PORT';

type Address = Pick<ServerOptions, 'host' | 'port'>;

/**
 * Checks that the service's address is free.
 * @throws Error that names HOST and PORT
 */
export const probeAddress = ({ host, port }: Address): Promise<void> => probePort({ host, port, settings: SETTINGS });

/**
 * Listens for the service's clients.
 * @throws Error that names HOST and PORT
 */
export const listen = (
  handlers: HttpHandlers,
  { host, port, requestTimeout }: Address & Pick<ServerOptions, 'requestTimeout'>,
): Promise<RunningServer> =>
  openServer(handlers, { host, port, requestTimeout, maxConnections: MAX_CONNECTIONS, settings: SETTINGS });
