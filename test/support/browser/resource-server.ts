import { createServer } from 'node:http';
import { createApp } from '../../../examples/resource-server/app.ts';
import { listenOnLoopback } from '../listen.ts';

/** The issuer and the audience of tokens, on which the service and the resource server have to agree. */
export const PARTIES = { JWT_ISSUER: 'http://localhost:3000', JWT_AUDIENCE: 'http://localhost:4000' };

/** Starts `examples/resource-server`, which allows requests from pages of an origin. */
export const startResourceServer = async (service: string, origin: string) => {
  const trust = { issuer: PARTIES.JWT_ISSUER, audience: PARTIES.JWT_AUDIENCE };
  const app = createApp({ ...trust, keySet: new URL('/.well-known/jwks.json', service) }, [origin]);
  const { port, close } = await listenOnLoopback(createServer(app.callback()));
  return { url: `http://localhost:${port}`, close };
};
