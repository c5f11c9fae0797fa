import { serve } from '@hono/node-server';
import { createServerAuth } from 'tandem-client/server';
import { createApp } from './app.ts';

const { SERVICE = 'http://localhost:3000', PORT = '4000' } = process.env;
/** The address of the pages as browsers know it, and what the service is configured with. */
const { ORIGIN, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = process.env;

const auth = createServerAuth({ baseUrl: SERVICE, origin: ORIGIN, issuer, audience });
const server = serve({ fetch: createApp(auth).fetch, port: Number(PORT) }, (address) => {
  process.stdout.write(`${JSON.stringify({ address })}\n`);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => server.close());
