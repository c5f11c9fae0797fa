import { createServer } from 'node:http';
import { createApp } from '../../../examples/resource-server/app.ts';
import { listenOnLoopback } from '../listen.ts';

/** What the service and the API have to agree on. */
export const PARTIES = { JWT_ISSUER: 'http://localhost:3000', JWT_AUDIENCE: 'http://localhost:4000' };

/** Starts `examples/resource-server` for pages of an origin. */
export const startResourceServer = async (service: string, origin: string) => {
  const trust = { issuer: PARTIES.JWT_ISSUER, audience: PARTIES.JWT_AUDIENCE };
  const app = createApp({ ...trust, keySet: new URL('/.well-known/jwks.json', service) }, [origin]);
  const { port, close } = await listenOnLoopback(createServer(app.callback()));
  return { url: `http://localhost:${port}`, close };
};
