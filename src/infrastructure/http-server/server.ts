import type { HttpHandlers } from '../../adapters/http/app.ts';
import { openServer, type RunningServer, type ServerOptions } from './open-server.ts';

/** What they hold at worst still fits into a process of a common size (ADR 0026). */
const MAX_CONNECTIONS = 4_096;

/** Listens for the service's clients. Rejects with a clear error when the address can't be had. */
export const listen = (
  handlers: HttpHandlers,
  { host, port, requestTimeout }: Pick<ServerOptions, 'host' | 'port' | 'requestTimeout'>,
): Promise<RunningServer> =>
  openServer(handlers, { host, port, requestTimeout, maxConnections: MAX_CONNECTIONS, settings: 'HOST and PORT' });
